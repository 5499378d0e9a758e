package facade

import (
	"fmt"
	"strings"
)

// about is what an operation is refused on: who sees it is told 403, who does not 404.
type about string

const (
	theService   about = "service"   // everybody knows of it
	theCatalog   about = "catalog"   // whoever holds anything in it
	theNamespace about = "namespace" // db
	theTable     about = "table"     // db.t
	theView      about = "view"      // db.v
	hidden       about = "hidden"    // nobody who may not do it knows of it
	nothing      about = "nothing"   // nobody is refused: the answer shows more or less
)

// Who sees what, and the privileges that stand for others in many rows. Written out from the table of Apache Polaris and
// ADR 12, and not from the code.
const (
	anything = "*" // whoever holds a privilege
	anybody  = "**"
	none     = "" // service_admin alone

	admin      = "CATALOG_MANAGE_ACCESS"
	all        = "CATALOG_MANAGE_CONTENT CATALOG_MANAGE_METADATA"
	seesTable  = "TABLE_LIST TABLE_CREATE TABLE_READ_PROPERTIES TABLE_WRITE_PROPERTIES TABLE_READ_DATA TABLE_WRITE_DATA TABLE_FULL_METADATA " + all
	seesView   = "VIEW_LIST VIEW_CREATE VIEW_READ_PROPERTIES VIEW_WRITE_PROPERTIES VIEW_FULL_METADATA " + all
	listsSpace = "NAMESPACE_LIST NAMESPACE_CREATE NAMESPACE_READ_PROPERTIES NAMESPACE_WRITE_PROPERTIES NAMESPACE_FULL_METADATA " + all
	seesSpace  = listsSpace + " " + seesTable + " " + seesView

	makesSpace   = "NAMESPACE_CREATE NAMESPACE_FULL_METADATA " + all
	makesTable   = "TABLE_CREATE TABLE_FULL_METADATA " + all
	makesView    = "VIEW_CREATE VIEW_FULL_METADATA " + all
	dropsTable   = "TABLE_DROP TABLE_FULL_METADATA " + all
	movesTable   = "TABLE_FULL_METADATA " + all // takes TABLE_DROP and TABLE_CREATE
	loadsTable   = "TABLE_READ_PROPERTIES TABLE_WRITE_PROPERTIES TABLE_READ_DATA TABLE_WRITE_DATA TABLE_FULL_METADATA " + all
	readsData    = "TABLE_READ_DATA TABLE_WRITE_DATA CATALOG_MANAGE_CONTENT"
	writesData   = "TABLE_WRITE_DATA CATALOG_MANAGE_CONTENT"
	writesTable  = "TABLE_WRITE_PROPERTIES TABLE_WRITE_DATA TABLE_FULL_METADATA " + all
	restructures = "TABLE_MANAGE_STRUCTURE TABLE_WRITE_PROPERTIES TABLE_FULL_METADATA " + all
	keepsUp      = restructures + " TABLE_WRITE_DATA"
)

// operation is one request and the privileges, any one of which allows it.
type operation struct {
	name, method, path, body string
	by                       string
	about                    about
	status                   int    // when it is allowed: a refusal by the state of things will do
	kind                     string // of the error then, where the status alone does not tell
	shows                    string // what the answer has only when it is allowed
	known                    string // who may do a part of it, and so knows of it: 403
	undo                     func(m *matrix)
}

func (o operation) allows(privilege string) bool {
	switch o.by {
	case anybody:
		return true
	case anything:
		return privilege != none
	}
	return holds(o.by, privilege)
}

func holds(list, privilege string) bool {
	return privilege != none && strings.Contains(" "+list+" ", " "+privilege+" ")
}

// refusal is the status for who may not do it.
func (o operation) refusal(privilege string) int {
	sees := map[about]bool{
		theService: true, theCatalog: privilege != none, theNamespace: holds(seesSpace, privilege),
		theTable: holds(seesTable, privilege), theView: holds(seesView, privilege),
	}
	if sees[o.about] || holds(o.known, privilege) {
		return 403
	}
	return 404
}

