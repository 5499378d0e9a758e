package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

const (
	// ExportAuditName is the name under which ExportAudit is registered.
	ExportAuditName = "ExportAudit"
	// ExportAuditScheduleID is its schedule, and the start of its runs' workflow ids.
	ExportAuditScheduleID = "export-audit"

	// defaultExportEvery is how often ExportAudit runs where nothing is exported: old events are removed so often.
	defaultExportEvery = time.Hour
)

// Stages of ExportAudit.
const (
	stageExporting = "exporting"
	stagePruning   = "pruning"
)

// ExportAuditInput carries over what was done when a run is continued as a new one.
type ExportAuditInput struct {
	Done ExportAuditResult `json:"done,omitzero"`
}

// ExportAuditResult counts events.
type ExportAuditResult struct {
	Exported int64 `json:"exported"`
	Pruned   int64 `json:"pruned"`
}

// ExportAudit brings the exported table of the audit up to date, page by page, and then removes events that are older than
// the retention. An export that fails does not hold up the removal: that leaves what is not exported.
func ExportAudit(ctx workflow.Context, in ExportAuditInput) (ExportAuditResult, error) {
	done := in.Done
	progress := Progress{Stage: stageExporting}
	if err := progress.answer(ctx); err != nil {
		return done, err
	}
	var failed error
	for {
		page, err := ordinary(ctx, sweeping(), references().ExportAudit, activities.ExportAuditInput{})
		if failed = err; err != nil {
			break
		}
		done.Exported += page.Events
		if !page.More {
			break
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return ExportAuditResult{}, workflow.NewContinueAsNewError(ctx, ExportAudit, ExportAuditInput{Done: done})
		}
	}
	progress.Stage = stagePruning
	pruned, err := ordinary(ctx, sweeping(), references().PruneAudit, activities.PruneAuditInput{})
	if err != nil {
		return done, err
	}
	done.Pruned = pruned.Events
	progress.Stage = stageDone
	return done, failed
}
