package policy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// satisfiedBy is the privileges that satisfy a check for one, that one itself among them: Apache Polaris's table, with what
// ADR 12 narrows and with our own privileges.
func satisfiedBy() map[string]string {
	const (
		contents = " CATALOG_MANAGE_CONTENT "
		metadata = " CATALOG_MANAGE_CONTENT CATALOG_MANAGE_METADATA "
		full     = metadata + " TABLE_FULL_METADATA "
		shape    = full + " TABLE_WRITE_PROPERTIES TABLE_MANAGE_STRUCTURE "
		upkeep   = shape + " TABLE_WRITE_DATA "
	)
	return map[string]string{
		"SERVICE_MANAGE_ACCESS":    "SERVICE_MANAGE_ACCESS",
		"CATALOG_MANAGE_ACCESS":    "CATALOG_MANAGE_ACCESS",
		"CATALOG_READ_PROPERTIES":  metadata + "CATALOG_READ_PROPERTIES CATALOG_WRITE_PROPERTIES SERVICE_MANAGE_ACCESS",
		"CATALOG_WRITE_PROPERTIES": metadata + "CATALOG_WRITE_PROPERTIES SERVICE_MANAGE_ACCESS",
		"AUDIT_READ":               "AUDIT_READ CATALOG_MANAGE_ACCESS",
		"TABLE_GOVERN":             "TABLE_GOVERN",
		"DATA_READ":                "DATA_READ",
		"DATA_WRITE":               "DATA_WRITE",

		"NAMESPACE_CREATE":           metadata + "NAMESPACE_CREATE NAMESPACE_FULL_METADATA",
		"NAMESPACE_DROP":             metadata + "NAMESPACE_DROP NAMESPACE_FULL_METADATA",
		"NAMESPACE_WRITE_PROPERTIES": metadata + "NAMESPACE_WRITE_PROPERTIES NAMESPACE_FULL_METADATA",
		"NAMESPACE_READ_PROPERTIES":  metadata + "NAMESPACE_READ_PROPERTIES NAMESPACE_WRITE_PROPERTIES NAMESPACE_FULL_METADATA",
		"NAMESPACE_LIST": metadata + `NAMESPACE_LIST NAMESPACE_CREATE NAMESPACE_READ_PROPERTIES NAMESPACE_WRITE_PROPERTIES
			NAMESPACE_FULL_METADATA`,

		"VIEW_CREATE":           metadata + "VIEW_CREATE VIEW_FULL_METADATA",
		"VIEW_DROP":             metadata + "VIEW_DROP VIEW_FULL_METADATA",
		"VIEW_WRITE_PROPERTIES": metadata + "VIEW_WRITE_PROPERTIES VIEW_FULL_METADATA",
		"VIEW_READ_PROPERTIES":  metadata + "VIEW_READ_PROPERTIES VIEW_WRITE_PROPERTIES VIEW_FULL_METADATA",
		"VIEW_LIST":             metadata + "VIEW_LIST VIEW_CREATE VIEW_READ_PROPERTIES VIEW_WRITE_PROPERTIES VIEW_FULL_METADATA",

		"TABLE_CREATE":           full + "TABLE_CREATE",
		"TABLE_DROP":             full + "TABLE_DROP",
		"TABLE_FULL_METADATA":    full,
		"TABLE_WRITE_DATA":       contents + "TABLE_WRITE_DATA",
		"TABLE_READ_DATA":        contents + "TABLE_READ_DATA TABLE_WRITE_DATA",
		"TABLE_WRITE_PROPERTIES": full + "TABLE_WRITE_PROPERTIES TABLE_WRITE_DATA",
		"TABLE_READ_PROPERTIES":  full + "TABLE_READ_PROPERTIES TABLE_READ_DATA TABLE_WRITE_DATA TABLE_WRITE_PROPERTIES",
		"TABLE_LIST": full + `TABLE_LIST TABLE_CREATE TABLE_READ_DATA TABLE_READ_PROPERTIES TABLE_WRITE_DATA
			TABLE_WRITE_PROPERTIES`,

		"TABLE_ADD_SNAPSHOT":     contents + "TABLE_ADD_SNAPSHOT TABLE_WRITE_DATA",
		"TABLE_SET_SNAPSHOT_REF": full + "TABLE_SET_SNAPSHOT_REF TABLE_WRITE_PROPERTIES TABLE_WRITE_DATA",

		"TABLE_REMOVE_SNAPSHOTS":    upkeep + "TABLE_REMOVE_SNAPSHOTS",
		"TABLE_REMOVE_SNAPSHOT_REF": upkeep + "TABLE_REMOVE_SNAPSHOT_REF",
		"TABLE_SET_PROPERTIES":      upkeep + "TABLE_SET_PROPERTIES",
		"TABLE_REMOVE_PROPERTIES":   upkeep + "TABLE_REMOVE_PROPERTIES",
		"TABLE_SET_STATISTICS":      upkeep + "TABLE_SET_STATISTICS",
		"TABLE_REMOVE_STATISTICS":   upkeep + "TABLE_REMOVE_STATISTICS",

		"TABLE_ASSIGN_UUID":            shape + "TABLE_ASSIGN_UUID",
		"TABLE_UPGRADE_FORMAT_VERSION": shape + "TABLE_UPGRADE_FORMAT_VERSION",
		"TABLE_ADD_SCHEMA":             shape + "TABLE_ADD_SCHEMA",
		"TABLE_SET_CURRENT_SCHEMA":     shape + "TABLE_SET_CURRENT_SCHEMA",
		"TABLE_ADD_PARTITION_SPEC":     shape + "TABLE_ADD_PARTITION_SPEC",
		"TABLE_REMOVE_PARTITION_SPECS": shape + "TABLE_REMOVE_PARTITION_SPECS",
		"TABLE_ADD_SORT_ORDER":         shape + "TABLE_ADD_SORT_ORDER",
		"TABLE_SET_DEFAULT_SORT_ORDER": shape + "TABLE_SET_DEFAULT_SORT_ORDER",
		"TABLE_SET_LOCATION":           shape + "TABLE_SET_LOCATION",
		"TABLE_MANAGE_STRUCTURE":       shape,
	}
}

