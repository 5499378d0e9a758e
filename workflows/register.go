package workflows

import (
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// RegisterWorkflows registers every workflow under its pinned name. Workers and replay tests use it alike.
func RegisterWorkflows(r worker.WorkflowRegistry) {
	for _, w := range []struct {
		name string
		fn   any
	}{
		{ReconcileCommitName, ReconcileCommit},
		{ReconcileBatchName, ReconcileBatch},
		{SweepCatalogName, SweepCatalog},
		{SweepDroppedName, SweepDropped},
		{PurgeTableName, PurgeTable},
		{CheckFilesName, CheckFiles},
		{CheckTablesName, CheckTables},
		{WatchWritersName, WatchWriters},
		{DeliverWebhooksName, DeliverWebhooks},
		{ExportAuditName, ExportAudit},
		{WriteRowsName, WriteRows},
	} {
		r.RegisterWorkflowWithOptions(w.fn, workflow.RegisterOptions{Name: w.name})
	}
}

// RegisterActivities registers every activity under its pinned name.
func RegisterActivities(r worker.ActivityRegistry, a *activities.Activities) {
	for _, act := range []struct {
		name string
		fn   any
	}{
		{activities.DetectCommitsName, a.DetectCommits},
		{activities.RecountSnapshotName, a.RecountSnapshot},
		{activities.RestampTableName, a.RestampTable},
		{activities.RecordCommitName, a.RecordCommit},
		{activities.AbandonCommitName, a.AbandonCommit},
		{activities.FindDriftName, a.FindDrift},
		{activities.RecordFilesName, a.RecordFiles},
		{activities.CheckFilePageName, a.CheckFilePage},
		{activities.CheckTablePageName, a.CheckTablePage},
		{activities.WatchWriterPageName, a.WatchWriterPage},
		{activities.WatchTablePageName, a.WatchTablePage},
		{activities.TidyFindingsName, a.TidyFindings},
		{activities.FanOutWebhooksName, a.FanOutWebhooks},
		{activities.DeliverPageName, a.DeliverPage},
		{activities.ExportAuditName, a.ExportAudit},
		{activities.PruneAuditName, a.PruneAudit},
		{activities.WriteRowsChunkName, a.WriteRowsChunk},
		{activities.CommitRowsName, a.CommitRows},
		{activities.CleanRowsName, a.CleanRows},
		{activities.StartDuePurgesName, a.StartDuePurges},
		{activities.ClaimPurgeName, a.ClaimPurge},
		{activities.PurgeDataFilesName, a.PurgeDataFiles},
		{activities.PurgeMetadataFilesName, a.PurgeMetadataFiles},
		{activities.PurgeLeftoversName, a.PurgeLeftovers},
		{activities.FinishPurgeName, a.FinishPurge},
	} {
		r.RegisterActivityWithOptions(act.fn, activity.RegisterOptions{Name: act.name})
	}
}
