package policy

import "github.com/sluice-data/sluice/models"

// On says which of the objects of an operation a privilege is needed on.
type On string

// The objects of operations.
const (
	Object      On = "object"      // what is read or changed: a catalog, a namespace, a table or a view
	Parent      On = "parent"      // what something is made in: a catalog or a namespace
	Source      On = "source"      // what is taken from where it is
	Destination On = "destination" // the namespace that it is taken to
	Service     On = "service"     // the installation, whose privileges come from service_admin alone
)

// Need is one privilege that an operation takes.
type Need struct {
	Privilege models.Privilege
	On        On
}

// needs is the needs of one operation; unused ones are zero.
type needs [3]Need

// to adds what is needed on the destination.
func (n needs) to(privileges ...models.Privilege) needs {
	for i := range n {
		if n[i].Privilege == "" && len(privileges) > 0 {
			n[i], privileges = Need{privileges[0], Destination}, privileges[1:]
		}
	}
	return n
}

func on(on On, privileges ...models.Privilege) needs {
	var n needs
	for i, p := range privileges {
		n[i] = Need{p, on}
	}
	return n
}

// Needs gives all the privileges that the operation takes; none for what anybody may do who is let in, such as rotating
// one's own credentials. It is Apache Polaris's table, but for what Sluice offers alone, and for these:
//
//   - Commits are judged update by update and then by the write policy (Decide).
//   - Principals and principal roles take SERVICE_MANAGE_ACCESS, catalog roles, their assignment and grants
//     CATALOG_MANAGE_ACCESS, for which Polaris has finer ones that it cannot grant.
//   - Lists need nothing themselves: each object that is listed takes the privilege of the list. Who sees any object knows
//     of what it lies in too: see Caller.SeesNamespace.
func (op Operation) Needs() []Need {
	all := op.needs()
	for i := range all {
		if all[i].Privilege == "" {
			return all[:i]
		}
	}
	return all[:]
}

func (op Operation) needs() needs {
	if n, ok := tableNeeds(op); ok {
		return n
	}
	if n, ok := namespaceNeeds(op); ok {
		return n
	}
	if p := updatePrivilege(op); p != "" {
		return on(Object, p)
	}
	if n, ok := governanceNeeds(op); ok {
		return n
	}
	return managementNeeds(op)
}

func namespaceNeeds(op Operation) (needs, bool) {
	switch op {
	case ListNamespaces, NamespaceExists:
		return on(Object, models.NamespaceList), true
	case CreateNamespace:
		return on(Parent, models.NamespaceCreate), true
	case LoadNamespaceMetadata:
		return on(Object, models.NamespaceReadProperties), true
	case DropNamespace:
		return on(Object, models.NamespaceDrop), true
	case UpdateNamespaceProperties:
		return on(Object, models.NamespaceWriteProperties), true
	}
	return viewNeeds(op)
}

func tableNeeds(op Operation) (needs, bool) {
	switch op {
	case ListTables, TableExists:
		return on(Object, models.TableList), true
	case CreateTableDirect, CreateTableStaged, UpdateTableForStagedCreate, RegisterTable:
		return on(Parent, models.TableCreate), true
	case WriteDataForStagedCreate:
		return on(Parent, models.TableWriteData), true
	case RegisterTableOverwrite:
		return on(Object, models.TableFullMetadata), true
	case LoadTable:
		return on(Object, models.TableReadProperties), true
	case LoadTableWithReadDelegation, PlanTableScan, ReportReadMetrics:
		return on(Object, models.TableReadData), true
	case LoadTableWithWriteDelegation, ReportWriteMetrics:
		return on(Object, models.TableWriteData), true
	case DropTableWithoutPurge, UnregisterTable:
		return on(Object, models.TableDrop), true
	case DropTableWithPurge:
		return on(Object, models.TableDrop, models.TableWriteData), true
	case RenameTable:
		return on(Source, models.TableDrop).to(models.TableList, models.TableCreate), true
	}
	return needs{}, false
}

func viewNeeds(op Operation) (needs, bool) {
	switch op {
	case ListViews, ViewExists:
		return on(Object, models.ViewList), true
	case CreateView, RegisterView:
		return on(Parent, models.ViewCreate), true
	case LoadView:
		return on(Object, models.ViewReadProperties), true
	case ReplaceView:
		return on(Object, models.ViewWriteProperties), true
	case DropView:
		return on(Object, models.ViewDrop), true
	case RenameView:
		return on(Source, models.ViewDrop).to(models.ViewList, models.ViewCreate), true
	}
	return needs{}, false
}