// decisions is what every operation takes, of its own object where nothing is said, else of its parent, the service, or
// where it takes something from and to.
const decisions = `
LIST_NAMESPACES                 NAMESPACE_LIST
CREATE_NAMESPACE                parent:NAMESPACE_CREATE
LOAD_NAMESPACE_METADATA         NAMESPACE_READ_PROPERTIES
NAMESPACE_EXISTS                NAMESPACE_LIST
DROP_NAMESPACE                  NAMESPACE_DROP
UPDATE_NAMESPACE_PROPERTIES     NAMESPACE_WRITE_PROPERTIES
LIST_TABLES                     TABLE_LIST
CREATE_TABLE_DIRECT             parent:TABLE_CREATE
CREATE_TABLE_STAGED             parent:TABLE_CREATE
UPDATE_TABLE_FOR_STAGED_CREATE  parent:TABLE_CREATE
WRITE_DATA_FOR_STAGED_CREATE    parent:TABLE_WRITE_DATA
REGISTER_TABLE                  parent:TABLE_CREATE
REGISTER_TABLE_OVERWRITE        TABLE_FULL_METADATA
LOAD_TABLE                      TABLE_READ_PROPERTIES
LOAD_TABLE_WITH_READ_DELEGATION TABLE_READ_DATA
LOAD_TABLE_WITH_WRITE_DELEGATION TABLE_WRITE_DATA
PLAN_TABLE_SCAN                 TABLE_READ_DATA
TABLE_EXISTS                    TABLE_LIST
DROP_TABLE_WITHOUT_PURGE        TABLE_DROP
DROP_TABLE_WITH_PURGE           TABLE_DROP TABLE_WRITE_DATA
UNREGISTER_TABLE                TABLE_DROP
RENAME_TABLE                    source:TABLE_DROP destination:TABLE_LIST destination:TABLE_CREATE
REPORT_READ_METRICS             TABLE_READ_DATA
REPORT_WRITE_METRICS            TABLE_WRITE_DATA
LIST_VIEWS                      VIEW_LIST
CREATE_VIEW                     parent:VIEW_CREATE
REGISTER_VIEW                   parent:VIEW_CREATE
LOAD_VIEW                       VIEW_READ_PROPERTIES
VIEW_EXISTS                     VIEW_LIST
REPLACE_VIEW                    VIEW_WRITE_PROPERTIES
DROP_VIEW                       VIEW_DROP
RENAME_VIEW                     source:VIEW_DROP destination:VIEW_LIST destination:VIEW_CREATE

ASSIGN_TABLE_UUID               TABLE_ASSIGN_UUID
UPGRADE_TABLE_FORMAT_VERSION    TABLE_UPGRADE_FORMAT_VERSION
ADD_TABLE_SCHEMA                TABLE_ADD_SCHEMA
SET_TABLE_CURRENT_SCHEMA        TABLE_SET_CURRENT_SCHEMA
ADD_TABLE_PARTITION_SPEC        TABLE_ADD_PARTITION_SPEC
REMOVE_TABLE_PARTITION_SPECS    TABLE_REMOVE_PARTITION_SPECS
ADD_TABLE_SORT_ORDER            TABLE_ADD_SORT_ORDER
SET_TABLE_DEFAULT_SORT_ORDER    TABLE_SET_DEFAULT_SORT_ORDER
ADD_TABLE_SNAPSHOT              TABLE_ADD_SNAPSHOT
SET_TABLE_SNAPSHOT_REF          TABLE_SET_SNAPSHOT_REF
REMOVE_TABLE_SNAPSHOTS          TABLE_REMOVE_SNAPSHOTS
REMOVE_TABLE_SNAPSHOT_REF       TABLE_REMOVE_SNAPSHOT_REF
SET_TABLE_LOCATION              TABLE_SET_LOCATION
SET_TABLE_PROPERTIES            TABLE_SET_PROPERTIES
REMOVE_TABLE_PROPERTIES         TABLE_REMOVE_PROPERTIES
SET_TABLE_STATISTICS            TABLE_SET_STATISTICS
REMOVE_TABLE_STATISTICS         TABLE_REMOVE_STATISTICS
CHANGE_TABLE_STRUCTURE          TABLE_MANAGE_STRUCTURE

COMMIT_AS_STEWARD               TABLE_GOVERN
RECONCILE_TABLE                 TABLE_WRITE_PROPERTIES
READ_TABLE_STATE                TABLE_READ_PROPERTIES
LIST_TABLE_STATES               TABLE_READ_PROPERTIES
LIST_COMMITS                    TABLE_READ_PROPERTIES
LIST_METRICS_REPORTS            TABLE_READ_PROPERTIES
LIST_ALL_COMMITS                service:SERVICE_MANAGE_ACCESS
LIST_ALL_METRICS_REPORTS        service:SERVICE_MANAGE_ACCESS
LIST_WRITERS                    TABLE_READ_PROPERTIES
LIST_ALL_WRITERS                service:SERVICE_MANAGE_ACCESS
CHECK_TABLE                     TABLE_READ_PROPERTIES
READ_AUDIT                      AUDIT_READ
QUERY_ROWS                      DATA_READ
WRITE_ROWS                      DATA_WRITE
READ_ROW_AUDIT                  AUDIT_READ
SET_ROW_FILTERS                 CATALOG_MANAGE_ACCESS
READ_ROW_FILTERS                CATALOG_MANAGE_ACCESS
SET_DEFAULT_CLASSIFICATION      CATALOG_MANAGE_ACCESS
READ_ALL_AUDIT                  service:SERVICE_MANAGE_ACCESS
SET_WRITE_POLICY                CATALOG_MANAGE_ACCESS
SET_DEFAULT_WRITE_POLICY        CATALOG_MANAGE_ACCESS
SET_CLASSIFICATION              CATALOG_MANAGE_ACCESS
SET_PROTECTION                  CATALOG_MANAGE_ACCESS
RESOLVE_FINDING                 CATALOG_MANAGE_ACCESS
SET_DUPLICATE_COMMITS           CATALOG_MANAGE_ACCESS
DECLARE_WRITER                  CATALOG_MANAGE_ACCESS
UPDATE_WRITER                   CATALOG_MANAGE_ACCESS
RETIRE_WRITER                   CATALOG_MANAGE_ACCESS
LIST_DROPPED_TABLES             TABLE_LIST
UNDROP_TABLE                    source:TABLE_DROP destination:TABLE_CREATE
FORGET_DROPPED_TABLE            TABLE_DROP
REGISTER_DROPPED_TABLE          TABLE_DROP
MINT_TOKEN_FOR_OTHER            service:SERVICE_MANAGE_ACCESS
LIST_TOKENS_OF_OTHERS           service:SERVICE_MANAGE_ACCESS
REVOKE_TOKEN_OF_OTHER           service:SERVICE_MANAGE_ACCESS
EXPLAIN_ACCESS                  service:SERVICE_MANAGE_ACCESS
EXPLAIN_ACCESS_IN_CATALOG       CATALOG_MANAGE_ACCESS

LIST_CATALOGS                   service:SERVICE_MANAGE_ACCESS
CREATE_CATALOG                  service:SERVICE_MANAGE_ACCESS
GET_CATALOG                     CATALOG_READ_PROPERTIES
UPDATE_CATALOG                  CATALOG_WRITE_PROPERTIES
UPDATE_CATALOG_STORAGE          service:SERVICE_MANAGE_ACCESS
DELETE_CATALOG                  service:SERVICE_MANAGE_ACCESS
LIST_PRINCIPALS                 service:SERVICE_MANAGE_ACCESS
CREATE_PRINCIPAL                service:SERVICE_MANAGE_ACCESS
GET_PRINCIPAL                   service:SERVICE_MANAGE_ACCESS
UPDATE_PRINCIPAL                service:SERVICE_MANAGE_ACCESS
DELETE_PRINCIPAL                service:SERVICE_MANAGE_ACCESS
ROTATE_CREDENTIALS
RESET_CREDENTIALS               service:SERVICE_MANAGE_ACCESS
LIST_PRINCIPAL_ROLES            service:SERVICE_MANAGE_ACCESS
CREATE_PRINCIPAL_ROLE           service:SERVICE_MANAGE_ACCESS
GET_PRINCIPAL_ROLE              service:SERVICE_MANAGE_ACCESS
UPDATE_PRINCIPAL_ROLE           service:SERVICE_MANAGE_ACCESS
DELETE_PRINCIPAL_ROLE           service:SERVICE_MANAGE_ACCESS
LIST_PRINCIPAL_ROLES_ASSIGNED   service:SERVICE_MANAGE_ACCESS
ASSIGN_PRINCIPAL_ROLE           service:SERVICE_MANAGE_ACCESS
REVOKE_PRINCIPAL_ROLE           service:SERVICE_MANAGE_ACCESS
LIST_ASSIGNEE_PRINCIPALS_FOR_PRINCIPAL_ROLE    service:SERVICE_MANAGE_ACCESS
LIST_CATALOG_ROLES                             CATALOG_MANAGE_ACCESS
CREATE_CATALOG_ROLE                            CATALOG_MANAGE_ACCESS
GET_CATALOG_ROLE                               CATALOG_MANAGE_ACCESS
UPDATE_CATALOG_ROLE                            CATALOG_MANAGE_ACCESS
DELETE_CATALOG_ROLE                            CATALOG_MANAGE_ACCESS
LIST_CATALOG_ROLES_FOR_PRINCIPAL_ROLE          CATALOG_MANAGE_ACCESS
ASSIGN_CATALOG_ROLE_TO_PRINCIPAL_ROLE          CATALOG_MANAGE_ACCESS
REVOKE_CATALOG_ROLE_FROM_PRINCIPAL_ROLE        CATALOG_MANAGE_ACCESS
LIST_ASSIGNEE_PRINCIPAL_ROLES_FOR_CATALOG_ROLE CATALOG_MANAGE_ACCESS
LIST_GRANTS_FOR_CATALOG_ROLE                   CATALOG_MANAGE_ACCESS
ADD_CATALOG_GRANT_TO_CATALOG_ROLE              CATALOG_MANAGE_ACCESS
ADD_NAMESPACE_GRANT_TO_CATALOG_ROLE            CATALOG_MANAGE_ACCESS
ADD_TABLE_GRANT_TO_CATALOG_ROLE                CATALOG_MANAGE_ACCESS
ADD_VIEW_GRANT_TO_CATALOG_ROLE                 CATALOG_MANAGE_ACCESS
REVOKE_CATALOG_GRANT_FROM_CATALOG_ROLE         CATALOG_MANAGE_ACCESS
REVOKE_NAMESPACE_GRANT_FROM_CATALOG_ROLE       CATALOG_MANAGE_ACCESS
REVOKE_TABLE_GRANT_FROM_CATALOG_ROLE           CATALOG_MANAGE_ACCESS
REVOKE_VIEW_GRANT_FROM_CATALOG_ROLE            CATALOG_MANAGE_ACCESS
`

