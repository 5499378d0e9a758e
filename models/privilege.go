package models

// Privilege is the name of a right, in Apache Polaris's vocabulary where it has one.
type Privilege string

// The privileges. internal/policy says which implies which.
const (
	CatalogManageAccess    Privilege = "CATALOG_MANAGE_ACCESS"
	CatalogManageContent   Privilege = "CATALOG_MANAGE_CONTENT"
	CatalogManageMetadata  Privilege = "CATALOG_MANAGE_METADATA"
	CatalogReadProperties  Privilege = "CATALOG_READ_PROPERTIES"
	CatalogWriteProperties Privilege = "CATALOG_WRITE_PROPERTIES"

	NamespaceCreate          Privilege = "NAMESPACE_CREATE"
	NamespaceDrop            Privilege = "NAMESPACE_DROP"
	NamespaceList            Privilege = "NAMESPACE_LIST"
	NamespaceReadProperties  Privilege = "NAMESPACE_READ_PROPERTIES"
	NamespaceWriteProperties Privilege = "NAMESPACE_WRITE_PROPERTIES"
	NamespaceFullMetadata    Privilege = "NAMESPACE_FULL_METADATA"

	TableCreate          Privilege = "TABLE_CREATE"
	TableDrop            Privilege = "TABLE_DROP"
	TableList            Privilege = "TABLE_LIST"
	TableReadProperties  Privilege = "TABLE_READ_PROPERTIES"
	TableWriteProperties Privilege = "TABLE_WRITE_PROPERTIES"
	TableReadData        Privilege = "TABLE_READ_DATA"
	TableWriteData       Privilege = "TABLE_WRITE_DATA"
	TableFullMetadata    Privilege = "TABLE_FULL_METADATA"

	TableAssignUUID           Privilege = "TABLE_ASSIGN_UUID"
	TableUpgradeFormatVersion Privilege = "TABLE_UPGRADE_FORMAT_VERSION"
	TableAddSchema            Privilege = "TABLE_ADD_SCHEMA"
	TableSetCurrentSchema     Privilege = "TABLE_SET_CURRENT_SCHEMA"
	TableAddPartitionSpec     Privilege = "TABLE_ADD_PARTITION_SPEC"
	TableAddSortOrder         Privilege = "TABLE_ADD_SORT_ORDER"
	TableSetDefaultSortOrder  Privilege = "TABLE_SET_DEFAULT_SORT_ORDER"
	TableAddSnapshot          Privilege = "TABLE_ADD_SNAPSHOT"
	TableSetSnapshotRef       Privilege = "TABLE_SET_SNAPSHOT_REF"
	TableRemoveSnapshots      Privilege = "TABLE_REMOVE_SNAPSHOTS"
	TableRemoveSnapshotRef    Privilege = "TABLE_REMOVE_SNAPSHOT_REF"
	TableSetLocation          Privilege = "TABLE_SET_LOCATION"
	TableSetProperties        Privilege = "TABLE_SET_PROPERTIES"
	TableRemoveProperties     Privilege = "TABLE_REMOVE_PROPERTIES"
	TableSetStatistics        Privilege = "TABLE_SET_STATISTICS"
	TableRemoveStatistics     Privilege = "TABLE_REMOVE_STATISTICS"
	TableRemovePartitionSpecs Privilege = "TABLE_REMOVE_PARTITION_SPECS"
	TableManageStructure      Privilege = "TABLE_MANAGE_STRUCTURE"

	ViewCreate          Privilege = "VIEW_CREATE"
	ViewDrop            Privilege = "VIEW_DROP"
	ViewList            Privilege = "VIEW_LIST"
	ViewReadProperties  Privilege = "VIEW_READ_PROPERTIES"
	ViewWriteProperties Privilege = "VIEW_WRITE_PROPERTIES"
	ViewFullMetadata    Privilege = "VIEW_FULL_METADATA"

	ServiceManageAccess Privilege = "SERVICE_MANAGE_ACCESS"

	// Polaris's privileges on its policies, which Sluice has none of: they can be granted, so that Polaris's set-up files
	// apply, and nothing asks for them.
	PolicyCreate          Privilege = "POLICY_CREATE"
	PolicyWrite           Privilege = "POLICY_WRITE"
	PolicyRead            Privilege = "POLICY_READ"
	PolicyDrop            Privilege = "POLICY_DROP"
	PolicyList            Privilege = "POLICY_LIST"
	PolicyFullMetadata    Privilege = "POLICY_FULL_METADATA"
	CatalogAttachPolicy   Privilege = "CATALOG_ATTACH_POLICY"
	CatalogDetachPolicy   Privilege = "CATALOG_DETACH_POLICY"
	NamespaceAttachPolicy Privilege = "NAMESPACE_ATTACH_POLICY"
	NamespaceDetachPolicy Privilege = "NAMESPACE_DETACH_POLICY"
	TableAttachPolicy     Privilege = "TABLE_ATTACH_POLICY"
	TableDetachPolicy     Privilege = "TABLE_DETACH_POLICY"

	TableGovern Privilege = "TABLE_GOVERN" // commits as a steward; implied by nothing
	AuditRead   Privilege = "AUDIT_READ"
	DataRead    Privilege = "DATA_READ"
	DataWrite   Privilege = "DATA_WRITE"
)