// updatePrivilege gives the privilege that an update of a table's metadata takes, "" for another operation.
func updatePrivilege(op Operation) models.Privilege {
	switch op {
	case AssignTableUUID:
		return models.TableAssignUUID
	case UpgradeTableFormatVersion:
		return models.TableUpgradeFormatVersion
	case AddTableSchema:
		return models.TableAddSchema
	case SetTableCurrentSchema:
		return models.TableSetCurrentSchema
	case AddTablePartitionSpec:
		return models.TableAddPartitionSpec
	case RemoveTablePartitionSpecs:
		return models.TableRemovePartitionSpecs
	case AddTableSortOrder:
		return models.TableAddSortOrder
	case SetTableDefaultSortOrder:
		return models.TableSetDefaultSortOrder
	case SetTableLocation:
		return models.TableSetLocation
	case ChangeTableStructure:
		return models.TableManageStructure
	}
	return upkeepPrivilege(op)
}

// upkeepPrivilege is updatePrivilege for what leaves a table's structure as it is.
func upkeepPrivilege(op Operation) models.Privilege {
	switch op {
	case AddTableSnapshot:
		return models.TableAddSnapshot
	case SetTableSnapshotRef:
		return models.TableSetSnapshotRef
	case RemoveTableSnapshots:
		return models.TableRemoveSnapshots
	case RemoveTableSnapshotRef:
		return models.TableRemoveSnapshotRef
	case SetTableProperties:
		return models.TableSetProperties
	case RemoveTableProperties:
		return models.TableRemoveProperties
	case SetTableStatistics:
		return models.TableSetStatistics
	case RemoveTableStatistics:
		return models.TableRemoveStatistics
	}
	return ""
}

func governanceNeeds(op Operation) (needs, bool) {
	switch op {
	case CommitAsSteward:
		return on(Object, models.TableGovern), true
	case ReconcileTable:
		return on(Object, models.TableWriteProperties), true
	case ReadTableState, ListTableStates, ListCommits, ListMetricsReports, ListWriters, CheckTable:
		return on(Object, models.TableReadProperties), true
	case ReadAudit, ReadRowAudit:
		return on(Object, models.AuditRead), true
	case QueryRows:
		return on(Object, models.DataRead), true
	case WriteRows:
		return on(Object, models.DataWrite), true
	case SetRowFilters, ReadRowFilters, SetDefaultClassification,
		SetWritePolicy, SetDefaultWritePolicy, SetClassification, SetProtection, ResolveFinding, SetDuplicateCommits, DeclareWriter, UpdateWriter, RetireWriter,
		ExplainAccessInCatalog:
		return on(Object, models.CatalogManageAccess), true
	case ListDroppedTables:
		return on(Object, models.TableList), true
	case ForgetDroppedTable, RegisterDroppedTable:
		return on(Object, models.TableDrop), true
	case UndropTable:
		return on(Source, models.TableDrop).to(models.TableCreate), true
	case ListAllCommits, ListAllMetricsReports, ListAllWriters, ReadAllAudit, MintTokenForOther, ListTokensOfOthers, RevokeTokenOfOther, ExplainAccess:
		return on(Service, models.ServiceManageAccess), true
	}
	return needs{}, false
}

func managementNeeds(op Operation) needs {
	switch op {
	case GetCatalog:
		return on(Object, models.CatalogReadProperties)
	case UpdateCatalog:
		return on(Object, models.CatalogWriteProperties)
	case RotateCredentials:
		return needs{}
	case ListCatalogRoles, CreateCatalogRole, GetCatalogRole, UpdateCatalogRole, DeleteCatalogRole,
		ListCatalogRolesForPrincipalRole, AssignCatalogRoleToPrincipalRole, RevokeCatalogRoleFromPrincipalRole,
		ListAssigneePrincipalRolesForCatalogRole, ListGrantsForCatalogRole,
		AddCatalogGrantToCatalogRole, AddNamespaceGrantToCatalogRole, AddTableGrantToCatalogRole, AddViewGrantToCatalogRole,
		RevokeCatalogGrantFromCatalogRole, RevokeNamespaceGrantFromCatalogRole, RevokeTableGrantFromCatalogRole,
		RevokeViewGrantFromCatalogRole:
		return on(Object, models.CatalogManageAccess)
	}
	// All the rest, and whatever is not in the table yet.
	return on(Service, models.ServiceManageAccess)
}
