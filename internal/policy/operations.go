package policy

// Operation is one thing that the product offers to its clients. What Apache Polaris offers too has its name there. Needs
// says what each takes.
type Operation string

// Operations of the Iceberg catalog on namespaces, tables and views.
const (
	ListNamespaces            Operation = "LIST_NAMESPACES"
	CreateNamespace           Operation = "CREATE_NAMESPACE"
	LoadNamespaceMetadata     Operation = "LOAD_NAMESPACE_METADATA"
	NamespaceExists           Operation = "NAMESPACE_EXISTS"
	DropNamespace             Operation = "DROP_NAMESPACE"
	UpdateNamespaceProperties Operation = "UPDATE_NAMESPACE_PROPERTIES"

	ListTables                  Operation = "LIST_TABLES"
	CreateTableDirect           Operation = "CREATE_TABLE_DIRECT"
	CreateTableStaged           Operation = "CREATE_TABLE_STAGED"
	UpdateTableForStagedCreate  Operation = "UPDATE_TABLE_FOR_STAGED_CREATE"
	WriteDataForStagedCreate    Operation = "WRITE_DATA_FOR_STAGED_CREATE" // its first snapshots, besides
	RegisterTable               Operation = "REGISTER_TABLE"
	RegisterTableOverwrite      Operation = "REGISTER_TABLE_OVERWRITE"
	LoadTable                   Operation = "LOAD_TABLE"
	LoadTableWithReadDelegation Operation = "LOAD_TABLE_WITH_READ_DELEGATION" // credentials or signatures for its files
	// LoadTableWithWriteDelegation is credentials or signatures that write.
	LoadTableWithWriteDelegation Operation = "LOAD_TABLE_WITH_WRITE_DELEGATION"
	PlanTableScan                Operation = "PLAN_TABLE_SCAN"
	TableExists                  Operation = "TABLE_EXISTS"
	DropTableWithoutPurge        Operation = "DROP_TABLE_WITHOUT_PURGE"
	DropTableWithPurge           Operation = "DROP_TABLE_WITH_PURGE"
	UnregisterTable              Operation = "UNREGISTER_TABLE"
	RenameTable                  Operation = "RENAME_TABLE"
	ReportReadMetrics            Operation = "REPORT_READ_METRICS"
	ReportWriteMetrics           Operation = "REPORT_WRITE_METRICS"

	ListViews    Operation = "LIST_VIEWS"
	CreateView   Operation = "CREATE_VIEW"
	RegisterView Operation = "REGISTER_VIEW"
	LoadView     Operation = "LOAD_VIEW"
	ViewExists   Operation = "VIEW_EXISTS"
	ReplaceView  Operation = "REPLACE_VIEW"
	DropView     Operation = "DROP_VIEW"
	RenameView   Operation = "RENAME_VIEW"
)

