package policy

import (
	"slices"

	"github.com/sluice-data/sluice/models"
)

// Privileges gives every privilege that there is.
func Privileges() []models.Privilege {
	return slices.Concat(
		[]models.Privilege{models.ServiceManageAccess},
		Grantable(models.OnCatalog),
		[]models.Privilege{
			models.NamespaceAttachPolicy, models.NamespaceDetachPolicy, models.TableAttachPolicy, models.TableDetachPolicy,
		})
}

// Grantable gives the privileges that can be granted on an object of a kind, in the order in which Apache Polaris has them
// and our own after them; none for a kind that there is not.
func Grantable(scope models.GrantScope) []models.Privilege {
	switch scope {
	case models.OnCatalog:
		return slices.Concat(
			managing(), []models.Privilege{models.CatalogReadProperties, models.CatalogWriteProperties}, content(),
			[]models.Privilege{models.CatalogAttachPolicy, models.CatalogDetachPolicy}, updating(), own(),
			[]models.Privilege{models.AuditRead})
	case models.OnNamespace:
		return slices.Concat(
			managing(), content(),
			[]models.Privilege{models.NamespaceAttachPolicy, models.NamespaceDetachPolicy}, updating(), own())
	case models.OnTable:
		return slices.Concat(
			[]models.Privilege{
				models.CatalogManageAccess, models.TableDrop, models.TableList, models.TableReadProperties,
				models.TableWriteProperties, models.TableReadData, models.TableWriteData, models.TableFullMetadata,
				models.TableAttachPolicy, models.TableDetachPolicy,
			}, updating(), own())
	case models.OnView:
		return []models.Privilege{
			models.CatalogManageAccess, models.ViewDrop, models.ViewList, models.ViewReadProperties,
			models.ViewWriteProperties, models.ViewFullMetadata,
		}
	}
	return nil
}

func managing() []models.Privilege {
	return []models.Privilege{models.CatalogManageAccess, models.CatalogManageContent, models.CatalogManageMetadata}
}

// content is the privileges on what a catalog or a namespace holds.
func content() []models.Privilege {
	return []models.Privilege{
		models.NamespaceCreate, models.TableCreate, models.ViewCreate,
		models.NamespaceDrop, models.TableDrop, models.ViewDrop,
		models.NamespaceList, models.TableList, models.ViewList,
		models.NamespaceReadProperties, models.TableReadProperties, models.ViewReadProperties,
		models.NamespaceWriteProperties, models.TableWriteProperties, models.ViewWriteProperties,
		models.TableReadData, models.TableWriteData,
		models.NamespaceFullMetadata, models.TableFullMetadata, models.ViewFullMetadata,
		models.PolicyCreate, models.PolicyWrite, models.PolicyRead, models.PolicyDrop, models.PolicyList, models.PolicyFullMetadata,
	}
}

// updating is the privileges on single updates of a table's metadata.
func updating() []models.Privilege {
	return []models.Privilege{
		models.TableAssignUUID, models.TableUpgradeFormatVersion, models.TableAddSchema, models.TableSetCurrentSchema,
		models.TableAddPartitionSpec, models.TableAddSortOrder, models.TableSetDefaultSortOrder, models.TableAddSnapshot,
		models.TableSetSnapshotRef, models.TableRemoveSnapshots, models.TableRemoveSnapshotRef, models.TableSetLocation,
		models.TableSetProperties, models.TableRemoveProperties, models.TableSetStatistics, models.TableRemoveStatistics,
		models.TableRemovePartitionSpecs, models.TableManageStructure,
	}
}

// own is the privileges that are Sluice's on tables.
func own() []models.Privilege {
	return []models.Privilege{models.TableGovern, models.DataRead, models.DataWrite}
}