const (
	inMain     = prefix
	inSpace    = prefix + "/namespaces/db"
	ofTable    = inSpace + "/tables/t"
	governed   = "/api/governance/v1"
	managed    = "/api/management/v1"
	rows       = "/data/v1/tables/main.db.t"
	rowsOf     = "DATA_READ DATA_WRITE AUDIT_READ CATALOG_MANAGE_ACCESS"
	otherTable = `{"requirements":[{"type":"assert-table-uuid","uuid":"00000000-0000-4000-8000-000000000000"}],"updates":[%s]}`
)

func facadeOperations() []operation {
	at := `{"namespace":["db"],"name":"t"}`
	move := `{"source":` + at + `,"destination":` + at + `}`
	moveView := `{"source":{"namespace":["db"],"name":"v"},"destination":{"namespace":["db"],"name":"v"}}`
	return []operation{
		{name: "configuration", method: "GET", path: mount + "/v1/config?warehouse=main", by: anything, about: theCatalog, status: 200},
		{name: "LIST_NAMESPACES", method: "GET", path: inMain + "/namespaces", by: seesSpace, about: theCatalog, status: 200, shows: `["db"]`},
		{name: "CREATE_NAMESPACE", method: "POST", path: inMain + "/namespaces", body: `{"namespace":["db"]}`, by: makesSpace, about: theCatalog, status: 409},
		{name: "LOAD_NAMESPACE_METADATA", method: "GET", path: inSpace, by: "NAMESPACE_READ_PROPERTIES NAMESPACE_WRITE_PROPERTIES NAMESPACE_FULL_METADATA " + all, about: theNamespace, status: 200},
		{name: "NAMESPACE_EXISTS", method: "HEAD", path: inSpace, by: seesSpace, about: hidden, status: 204},
		{name: "DROP_NAMESPACE", method: "DELETE", path: inSpace, by: "NAMESPACE_DROP NAMESPACE_FULL_METADATA " + all, about: theNamespace, status: 409},
		{name: "UPDATE_NAMESPACE_PROPERTIES", method: "POST", path: inSpace + "/properties", body: `{"updates":{"a":"b"}}`, by: "NAMESPACE_WRITE_PROPERTIES NAMESPACE_FULL_METADATA " + all, about: theNamespace, status: 200},
		{name: "LIST_TABLES", method: "GET", path: inSpace + "/tables", by: seesTable, about: theNamespace, status: 200, shows: `"t"`},
		{name: "CREATE_TABLE_DIRECT", method: "POST", path: inSpace + "/tables", body: createBody("t"), by: makesTable, about: theNamespace, status: 409},
		{name: "CREATE_TABLE_STAGED", method: "POST", path: inSpace + "/tables", body: strings.Replace(createBody("t2"), `{`, `{"stage-create":true,`, 1), by: makesTable, about: theNamespace, status: 200},
		{name: "REGISTER_TABLE", method: "POST", path: inSpace + "/register", body: `{"name":"t","metadata-location":"METADATA"}`, by: makesTable, about: theNamespace, status: 409},
		{name: "REGISTER_TABLE_OVERWRITE", method: "POST", path: inSpace + "/register", body: `{"name":"t","metadata-location":"METADATA","overwrite":true}`, by: "CATALOG_MANAGE_CONTENT", about: theNamespace, known: "TABLE_DROP", status: 200}, // its file has data,
		{name: "LOAD_TABLE", method: "GET", path: ofTable, by: loadsTable, about: theTable, status: 200},
		{name: "TABLE_EXISTS", method: "HEAD", path: ofTable, by: seesTable, about: hidden, status: 204},
		{name: "LOAD_TABLE_CREDENTIALS", method: "GET", path: ofTable + "/credentials", by: readsData, about: theTable, status: 200},
		{name: "SIGN_REQUEST", method: "POST", path: ofTable + "/sign", body: `{"region":"r","uri":"https://b.s3.amazonaws.com/k","method":"GET","headers":{}}`, by: readsData, about: theTable, status: 406},
		{name: "DROP_TABLE_WITHOUT_PURGE", method: "DELETE", path: inSpace + "/tables/d", by: dropsTable, about: theTable, status: 204, undo: (*matrix).remake},
		{name: "DROP_TABLE_WITH_PURGE", method: "DELETE", path: inSpace + "/tables/d?purgeRequested=true", by: "CATALOG_MANAGE_CONTENT", about: theTable, known: "TABLE_DROP", status: 204, undo: (*matrix).remake},
		{name: "UNREGISTER_TABLE", method: "POST", path: inSpace + "/tables/d/unregister", by: dropsTable, about: theTable, status: 200, undo: (*matrix).remake},
		{name: "RENAME_TABLE", method: "POST", path: inMain + "/tables/rename", body: move, by: movesTable, about: theTable, status: 204},
		{name: "COMMIT_TRANSACTION", method: "POST", path: inMain + "/transactions/commit", by: keepsUp + " TABLE_SET_PROPERTIES", about: theTable, status: 409,
			body: `{"table-changes":[` + strings.Replace(fmt.Sprintf(otherTable, `{"action":"set-properties","updates":{"a":"b"}}`), `{`, `{"identifier":`+at+`,`, 1) + `]}`},
		{name: "PLAN_TABLE_SCAN", method: "POST", path: ofTable + "/plan", body: `{}`, by: readsData, about: theTable, status: 200},
		{name: "FETCH_PLAN", method: "GET", path: ofTable + "/plan/none", by: readsData, about: theTable, status: 404, kind: "NoSuchPlanIdException"},
		{name: "CANCEL_PLAN", method: "DELETE", path: ofTable + "/plan/none", by: readsData, about: theTable, status: 404, kind: "NoSuchPlanIdException"},
		{name: "FETCH_SCAN_TASKS", method: "POST", path: ofTable + "/tasks", body: `{"plan-task":"none"}`, by: readsData, about: theTable, status: 404, kind: "NoSuchPlanTaskException"},
		{name: "REPORT_READ_METRICS", method: "POST", path: ofTable + "/metrics", body: scanReport, by: readsData, about: theTable, status: 204},
		{name: "REPORT_WRITE_METRICS", method: "POST", path: ofTable + "/metrics", body: commitReport, by: writesData, about: theTable, status: 204},
		{name: "LIST_FUNCTIONS", method: "GET", path: inSpace + "/functions", by: seesSpace, about: hidden, status: 200},
		{name: "LOAD_FUNCTION", method: "GET", path: inSpace + "/functions/f", by: seesSpace, about: hidden, status: 404, kind: "NoSuchFunctionException"},
		{name: "LIST_VIEWS", method: "GET", path: inSpace + "/views", by: seesView, about: theNamespace, status: 200, shows: `"v"`},
		{name: "CREATE_VIEW", method: "POST", path: inSpace + "/views", body: viewBody("v"), by: makesView, about: theNamespace, status: 409},
		{name: "REGISTER_VIEW", method: "POST", path: inSpace + "/register-view", body: `{"name":"v","metadata-location":"METADATA"}`, by: makesView, about: theNamespace, status: 409},
		{name: "LOAD_VIEW", method: "GET", path: inSpace + "/views/v", by: "VIEW_READ_PROPERTIES VIEW_WRITE_PROPERTIES VIEW_FULL_METADATA " + all, about: theView, status: 200},
		{name: "VIEW_EXISTS", method: "HEAD", path: inSpace + "/views/v", by: seesView, about: hidden, status: 204},
		{name: "REPLACE_VIEW", method: "POST", path: inSpace + "/views/v", body: `{"requirements":[{"type":"assert-view-uuid","uuid":"00000000-0000-4000-8000-000000000000"}],"updates":[{"action":"set-properties","updates":{"a":"b"}}]}`,
			by: "VIEW_WRITE_PROPERTIES VIEW_FULL_METADATA " + all, about: theView, status: 409},
		{name: "DROP_VIEW", method: "DELETE", path: inSpace + "/views/v", by: "VIEW_DROP VIEW_FULL_METADATA " + all, about: theView, status: 204, undo: (*matrix).remakeView},
		{name: "RENAME_VIEW", method: "POST", path: inMain + "/views/rename", body: moveView, by: "VIEW_FULL_METADATA " + all, about: theView, status: 204},
		{name: "POLARIS_POLICIES", method: "GET", path: mount + "/polaris/v1/main/namespaces/db/policies", by: seesSpace, about: hidden, status: 200},
	}
}