// Operations on a table's metadata: a commit is as many as it has updates. OperationFor tells which update is which.
const (
	AssignTableUUID           Operation = "ASSIGN_TABLE_UUID"
	UpgradeTableFormatVersion Operation = "UPGRADE_TABLE_FORMAT_VERSION"
	AddTableSchema            Operation = "ADD_TABLE_SCHEMA"
	SetTableCurrentSchema     Operation = "SET_TABLE_CURRENT_SCHEMA"
	AddTablePartitionSpec     Operation = "ADD_TABLE_PARTITION_SPEC"
	RemoveTablePartitionSpecs Operation = "REMOVE_TABLE_PARTITION_SPECS"
	AddTableSortOrder         Operation = "ADD_TABLE_SORT_ORDER"
	SetTableDefaultSortOrder  Operation = "SET_TABLE_DEFAULT_SORT_ORDER"
	AddTableSnapshot          Operation = "ADD_TABLE_SNAPSHOT"
	SetTableSnapshotRef       Operation = "SET_TABLE_SNAPSHOT_REF"
	RemoveTableSnapshots      Operation = "REMOVE_TABLE_SNAPSHOTS"
	RemoveTableSnapshotRef    Operation = "REMOVE_TABLE_SNAPSHOT_REF"
	SetTableLocation          Operation = "SET_TABLE_LOCATION"
	SetTableProperties        Operation = "SET_TABLE_PROPERTIES"
	RemoveTableProperties     Operation = "REMOVE_TABLE_PROPERTIES"
	SetTableStatistics        Operation = "SET_TABLE_STATISTICS"
	RemoveTableStatistics     Operation = "REMOVE_TABLE_STATISTICS"
	ChangeTableStructure      Operation = "CHANGE_TABLE_STRUCTURE" // what no other update covers: schemas removed, keys
	CommitAsSteward           Operation = "COMMIT_AS_STEWARD"      // whatever the table's write policy says
	ReconcileTable            Operation = "RECONCILE_TABLE"
	ReadTableState            Operation = "READ_TABLE_STATE"
	ListTableStates           Operation = "LIST_TABLE_STATES"
	ListCommits               Operation = "LIST_COMMITS"
	ListMetricsReports        Operation = "LIST_METRICS_REPORTS"
	ListAllCommits            Operation = "LIST_ALL_COMMITS" // of every catalog
	ListAllMetricsReports     Operation = "LIST_ALL_METRICS_REPORTS"
	ListWriters               Operation = "LIST_WRITERS"
	ListAllWriters            Operation = "LIST_ALL_WRITERS"
	CheckTable                Operation = "CHECK_TABLE" // whether the files are there that its snapshots stand on
	ReadAudit                 Operation = "READ_AUDIT"
	ReadAllAudit              Operation = "READ_ALL_AUDIT"
	QueryRows                 Operation = "QUERY_ROWS"     // through the governed data plane
	WriteRows                 Operation = "WRITE_ROWS"     // likewise
	ReadRowAudit              Operation = "READ_ROW_AUDIT" // which rows governed writes landed
	SetRowFilters             Operation = "SET_ROW_FILTERS"
	ReadRowFilters            Operation = "READ_ROW_FILTERS"
	SetDefaultClassification  Operation = "SET_DEFAULT_CLASSIFICATION" // of a catalog or a namespace
	SetWritePolicy            Operation = "SET_WRITE_POLICY"
	SetDefaultWritePolicy     Operation = "SET_DEFAULT_WRITE_POLICY" // of a catalog or a namespace
	SetClassification         Operation = "SET_CLASSIFICATION"
	SetProtection             Operation = "SET_PROTECTION"
	ResolveFinding            Operation = "RESOLVE_FINDING"
	SetDuplicateCommits       Operation = "SET_DUPLICATE_COMMITS"
	DeclareWriter             Operation = "DECLARE_WRITER"
	UpdateWriter              Operation = "UPDATE_WRITER"
	RetireWriter              Operation = "RETIRE_WRITER"
	ListDroppedTables         Operation = "LIST_DROPPED_TABLES"
	UndropTable               Operation = "UNDROP_TABLE"
	ForgetDroppedTable        Operation = "FORGET_DROPPED_TABLE"
	RegisterDroppedTable      Operation = "REGISTER_DROPPED_TABLE" // a table that may be undropped, besides REGISTER_TABLE
	MintTokenForOther         Operation = "MINT_TOKEN_FOR_OTHER"   //nolint:gosec // a name
	ListTokensOfOthers        Operation = "LIST_TOKENS_OF_OTHERS"  //nolint:gosec // a name
	RevokeTokenOfOther        Operation = "REVOKE_TOKEN_OF_OTHER"
	ExplainAccess             Operation = "EXPLAIN_ACCESS"            // of another principal, anywhere
	ExplainAccessInCatalog    Operation = "EXPLAIN_ACCESS_IN_CATALOG" // of another principal, to what is in a catalog
)

