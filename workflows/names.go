package workflows

// Task queues. Reconciliation has its own, so that maintenance never delays an audit event.
const (
	ReconcileQueue   = "sluice-reconcile"
	MaintenanceQueue = "sluice-maintenance"
)

// Names under which the workflows are registered.
const (
	ReconcileCommitName = "ReconcileCommit"
	ReconcileBatchName  = "ReconcileBatch"
	SweepCatalogName    = "SweepCatalog"
	SweepDroppedName    = "SweepDropped"
	PurgeTableName      = "PurgeTable"
	CheckFilesName      = "CheckFiles"
	CheckTablesName     = "CheckTables"
	WatchWritersName    = "WatchWriters"
)

// ProgressQuery is answered by every workflow with its Progress.
const ProgressQuery = "progress"

// BatchFailedError is the type of the error that ends a ReconcileBatch some of whose tables failed. Its details are
// the []TableFailure; the sweep starts what is missing.
const BatchFailedError = "sluice.batch_failed"

// DestructiveWorkflows names the workflows that delete what cannot be had back. No route, command or schedule starts one:
// the sweep does, for what somebody dropped long enough ago.
func DestructiveWorkflows() []string { return []string{PurgeTableName} }