const (
	scanReport   = `{"report-type":"scan-report","table-name":"t","snapshot-id":1,"filter":true,"schema-id":0,"projected-field-ids":[],"projected-field-names":[],"metrics":{}}`
	commitReport = `{"report-type":"commit-report","table-name":"t","snapshot-id":1,"sequence-number":1,"operation":"append","metrics":{}}`
)

// updateOperations is one commit for each kind of update. Its requirement does not hold, so that it changes nothing.
func updateOperations() []operation {
	const (
		schema  = `{"type":"struct","schema-id":1,"fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":3,"name":"n","required":false,"type":"int"}]}`
		field   = `{"spec-id":1,"fields":[{"source-id":1,"field-id":1000,"name":"id","transform":"identity"}]}`
		sorting = `{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}`
		added   = `{"snapshot-id":9,"sequence-number":1,"timestamp-ms":1900000000000,"manifest-list":"METADATA","summary":{"operation":"append"},"schema-id":0}`
		stats   = `{"snapshot-id":9,"statistics-path":"METADATA","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}`
	)
	rows := [][3]string{
		{"assign-uuid", `"uuid":"00000000-0000-4000-8000-000000000000"`, restructures + " TABLE_ASSIGN_UUID"},
		{"upgrade-format-version", `"format-version":3`, restructures + " TABLE_UPGRADE_FORMAT_VERSION"},
		{"add-schema", `"schema":` + schema, restructures + " TABLE_ADD_SCHEMA"},
		{"set-current-schema", `"schema-id":0`, restructures + " TABLE_SET_CURRENT_SCHEMA"},
		{"add-spec", `"spec":` + field, restructures + " TABLE_ADD_PARTITION_SPEC"},
		{"set-default-spec", `"spec-id":0`, restructures + " TABLE_ADD_PARTITION_SPEC"},
		{"remove-partition-specs", `"spec-ids":[7]`, restructures + " TABLE_REMOVE_PARTITION_SPECS"},
		{"add-sort-order", `"sort-order":` + sorting, restructures + " TABLE_ADD_SORT_ORDER"},
		{"set-default-sort-order", `"sort-order-id":0`, restructures + " TABLE_SET_DEFAULT_SORT_ORDER"},
		{"set-location", `"location":"LOCATION"`, restructures + " TABLE_SET_LOCATION"},
		{"remove-schemas", `"schema-ids":[7]`, restructures},
		{"add-snapshot", `"snapshot":` + added, writesData + " TABLE_ADD_SNAPSHOT"},
		{"set-snapshot-ref", `"ref-name":"main","type":"branch","snapshot-id":9`, writesTable + " TABLE_SET_SNAPSHOT_REF"},
		{"remove-snapshots", `"snapshot-ids":[9]`, keepsUp + " TABLE_REMOVE_SNAPSHOTS"},
		{"remove-snapshot-ref", `"ref-name":"x"`, keepsUp + " TABLE_REMOVE_SNAPSHOT_REF"},
		{"set-properties", `"updates":{"a":"b"}`, keepsUp + " TABLE_SET_PROPERTIES"},
		{"remove-properties", `"removals":["a"]`, keepsUp + " TABLE_REMOVE_PROPERTIES"},
		{"set-statistics", `"snapshot-id":9,"statistics":` + stats, keepsUp + " TABLE_SET_STATISTICS"},
		{"remove-statistics", `"snapshot-id":9`, keepsUp + " TABLE_REMOVE_STATISTICS"},
	}
	out := make([]operation, 0, len(rows))
	for _, r := range rows {
		out = append(out, operation{
			name: "UPDATE_TABLE " + r[0], method: "POST", path: ofTable, body: fmt.Sprintf(otherTable, `{"action":"`+r[0]+`",`+r[1]+`}`),
			by: r[2], about: theTable, status: 409,
		})
	}
	return out
}