// Operations of the management API. Credentials are rotated by who has them, and need no privilege.
const (
	ListCatalogs         Operation = "LIST_CATALOGS" // those that one holds nothing on
	CreateCatalog        Operation = "CREATE_CATALOG"
	GetCatalog           Operation = "GET_CATALOG"
	UpdateCatalog        Operation = "UPDATE_CATALOG"
	UpdateCatalogStorage Operation = "UPDATE_CATALOG_STORAGE" // where a catalog's files may lie and how they are reached
	DeleteCatalog        Operation = "DELETE_CATALOG"

	ListPrincipals    Operation = "LIST_PRINCIPALS"
	CreatePrincipal   Operation = "CREATE_PRINCIPAL"
	GetPrincipal      Operation = "GET_PRINCIPAL"
	UpdatePrincipal   Operation = "UPDATE_PRINCIPAL"
	DeletePrincipal   Operation = "DELETE_PRINCIPAL"
	RotateCredentials Operation = "ROTATE_CREDENTIALS" //nolint:gosec // a name
	ResetCredentials  Operation = "RESET_CREDENTIALS"  //nolint:gosec // a name

	ListPrincipalRoles                       Operation = "LIST_PRINCIPAL_ROLES"
	CreatePrincipalRole                      Operation = "CREATE_PRINCIPAL_ROLE"
	GetPrincipalRole                         Operation = "GET_PRINCIPAL_ROLE"
	UpdatePrincipalRole                      Operation = "UPDATE_PRINCIPAL_ROLE"
	DeletePrincipalRole                      Operation = "DELETE_PRINCIPAL_ROLE"
	ListPrincipalRolesAssigned               Operation = "LIST_PRINCIPAL_ROLES_ASSIGNED"
	AssignPrincipalRole                      Operation = "ASSIGN_PRINCIPAL_ROLE"
	RevokePrincipalRole                      Operation = "REVOKE_PRINCIPAL_ROLE"
	ListAssigneePrincipalsForPrincipalRole   Operation = "LIST_ASSIGNEE_PRINCIPALS_FOR_PRINCIPAL_ROLE"
	ListCatalogRoles                         Operation = "LIST_CATALOG_ROLES"
	CreateCatalogRole                        Operation = "CREATE_CATALOG_ROLE"
	GetCatalogRole                           Operation = "GET_CATALOG_ROLE"
	UpdateCatalogRole                        Operation = "UPDATE_CATALOG_ROLE"
	DeleteCatalogRole                        Operation = "DELETE_CATALOG_ROLE"
	ListCatalogRolesForPrincipalRole         Operation = "LIST_CATALOG_ROLES_FOR_PRINCIPAL_ROLE"
	AssignCatalogRoleToPrincipalRole         Operation = "ASSIGN_CATALOG_ROLE_TO_PRINCIPAL_ROLE"
	RevokeCatalogRoleFromPrincipalRole       Operation = "REVOKE_CATALOG_ROLE_FROM_PRINCIPAL_ROLE"
	ListAssigneePrincipalRolesForCatalogRole Operation = "LIST_ASSIGNEE_PRINCIPAL_ROLES_FOR_CATALOG_ROLE"

	ListGrantsForCatalogRole            Operation = "LIST_GRANTS_FOR_CATALOG_ROLE"
	AddCatalogGrantToCatalogRole        Operation = "ADD_CATALOG_GRANT_TO_CATALOG_ROLE"
	AddNamespaceGrantToCatalogRole      Operation = "ADD_NAMESPACE_GRANT_TO_CATALOG_ROLE"
	AddTableGrantToCatalogRole          Operation = "ADD_TABLE_GRANT_TO_CATALOG_ROLE"
	AddViewGrantToCatalogRole           Operation = "ADD_VIEW_GRANT_TO_CATALOG_ROLE"
	RevokeCatalogGrantFromCatalogRole   Operation = "REVOKE_CATALOG_GRANT_FROM_CATALOG_ROLE"
	RevokeNamespaceGrantFromCatalogRole Operation = "REVOKE_NAMESPACE_GRANT_FROM_CATALOG_ROLE"
	RevokeTableGrantFromCatalogRole     Operation = "REVOKE_TABLE_GRANT_FROM_CATALOG_ROLE"
	RevokeViewGrantFromCatalogRole      Operation = "REVOKE_VIEW_GRANT_FROM_CATALOG_ROLE"
)

