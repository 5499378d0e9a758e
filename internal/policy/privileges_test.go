package policy_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// allPrivileges is every privilege, written out.
func allPrivileges() []models.Privilege {
	return []models.Privilege{
		models.CatalogManageAccess, models.CatalogManageContent, models.CatalogManageMetadata,
		models.CatalogReadProperties, models.CatalogWriteProperties,
		models.NamespaceCreate, models.NamespaceDrop, models.NamespaceList, models.NamespaceReadProperties,
		models.NamespaceWriteProperties, models.NamespaceFullMetadata,
		models.TableCreate, models.TableDrop, models.TableList, models.TableReadProperties, models.TableWriteProperties,
		models.TableReadData, models.TableWriteData, models.TableFullMetadata,
		models.TableAssignUUID, models.TableUpgradeFormatVersion, models.TableAddSchema, models.TableSetCurrentSchema,
		models.TableAddPartitionSpec, models.TableAddSortOrder, models.TableSetDefaultSortOrder, models.TableAddSnapshot,
		models.TableSetSnapshotRef, models.TableRemoveSnapshots, models.TableRemoveSnapshotRef, models.TableSetLocation,
		models.TableSetProperties, models.TableRemoveProperties, models.TableSetStatistics, models.TableRemoveStatistics,
		models.TableRemovePartitionSpecs, models.TableManageStructure,
		models.ViewCreate, models.ViewDrop, models.ViewList, models.ViewReadProperties, models.ViewWriteProperties,
		models.ViewFullMetadata,
		models.PolicyCreate, models.PolicyWrite, models.PolicyRead, models.PolicyDrop, models.PolicyList, models.PolicyFullMetadata,
		models.CatalogAttachPolicy, models.CatalogDetachPolicy, models.NamespaceAttachPolicy, models.NamespaceDetachPolicy,
		models.TableAttachPolicy, models.TableDetachPolicy,
		models.ServiceManageAccess, models.TableGovern, models.AuditRead, models.DataRead, models.DataWrite,
	}
}

// impliedBy spells out, for every privilege, who else satisfies a check for it. It says both what is and what is not.
func impliedBy() map[models.Privilege][]models.Privilege {
	metadata := []models.Privilege{models.CatalogManageContent, models.CatalogManageMetadata}
	and := func(more ...models.Privilege) []models.Privilege { return slices.Concat(metadata, more) }
	structure := and(models.TableFullMetadata, models.TableWriteProperties, models.TableManageStructure)
	upkeep := slices.Concat(structure, []models.Privilege{models.TableWriteData})
	data := and(models.TableFullMetadata, models.TableWriteProperties, models.TableWriteData)
	return map[models.Privilege][]models.Privilege{
		models.CatalogManageMetadata:  {models.CatalogManageContent},
		models.CatalogReadProperties:  and(models.CatalogWriteProperties, models.ServiceManageAccess),
		models.CatalogWriteProperties: and(models.ServiceManageAccess),
		models.AuditRead:              {models.CatalogManageAccess},

		models.NamespaceFullMetadata:    metadata,
		models.NamespaceCreate:          and(models.NamespaceFullMetadata),
		models.NamespaceDrop:            and(models.NamespaceFullMetadata),
		models.NamespaceWriteProperties: and(models.NamespaceFullMetadata),
		models.NamespaceReadProperties:  and(models.NamespaceFullMetadata, models.NamespaceWriteProperties),
		models.NamespaceList: and(models.NamespaceFullMetadata, models.NamespaceCreate,
			models.NamespaceReadProperties, models.NamespaceWriteProperties),

		models.ViewFullMetadata:    metadata,
		models.ViewCreate:          and(models.ViewFullMetadata),
		models.ViewDrop:            and(models.ViewFullMetadata),
		models.ViewWriteProperties: and(models.ViewFullMetadata),
		models.ViewReadProperties:  and(models.ViewFullMetadata, models.ViewWriteProperties),
		models.ViewList: and(models.ViewFullMetadata, models.ViewCreate,
			models.ViewReadProperties, models.ViewWriteProperties),

		models.TableFullMetadata:    metadata,
		models.TableCreate:          and(models.TableFullMetadata),
		models.TableDrop:            and(models.TableFullMetadata),
		models.TableReadData:        {models.CatalogManageContent, models.TableWriteData},
		models.TableWriteData:       {models.CatalogManageContent},
		models.TableWriteProperties: and(models.TableFullMetadata, models.TableWriteData),
		models.TableReadProperties: and(models.TableFullMetadata, models.TableReadData, models.TableWriteData,
			models.TableWriteProperties),
		models.TableList: and(models.TableFullMetadata, models.TableReadData, models.TableWriteData,
			models.TableWriteProperties, models.TableReadProperties, models.TableCreate),

		models.TableAddSnapshot:    {models.CatalogManageContent, models.TableWriteData},
		models.TableSetSnapshotRef: data,

		models.TableRemoveSnapshots:   upkeep,
		models.TableRemoveSnapshotRef: upkeep,
		models.TableSetProperties:     upkeep,
		models.TableRemoveProperties:  upkeep,
		models.TableSetStatistics:     upkeep,
		models.TableRemoveStatistics:  upkeep,

		models.TableAssignUUID:           structure,
		models.TableUpgradeFormatVersion: structure,
		models.TableAddSchema:            structure,
		models.TableSetCurrentSchema:     structure,
		models.TableAddPartitionSpec:     structure,
		models.TableRemovePartitionSpecs: structure,
		models.TableAddSortOrder:         structure,
		models.TableSetDefaultSortOrder:  structure,
		models.TableSetLocation:          structure,
		models.TableManageStructure:      and(models.TableFullMetadata, models.TableWriteProperties),
	}
}