func governanceOperations() []operation {
	const table = governed + "/tables/main.db.t"
	return []operation{
		{name: "whoami", method: "GET", path: governed + "/whoami", by: anybody, about: nothing, status: 200, shows: `"probes"`},
		{name: "explain oneself", method: "GET", path: governed + "/access?privilege=TABLE_LIST&object=main.db.t", by: seesTable + " " + admin, about: hidden, status: 200},
		{name: "EXPLAIN_ACCESS_IN_CATALOG", method: "GET", path: governed + "/access?principal=root&privilege=TABLE_LIST&object=main.db.t", by: admin, about: theCatalog, status: 200},
		{name: "EXPLAIN_ACCESS", method: "GET", path: governed + "/access?principal=root&privilege=SERVICE_MANAGE_ACCESS", by: none, about: theService, status: 200},
		{name: "mint for oneself", method: "POST", path: governed + "/tokens", body: `{"expiresIn":"1h"}`, by: anybody, status: 201},
		{name: "MINT_TOKEN_FOR_OTHER", method: "POST", path: governed + "/tokens", body: `{"principal":"root","expiresIn":"1h"}`, by: none, about: theService, status: 201},
		{name: "LIST_TOKENS_OF_OTHERS", method: "GET", path: governed + "/tokens?limit=1000", by: none, about: nothing, status: 200, shows: `"name":"of root"`},
		{name: "REVOKE_TOKEN_OF_OTHER", method: "DELETE", path: governed + "/tokens/TOKEN", by: none, about: hidden, status: 204},
		{name: "LIST_TABLE_STATES", method: "GET", path: governed + "/tables?catalog=main", by: loadsTable, about: theCatalog, status: 200, shows: `"main.db.t"`},
		{name: "READ_TABLE_STATE", method: "GET", path: table, by: loadsTable, about: theTable, status: 200},
		{name: "SET_WRITE_POLICY", method: "PUT", path: table + "/write-policy", body: `{"policy":"open_full"}`, by: admin, about: theTable, status: 200},
		{name: "SET_CLASSIFICATION", method: "PUT", path: table + "/classification", body: `{"level":"internal"}`, by: admin, about: theTable, status: 200},
		{name: "SET_PROTECTION", method: "PUT", path: table + "/protection", body: `{"protected":false}`, by: admin, about: theTable, status: 200},
		{name: "RESOLVE_FINDING", method: "POST", path: governed + "/findings/FINDING/resolve", body: `{}`, by: admin, about: theTable, status: 200},
		{name: "list findings", method: "GET", path: governed + "/findings?table=main.db.t", by: loadsTable, about: theTable, status: 200},
		{name: "list all findings", method: "GET", path: governed + "/findings", by: none, about: theService, status: 200},
		{name: "list writers", method: "GET", path: governed + "/writers?table=main.db.t", by: loadsTable, about: theTable, status: 200},
		{name: "list all writers", method: "GET", path: governed + "/writers", by: none, about: theService, status: 200},
		{name: "show a writer", method: "GET", path: governed + "/writers/WRITER", by: loadsTable, about: theTable, status: 200},
		{name: "DECLARE_WRITER", method: "POST", path: governed + "/writers", body: `{"table":"main.db.t","principal":"root","every":"24h"}`, by: admin, about: theTable, status: 201},
		{name: "SET_WRITER_CADENCE", method: "PUT", path: governed + "/writers/WRITER", body: `{"every":"24h"}`, by: admin, about: theTable, status: 200},
		{name: "RETIRE_WRITER", method: "POST", path: governed + "/writers/WRITER/retire", body: `{}`, by: admin, about: theTable, status: 200},
		{name: "SET_DUPLICATE_COMMITS", method: "PUT", path: table + "/duplicate-commits", body: `{"mode":"audit"}`, by: admin, about: theTable, status: 200},
		{name: "CHECK_TABLE", method: "GET", path: table + "/check", by: loadsTable, about: theTable, status: 200},
		{name: "RECONCILE_TABLE", method: "POST", path: table + "/reconcile", by: writesTable, about: theTable, status: 202},
		{name: "SET_DEFAULT_WRITE_POLICY namespace", method: "PUT", path: governed + "/namespaces/main.db/default-write-policy", body: `{"policy":"open_full"}`, by: admin, about: theNamespace, status: 200},
		{name: "SET_DEFAULT_WRITE_POLICY catalog", method: "PUT", path: governed + "/catalogs/main/default-write-policy", body: `{"policy":"open_full"}`, by: admin, about: theCatalog, status: 200},
		{name: "SET_DEFAULT_CLASSIFICATION namespace", method: "PUT", path: governed + "/namespaces/main.db/default-classification", body: `{"level":"internal"}`, by: admin, about: theNamespace, status: 200},
		{name: "SET_DEFAULT_CLASSIFICATION catalog", method: "PUT", path: governed + "/catalogs/main/default-classification", body: `{"level":"internal"}`, by: admin, about: theCatalog, status: 200},
		{name: "SET_ROW_FILTERS", method: "PUT", path: table + "/row-filters/none", body: `{"filter":"TRUE"}`, by: admin, about: theTable, status: 404},
		{name: "READ_ROW_FILTERS", method: "GET", path: table + "/row-filters", by: admin, about: theTable, status: 200},
		{name: "QUERY_ROWS", method: "POST", path: rows + "/query", body: `{"filter":false}`, by: "DATA_READ", known: rowsOf, about: theTable, status: 200},
		{name: "QUERY_ROWS preview", method: "GET", path: rows + "/preview", by: "DATA_READ", known: rowsOf, about: theTable, status: 500},
		{name: "QUERY_ROWS profile", method: "GET", path: rows + "/profile", by: "DATA_READ", known: rowsOf, about: theTable, status: 500},
		{name: "WRITE_ROWS", method: "POST", path: rows + "/write", body: `[]`, by: "DATA_WRITE", known: rowsOf, about: theTable, status: 200},
		{name: "READ_ROW_AUDIT writes", method: "GET", path: rows + "/writes", by: admin + " AUDIT_READ", known: rowsOf, about: theTable, status: 200},
		{name: "READ_ROW_AUDIT rows", method: "POST", path: rows + "/row-audit", body: `{"identity":{"id":"1","email":null}}`, by: admin + " AUDIT_READ", known: rowsOf, about: theTable, status: 200},
		{name: "LIST_DROPPED_TABLES", method: "GET", path: governed + "/dropped-tables?catalog=main", by: seesTable, about: theCatalog, status: 200, shows: `"main.db.gone"`},
		{name: "UNDROP_TABLE", method: "POST", path: governed + "/dropped-tables/DROPPED/undrop", body: `{"name":"db.t"}`, by: movesTable, about: theTable, status: 409},
		{name: "FORGET_DROPPED_TABLE", method: "POST", path: governed + "/dropped-tables/DROPPED/forget", by: dropsTable, about: theTable, status: 204, undo: (*matrix).redrop},
		{name: "LIST_COMMITS", method: "GET", path: governed + "/commits?table=main.db.t", by: loadsTable, about: theTable, status: 200},
		{name: "LIST_ALL_COMMITS", method: "GET", path: governed + "/commits", by: none, about: theService, status: 200},
		{name: "LIST_METRICS_REPORTS", method: "GET", path: governed + "/metrics-reports?table=main.db.t", by: loadsTable, about: theTable, status: 200},
		{name: "LIST_ALL_METRICS_REPORTS", method: "GET", path: governed + "/metrics-reports", by: none, about: theService, status: 200},
		{name: "READ_AUDIT", method: "GET", path: governed + "/audit?catalog=main&limit=1", by: admin + " AUDIT_READ", about: theCatalog, status: 200},
		{name: "READ_ALL_AUDIT", method: "GET", path: governed + "/audit?limit=1", by: none, about: theService, status: 200},
		{name: "list checkpoints", method: "GET", path: governed + "/audit/checkpoints", by: none, about: theService, status: 200},
		{name: "stream the audit of a catalog", method: "GET", path: governed + "/events?catalog=main", by: admin + " AUDIT_READ", about: theCatalog, status: 503},
		{name: "stream all of the audit", method: "GET", path: governed + "/events", by: none, about: theService, status: 503},
		{name: "list webhooks", method: "GET", path: governed + "/webhooks", by: none, about: theService, status: 200},
		{name: "create a webhook", method: "POST", path: governed + "/webhooks", body: `{"name":"w","url":"https://hooks.example.com/w"}`, by: none, about: theService, status: 201},
		{name: "show a webhook", method: "GET", path: governed + "/webhooks/none", by: none, about: theService, status: 404},
		{name: "update a webhook", method: "PUT", path: governed + "/webhooks/none", body: `{"disabled":true}`, by: none, about: theService, status: 404},
		{name: "delete a webhook", method: "DELETE", path: governed + "/webhooks/none", by: none, about: theService, status: 404},
		{name: "test a webhook", method: "POST", path: governed + "/webhooks/none/test", by: none, about: theService, status: 404},
		{name: "list deliveries", method: "GET", path: governed + "/webhooks/none/deliveries", by: none, about: theService, status: 404},
		{name: "replay a webhook", method: "POST", path: governed + "/webhooks/none/replay", body: `{"state":"dead"}`, by: none, about: theService, status: 404},
	}
}