// Operations gives every operation, those of the catalog first.
func Operations() []Operation {
	return []Operation{
		ListNamespaces, CreateNamespace, LoadNamespaceMetadata, NamespaceExists, DropNamespace, UpdateNamespaceProperties,
		ListTables, CreateTableDirect, CreateTableStaged, UpdateTableForStagedCreate, WriteDataForStagedCreate, RegisterTable,
		RegisterTableOverwrite, LoadTable, LoadTableWithReadDelegation, LoadTableWithWriteDelegation, PlanTableScan, TableExists,
		DropTableWithoutPurge, DropTableWithPurge, UnregisterTable, RenameTable, ReportReadMetrics, ReportWriteMetrics,
		ListViews, CreateView, RegisterView, LoadView, ViewExists, ReplaceView, DropView, RenameView,
		AssignTableUUID, UpgradeTableFormatVersion, AddTableSchema, SetTableCurrentSchema, AddTablePartitionSpec,
		RemoveTablePartitionSpecs, AddTableSortOrder, SetTableDefaultSortOrder, AddTableSnapshot, SetTableSnapshotRef,
		RemoveTableSnapshots, RemoveTableSnapshotRef, SetTableLocation, SetTableProperties, RemoveTableProperties,
		SetTableStatistics, RemoveTableStatistics, ChangeTableStructure,
		CommitAsSteward, ReconcileTable, ReadTableState, ListTableStates, ListCommits, ListMetricsReports, ListAllCommits,
		ListAllMetricsReports, ListWriters, ListAllWriters, CheckTable, ReadAudit, ReadAllAudit,
		QueryRows, WriteRows, ReadRowAudit, SetRowFilters, ReadRowFilters, SetDefaultClassification, SetWritePolicy, SetDefaultWritePolicy, SetClassification, SetProtection, ResolveFinding,
		SetDuplicateCommits, DeclareWriter, UpdateWriter, RetireWriter,
		ListDroppedTables, UndropTable, ForgetDroppedTable, RegisterDroppedTable,
		MintTokenForOther, ListTokensOfOthers, RevokeTokenOfOther, ExplainAccess, ExplainAccessInCatalog,
		ListCatalogs, CreateCatalog, GetCatalog, UpdateCatalog, UpdateCatalogStorage, DeleteCatalog,
		ListPrincipals, CreatePrincipal, GetPrincipal, UpdatePrincipal, DeletePrincipal, RotateCredentials, ResetCredentials,
		ListPrincipalRoles, CreatePrincipalRole, GetPrincipalRole, UpdatePrincipalRole, DeletePrincipalRole,
		ListPrincipalRolesAssigned, AssignPrincipalRole, RevokePrincipalRole, ListAssigneePrincipalsForPrincipalRole,
		ListCatalogRoles, CreateCatalogRole, GetCatalogRole, UpdateCatalogRole, DeleteCatalogRole,
		ListCatalogRolesForPrincipalRole, AssignCatalogRoleToPrincipalRole, RevokeCatalogRoleFromPrincipalRole,
		ListAssigneePrincipalRolesForCatalogRole,
		ListGrantsForCatalogRole, AddCatalogGrantToCatalogRole, AddNamespaceGrantToCatalogRole, AddTableGrantToCatalogRole,
		AddViewGrantToCatalogRole, RevokeCatalogGrantFromCatalogRole, RevokeNamespaceGrantFromCatalogRole,
		RevokeTableGrantFromCatalogRole, RevokeViewGrantFromCatalogRole,
	}
}
