package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// The lists of Apache Polaris's management specification, with our own at the end.
const (
	contentList = `NAMESPACE_CREATE TABLE_CREATE VIEW_CREATE NAMESPACE_DROP TABLE_DROP VIEW_DROP NAMESPACE_LIST TABLE_LIST
		VIEW_LIST NAMESPACE_READ_PROPERTIES TABLE_READ_PROPERTIES VIEW_READ_PROPERTIES NAMESPACE_WRITE_PROPERTIES
		TABLE_WRITE_PROPERTIES VIEW_WRITE_PROPERTIES TABLE_READ_DATA TABLE_WRITE_DATA NAMESPACE_FULL_METADATA
		TABLE_FULL_METADATA VIEW_FULL_METADATA POLICY_CREATE POLICY_WRITE POLICY_READ POLICY_DROP POLICY_LIST
		POLICY_FULL_METADATA `
	updateList = ` TABLE_ASSIGN_UUID TABLE_UPGRADE_FORMAT_VERSION TABLE_ADD_SCHEMA TABLE_SET_CURRENT_SCHEMA
		TABLE_ADD_PARTITION_SPEC TABLE_ADD_SORT_ORDER TABLE_SET_DEFAULT_SORT_ORDER TABLE_ADD_SNAPSHOT TABLE_SET_SNAPSHOT_REF
		TABLE_REMOVE_SNAPSHOTS TABLE_REMOVE_SNAPSHOT_REF TABLE_SET_LOCATION TABLE_SET_PROPERTIES TABLE_REMOVE_PROPERTIES
		TABLE_SET_STATISTICS TABLE_REMOVE_STATISTICS TABLE_REMOVE_PARTITION_SPECS TABLE_MANAGE_STRUCTURE `
	ownList = ` TABLE_GOVERN DATA_READ DATA_WRITE `
)

func TestGrantablePerScope(t *testing.T) {
	for scope, want := range map[models.GrantScope]string{
		models.OnCatalog: `CATALOG_MANAGE_ACCESS CATALOG_MANAGE_CONTENT CATALOG_MANAGE_METADATA CATALOG_READ_PROPERTIES
			CATALOG_WRITE_PROPERTIES ` + contentList + `CATALOG_ATTACH_POLICY CATALOG_DETACH_POLICY` + updateList + ownList + `AUDIT_READ`,
		models.OnNamespace: `CATALOG_MANAGE_ACCESS CATALOG_MANAGE_CONTENT CATALOG_MANAGE_METADATA ` + contentList +
			`NAMESPACE_ATTACH_POLICY NAMESPACE_DETACH_POLICY` + updateList + ownList,
		models.OnTable: `CATALOG_MANAGE_ACCESS TABLE_DROP TABLE_LIST TABLE_READ_PROPERTIES TABLE_WRITE_PROPERTIES TABLE_READ_DATA
			TABLE_WRITE_DATA TABLE_FULL_METADATA TABLE_ATTACH_POLICY TABLE_DETACH_POLICY` + updateList + ownList,
		models.OnView: `CATALOG_MANAGE_ACCESS VIEW_DROP VIEW_LIST VIEW_READ_PROPERTIES VIEW_WRITE_PROPERTIES VIEW_FULL_METADATA`,
		"policy":      "",
	} {
		var got []string
		for _, p := range policy.Grantable(scope) {
			got = append(got, string(p))
		}
		assert.ElementsMatch(t, strings.Fields(want), got, scope)
	}
}

func TestPrivilegesAreAllThereAre(t *testing.T) {
	all := policy.Privileges()
	assert.ElementsMatch(t, allPrivileges(), all)
	assert.LessOrEqual(t, len(all), 128, "a set of privileges has 128 bits")
	for _, p := range policy.AdminPrivileges() {
		assert.True(t, slices.Contains(policy.Grantable(models.OnCatalog), p), p)
	}
	assert.NotContains(t, policy.AdminPrivileges(), models.TableGovern, "a steward is named, never implied")
}