func managementOperations() []operation {
	const stale = `{"currentEntityVersion":99,"properties":{}}`
	catalog := `{"catalog":{"name":"main","properties":{"default-base-location":"LOCATION"},"storageConfigInfo":{"storageType":"FILE"}}}`
	rows := []operation{
		{name: "LIST_CATALOGS", method: "GET", path: "/catalogs", by: anything, about: nothing, status: 200, shows: `"name":"main"`},
		{name: "CREATE_CATALOG", method: "POST", path: "/catalogs", body: catalog, by: none, about: theService, status: 409},
		{name: "GET_CATALOG", method: "GET", path: "/catalogs/main", by: "CATALOG_READ_PROPERTIES CATALOG_WRITE_PROPERTIES " + all, about: theCatalog, status: 200},
		{name: "UPDATE_CATALOG", method: "PUT", path: "/catalogs/main", body: stale, by: "CATALOG_WRITE_PROPERTIES " + all, about: theCatalog, status: 409},
		{name: "DELETE_CATALOG", method: "DELETE", path: "/catalogs/main", by: none, about: theCatalog, status: 409},
		{name: "get oneself", method: "GET", path: "/principals/probe", by: anybody, status: 200},
		{name: "own roles", method: "GET", path: "/principals/probe/principal-roles", by: anybody, status: 200},
		{name: "LIST_PRINCIPALS", method: "GET", path: "/principals", by: none, about: theService, status: 200},
		{name: "CREATE_PRINCIPAL", method: "POST", path: "/principals", body: `{"principal":{"name":"root"}}`, by: none, about: theService, status: 409},
		{name: "GET_PRINCIPAL", method: "GET", path: "/principals/root", by: none, about: hidden, status: 200},
		{name: "UPDATE_PRINCIPAL", method: "PUT", path: "/principals/other", body: stale, by: none, about: hidden, status: 409},
		{name: "DELETE_PRINCIPAL", method: "DELETE", path: "/principals/other", by: none, about: hidden, status: 204},
		{name: "ROTATE_CREDENTIALS", method: "POST", path: "/principals/root/rotate", by: "nobody", about: hidden, status: 200},
		{name: "RESET_CREDENTIALS", method: "POST", path: "/principals/root/reset", body: `{"clientSecret":"short"}`, by: none, about: hidden, status: 400},
		{name: "LIST_PRINCIPAL_ROLES_ASSIGNED", method: "GET", path: "/principals/root/principal-roles", by: none, about: hidden, status: 200},
		{name: "ASSIGN_PRINCIPAL_ROLE", method: "PUT", path: "/principals/root/principal-roles", body: `{"principalRole":{"name":"service_admin"}}`, by: none, about: hidden, status: 201},
		{name: "LIST_PRINCIPAL_ROLES", method: "GET", path: "/principal-roles", by: none, about: theService, status: 200},
		{name: "CREATE_PRINCIPAL_ROLE", method: "POST", path: "/principal-roles", body: `{"principalRole":{"name":"probes"}}`, by: none, about: theService, status: 409},
		{name: "GET_PRINCIPAL_ROLE", method: "GET", path: "/principal-roles/service_admin", by: none, about: hidden, status: 200},
		{name: "UPDATE_PRINCIPAL_ROLE", method: "PUT", path: "/principal-roles/probes", body: stale, by: none, about: theService, status: 409},
		{name: "DELETE_PRINCIPAL_ROLE", method: "DELETE", path: "/principal-roles/service_admin", by: "nobody", about: hidden, status: 204},
		{name: "LIST_ASSIGNEE_PRINCIPALS_FOR_PRINCIPAL_ROLE", method: "GET", path: "/principal-roles/probes/principals", by: none, about: theService, status: 200},
		{name: "LIST_CATALOG_ROLES", method: "GET", path: "/catalogs/main/catalog-roles", by: admin, about: theCatalog, status: 200},
		{name: "CREATE_CATALOG_ROLE", method: "POST", path: "/catalogs/main/catalog-roles", body: `{"catalogRole":{"name":"other"}}`, by: admin, about: theCatalog, status: 409},
		{name: "GET_CATALOG_ROLE", method: "GET", path: "/catalogs/main/catalog-roles/other", by: admin, about: theCatalog, status: 200},
		{name: "UPDATE_CATALOG_ROLE", method: "PUT", path: "/catalogs/main/catalog-roles/other", body: stale, by: admin, about: theCatalog, status: 409},
		{name: "LIST_ASSIGNEE_PRINCIPAL_ROLES_FOR_CATALOG_ROLE", method: "GET", path: "/catalogs/main/catalog-roles/other/principal-roles", by: admin, about: theCatalog, status: 200},
		{name: "LIST_CATALOG_ROLES_FOR_PRINCIPAL_ROLE", method: "GET", path: "/principal-roles/others/catalog-roles/main", by: admin, about: theCatalog, status: 200},
		{name: "ASSIGN_CATALOG_ROLE_TO_PRINCIPAL_ROLE", method: "PUT", path: "/principal-roles/service_admin/catalog-roles/main", body: `{"catalogRole":{"name":"catalog_admin"}}`, by: admin, about: theCatalog, status: 201},
		{name: "LIST_GRANTS_FOR_CATALOG_ROLE", method: "GET", path: "/catalogs/main/catalog-roles/other/grants", by: admin, about: theCatalog, status: 200},
		{name: "ADD_CATALOG_GRANT", method: "PUT", path: "/catalogs/main/catalog-roles/other/grants", body: `{"grant":{"type":"catalog","privilege":"TABLE_LIST"}}`, by: admin, about: theCatalog, status: 201},
		{name: "ADD_NAMESPACE_GRANT", method: "PUT", path: "/catalogs/main/catalog-roles/other/grants", body: `{"grant":{"type":"namespace","namespace":["db"],"privilege":"TABLE_LIST"}}`, by: admin, about: theNamespace, status: 201},
		{name: "ADD_TABLE_GRANT", method: "PUT", path: "/catalogs/main/catalog-roles/other/grants", body: `{"grant":{"type":"table","namespace":["db"],"tableName":"t","privilege":"TABLE_LIST"}}`, by: admin, about: theTable, status: 201},
		{name: "ADD_VIEW_GRANT", method: "PUT", path: "/catalogs/main/catalog-roles/other/grants", body: `{"grant":{"type":"view","namespace":["db"],"viewName":"v","privilege":"VIEW_LIST"}}`, by: admin, about: theView, status: 201},
		{name: "REVOKE_CATALOG_GRANT", method: "POST", path: "/catalogs/main/catalog-roles/other/grants", body: `{"grant":{"type":"catalog","privilege":"VIEW_LIST"}}`, by: admin, about: theCatalog, status: 404, kind: "NoSuchGrantException"},
	}
	for i := range rows {
		rows[i].path = managed + rows[i].path
	}
	return rows
}
