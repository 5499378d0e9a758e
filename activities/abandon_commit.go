package activities

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// AbandonCommitInput names a commit that can no longer be reconciled.
type AbandonCommitInput struct {
	Target     Target `json:"target"`
	Catalog    string `json:"catalog,omitempty"` // name
	Gone       Gone   `json:"gone"`
	WorkflowID string `json:"workflowId"`
}

// AbandonCommitResult tells whether this run made the record.
type AbandonCommitResult struct {
	Recorded bool `json:"recorded,omitempty"`
}

// AbandonCommit closes the ledger row of a commit whose table, or whose snapshot with its metadata, is gone, and says so
// in the audit once. It is idempotent by the ledger row's status and the dedupe key abandoned/<table-id>/<snapshot-id>; a
// commit that was reconciled before stays reconciled.
func (a *Activities) AbandonCommit(ctx context.Context, in AbandonCommitInput) (AbandonCommitResult, error) {
	recorded, err := a.abandonCommit(ctx, in)
	return AbandonCommitResult{Recorded: recorded}, toTemporal(ctx, err)
}

func (a *Activities) abandonCommit(ctx context.Context, in AbandonCommitInput) (bool, error) {
	t := in.Target
	commit, err := a.ports.Ledger.Commit(ctx, t.TableID, t.SnapshotID)
	if fault.Is(err, fault.NotFound) {
		return false, nil // nothing was ever promised for it
	}
	if err != nil || commit.Status != models.CommitPending {
		return false, err
	}
	now := a.ports.Now().UTC()
	finish(&commit, models.CommitAbandoned, in.WorkflowID, now)
	event := a.auditEvent(commit, in.Catalog, now)
	event.Type = models.AuditCommitAbandoned
	event.DedupeKey = dedupeKey("abandoned", t)
	event.Details.V = commitDetails(commit, in.WorkflowID)
	event.Details.V["gone"] = string(in.Gone)
	return a.recordRow(ctx, Recording{Commit: commit, Audit: event})
}