// decided reads the table: for each operation, the privileges with what they are needed on.
func decided(t *testing.T) map[policy.Operation][][2]string {
	t.Helper()
	rows := map[policy.Operation][][2]string{}
	for line := range strings.Lines(decisions) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		op := policy.Operation(fields[0])
		require.NotContains(t, rows, op)
		rows[op] = nil
		for _, need := range fields[1:] {
			on, privilege, found := strings.Cut(need, ":")
			if !found {
				on, privilege = "object", need
			}
			require.NotEmpty(t, satisfiedBy()[privilege], privilege)
			rows[op] = append(rows[op], [2]string{on, privilege})
		}
	}
	return rows
}

// holdingOnCatalog is a caller who holds the privileges on a catalog; what is the service's is held on the service.
func holdingOnCatalog(privileges ...models.Privilege) policy.Caller {
	var service []models.Privilege
	var grants []policy.Grant
	for _, p := range privileges {
		if p == models.ServiceManageAccess {
			service = append(service, p)
			continue
		}
		grants = append(grants, policy.Grant{ObjectID: "c", Privilege: p})
	}
	return policy.Caller{Principal: "p", Held: policy.NewHeld(service, grants)}
}

// Every operation, asked with every privilege and every two of them held on the catalog, is allowed exactly where the table
// says so.
func TestDecisionTable(t *testing.T) {
	rows, satisfying := decided(t), satisfiedBy()
	all := policy.Operations()
	require.Len(t, rows, len(all))
	at := policy.Path{CatalogID: "c", NamespaceIDs: []string{"n"}, TableID: "t"}
	satisfies := map[string]map[models.Privilege]bool{}
	for wanted, by := range satisfying {
		satisfies[wanted] = map[models.Privilege]bool{}
		for _, p := range strings.Fields(by) {
			satisfies[wanted][models.Privilege(p)] = true
		}
	}
	for i, first := range allPrivileges() {
		for _, second := range allPrivileges()[i:] {
			caller := holdingOnCatalog(first, second)
			for _, op := range all {
				want := true
				for _, need := range rows[op] {
					want = want && (satisfies[need[1]][first] || satisfies[need[1]][second])
				}
				if caller.May(op, at) != want {
					t.Fatalf("%s with %s and %s: allowed is %t, want %t", op, first, second, !want, want)
				}
				allowed := true
				for _, on := range []policy.On{policy.Object, policy.Parent, policy.Source, policy.Destination, policy.Service} {
					if err := caller.Require(op, on, at, "it"); fault.Is(err, fault.Forbidden) {
						allowed = false
					}
				}
				if allowed != want {
					t.Fatalf("%s with %s and %s: Require allows it: %t, want %t", op, first, second, allowed, want)
				}
			}
		}
	}
}