func TestImpliesBothWays(t *testing.T) {
	expected := impliedBy()
	for _, wanted := range allPrivileges() {
		for _, held := range allPrivileges() {
			want := held == wanted || slices.Contains(expected[wanted], held)
			assert.Equal(t, want, policy.Implies(held, wanted), "%s held, %s wanted", held, wanted)
		}
		assert.False(t, policy.Implies("", wanted))
		assert.False(t, policy.Implies("TABLE_EVERYTHING", wanted))
	}
	assert.False(t, policy.Implies("", ""), "nothing implies nothing")
	assert.False(t, policy.Implies(models.CatalogManageContent, "TABLE_EVERYTHING"))
}

// A grant of writing data never opens what would take the table away from its owner.
func TestWritingDataDoesNotImplyMore(t *testing.T) {
	for _, wanted := range []models.Privilege{
		models.TableDrop, models.TableCreate, models.TableSetLocation, models.TableAddSchema, models.TableSetCurrentSchema,
		models.TableUpgradeFormatVersion, models.TableAddPartitionSpec, models.TableGovern, models.TableManageStructure,
		models.TableFullMetadata, models.AuditRead, models.DataRead, models.DataWrite,
	} {
		assert.False(t, policy.Implies(models.TableWriteData, wanted), wanted)
	}
}

func TestGovernIsGrantedByNameAlone(t *testing.T) {
	for _, held := range allPrivileges() {
		assert.Equal(t, held == models.TableGovern, policy.Implies(held, models.TableGovern), held)
	}
}

func TestEveryUpdateNeedsOnePrivilege(t *testing.T) {
	for action, want := range map[string]models.Privilege{
		"assign-uuid": models.TableAssignUUID, "upgrade-format-version": models.TableUpgradeFormatVersion,
		"add-schema": models.TableAddSchema, "set-current-schema": models.TableSetCurrentSchema,
		"add-spec": models.TableAddPartitionSpec, "set-default-spec": models.TableAddPartitionSpec,
		"add-sort-order": models.TableAddSortOrder, "set-default-sort-order": models.TableSetDefaultSortOrder,
		"add-snapshot": models.TableAddSnapshot, "set-snapshot-ref": models.TableSetSnapshotRef,
		"remove-snapshots": models.TableRemoveSnapshots, "remove-snapshot-ref": models.TableRemoveSnapshotRef,
		"set-location": models.TableSetLocation, "set-properties": models.TableSetProperties,
		"remove-properties": models.TableRemoveProperties, "set-statistics": models.TableSetStatistics,
		"remove-statistics": models.TableRemoveStatistics, "set-partition-statistics": models.TableSetStatistics,
		"remove-partition-statistics": models.TableRemoveStatistics,
		"remove-partition-specs":      models.TableRemovePartitionSpecs, "remove-schemas": models.TableManageStructure,
		"add-encryption-key": models.TableManageStructure, "remove-encryption-key": models.TableManageStructure,
	} {
		op, ok := policy.OperationFor(action)
		assert.True(t, ok, action)
		assert.Equal(t, []policy.Need{{Privilege: want, On: policy.Object}}, op.Needs(), action)
	}
	for _, action := range []string{"", "add-view-version", "enable-row-lineage", "ADD-SNAPSHOT"} {
		_, ok := policy.OperationFor(action)
		assert.False(t, ok, action)
	}
}
