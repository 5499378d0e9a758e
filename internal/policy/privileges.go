package policy

import "github.com/sluice-data/sluice/models"

// Implies tells whether holding one privilege satisfies a check for another. It is Apache Polaris's table of super
// privileges, looked up once and never chained, with these differences:
//
//   - TABLE_WRITE_DATA does not imply the updates that change what a table is: assign-uuid, upgrade-format-version,
//     schemas, partition specs, sort orders, set-location. In Polaris it implies every update, so that each streaming
//     job could move or restructure its table. What it keeps is what writing needs: snapshots and refs, properties,
//     statistics. That removing snapshots and refs is among them matters under open_full alone, where a writer may
//     remove every row anyway; open_append refuses both whatever is held. It never implied drop or rename, and a purge
//     needs TABLE_DROP as well.
//   - TABLE_ADD_SNAPSHOT is implied by TABLE_WRITE_DATA and CATALOG_MANAGE_CONTENT alone: to add a snapshot is to write data,
//     and in Polaris whoever may change a table's properties or metadata may do that too. Granted by name it stands alone.
//   - TABLE_GOVERN, DATA_READ and DATA_WRITE are our own and implied by nothing but themselves: they are granted by name.
//   - AUDIT_READ is our own and implied by CATALOG_MANAGE_ACCESS too: who hands out rights may see how they were used.
//   - SERVICE_MANAGE_ACCESS implies the properties of catalogs, never access to what is in them.
func Implies(held, wanted models.Privilege) bool {
	if held == "" || wanted == "" {
		return false
	}
	if held == wanted {
		return true
	}
	if implied, known := impliesCatalog(held, wanted); known {
		return implied
	}
	if implied, known := impliesNamespace(held, wanted); known {
		return implied
	}
	if implied, known := impliesView(held, wanted); known {
		return implied
	}
	return impliesTable(held, wanted)
}

// managesMetadata tells whether the privilege covers all metadata of a catalog.
func managesMetadata(held models.Privilege) bool {
	return held == models.CatalogManageContent || held == models.CatalogManageMetadata
}

func impliesCatalog(held, wanted models.Privilege) (implied, known bool) {
	switch wanted {
	case models.CatalogManageMetadata:
		return held == models.CatalogManageContent, true
	case models.CatalogReadProperties:
		return managesMetadata(held) || held == models.CatalogWriteProperties || held == models.ServiceManageAccess, true
	case models.CatalogWriteProperties:
		return managesMetadata(held) || held == models.ServiceManageAccess, true
	case models.AuditRead:
		return held == models.CatalogManageAccess, true
	case models.CatalogManageAccess, models.CatalogManageContent, models.ServiceManageAccess,
		models.TableGovern, models.DataRead, models.DataWrite:
		return false, true
	}
	return false, false
}

func impliesNamespace(held, wanted models.Privilege) (implied, known bool) {
	full := managesMetadata(held) || held == models.NamespaceFullMetadata
	switch wanted {
	case models.NamespaceFullMetadata:
		return managesMetadata(held), true
	case models.NamespaceCreate, models.NamespaceDrop, models.NamespaceWriteProperties:
		return full, true
	case models.NamespaceReadProperties:
		return full || held == models.NamespaceWriteProperties, true
	case models.NamespaceList:
		return full || held == models.NamespaceCreate ||
			held == models.NamespaceReadProperties || held == models.NamespaceWriteProperties, true
	}
	return false, false
}

func impliesView(held, wanted models.Privilege) (implied, known bool) {
	full := managesMetadata(held) || held == models.ViewFullMetadata
	switch wanted {
	case models.ViewFullMetadata:
		return managesMetadata(held), true
	case models.ViewCreate, models.ViewDrop, models.ViewWriteProperties:
		return full, true
	case models.ViewReadProperties:
		return full || held == models.ViewWriteProperties, true
	case models.ViewList:
		return full || held == models.ViewCreate ||
			held == models.ViewReadProperties || held == models.ViewWriteProperties, true
	}
	return false, false
}

func impliesTable(held, wanted models.Privilege) bool {
	full := managesMetadata(held) || held == models.TableFullMetadata
	switch wanted {
	case models.TableFullMetadata:
		return managesMetadata(held)
	case models.TableCreate, models.TableDrop:
		return full
	case models.TableReadData:
		return held == models.CatalogManageContent || held == models.TableWriteData
	case models.TableWriteData:
		return held == models.CatalogManageContent
	case models.TableWriteProperties:
		return full || held == models.TableWriteData
	case models.TableReadProperties:
		return full || usesTable(held)
	case models.TableList:
		return full || usesTable(held) || held == models.TableReadProperties || held == models.TableCreate
	}
	return impliesUpdate(held, wanted)
}

// usesTable tells whether the privilege is one to read or write a table, for which its metadata must be seen.
func usesTable(held models.Privilege) bool {
	return held == models.TableReadData || held == models.TableWriteData || held == models.TableWriteProperties
}

// impliesUpdate is the fine-grained privileges, one for each metadata update.
func impliesUpdate(held, wanted models.Privilege) bool {
	structure := managesMetadata(held) || held == models.TableFullMetadata || held == models.TableWriteProperties
	switch wanted {
	case models.TableAddSnapshot:
		return held == models.TableWriteData || held == models.CatalogManageContent
	case models.TableSetSnapshotRef:
		return structure || held == models.TableWriteData
	case models.TableRemoveSnapshots, models.TableRemoveSnapshotRef,
		models.TableSetProperties, models.TableRemoveProperties,
		models.TableSetStatistics, models.TableRemoveStatistics:
		return structure || held == models.TableWriteData || held == models.TableManageStructure
	case models.TableAssignUUID, models.TableUpgradeFormatVersion,
		models.TableAddSchema, models.TableSetCurrentSchema,
		models.TableAddPartitionSpec, models.TableRemovePartitionSpecs,
		models.TableAddSortOrder, models.TableSetDefaultSortOrder, models.TableSetLocation:
		return structure || held == models.TableManageStructure
	case models.TableManageStructure:
		return structure
	}
	return false
}