// What an operation needs is needed on that object and on no other.
func TestNeedsAreOfTheirObjects(t *testing.T) {
	for op, row := range decided(t) {
		var got [][2]string
		for _, need := range op.Needs() {
			got = append(got, [2]string{string(need.On), string(need.Privilege)})
		}
		assert.Equal(t, row, got, op)
		for _, on := range []policy.On{policy.Object, policy.Parent, policy.Source, policy.Destination, policy.Service} {
			err := policy.Caller{Principal: "p"}.Require(op, on, policy.Path{CatalogID: "c"}, "table a.b")
			i := slices.IndexFunc(row, func(need [2]string) bool { return need[0] == string(on) })
			if i < 0 {
				assert.True(t, fault.Is(err, fault.Internal), "%s on %s: %v", op, on, err)
				continue
			}
			assert.True(t, fault.Is(err, fault.Forbidden))
			assert.Equal(t, "Principal p lacks the privilege "+row[i][1]+" on table a.b.", fault.PublicMessage(err))
		}
	}
	assert.False(t, holdingOnCatalog(allPrivileges()[:40]...).May("DO_ANYTHING", policy.Path{CatalogID: "c"}), "what is not in the table is the service's")
}

// A write grant never implies drop, rename, purge, policy change or clearing protection.
func TestWritingDataIsNoMoreThanThat(t *testing.T) { // CASES B1
	at := policy.Path{CatalogID: "c", NamespaceIDs: []string{"n"}, TableID: "t"}
	writer := holdingOnCatalog(models.TableWriteData)
	var may []string
	for _, op := range policy.Operations() {
		if writer.May(op, at) {
			may = append(may, string(op))
		}
	}
	assert.ElementsMatch(t, strings.Fields(`LIST_TABLES TABLE_EXISTS LOAD_TABLE LOAD_TABLE_WITH_READ_DELEGATION
		LOAD_TABLE_WITH_WRITE_DELEGATION PLAN_TABLE_SCAN WRITE_DATA_FOR_STAGED_CREATE REPORT_READ_METRICS REPORT_WRITE_METRICS
		ADD_TABLE_SNAPSHOT SET_TABLE_SNAPSHOT_REF REMOVE_TABLE_SNAPSHOTS REMOVE_TABLE_SNAPSHOT_REF SET_TABLE_PROPERTIES
		REMOVE_TABLE_PROPERTIES SET_TABLE_STATISTICS REMOVE_TABLE_STATISTICS RECONCILE_TABLE READ_TABLE_STATE LIST_TABLE_STATES
		LIST_COMMITS LIST_METRICS_REPORTS LIST_WRITERS CHECK_TABLE LIST_DROPPED_TABLES ROTATE_CREDENTIALS`), may)
}

// The list of operations is closed: every constant is in it once.
func TestOperationsAreAllThereAre(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "operations.go", nil, 0)
	require.NoError(t, err)
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			declared = append(declared, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		}
		return true
	})
	var listed []string
	for _, op := range policy.Operations() {
		listed = append(listed, string(op))
		assert.Regexp(t, regexp.MustCompile(`^[A-Z]+(_[A-Z]+)+$`), op)
	}
	assert.ElementsMatch(t, declared, listed)
}
