package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

// ClaimPurgeInput names the record.
type ClaimPurgeInput struct {
	Target PurgeTarget `json:"target"`
}

// ClaimPurgeResult tells whether the files may be deleted, and what the record is.
type ClaimPurgeResult struct {
	Claimed bool             `json:"claimed,omitempty"`
	State   models.DropState `json:"state"`
}

// ClaimPurge takes a dropped table out of reach of an undrop, once it is due. It is idempotent by the record's state: one
// that is purging is claimed again, one that came back or is purged never. What other tables refer to is read once before
// the first claim: while that cannot be done the purge could not go on, and the table can still come back.
func (a *Activities) ClaimPurge(ctx context.Context, in ClaimPurgeInput) (ClaimPurgeResult, error) {
	record, err := a.ports.Purges.DroppedTable(ctx, in.Target.DropID)
	if err == nil && record.State == models.StateDropped {
		_, _, err = a.spare(ctx, record, maintenance.FileSet{}, func() { activity.RecordHeartbeat(ctx) })
	}
	if err != nil {
		return ClaimPurgeResult{}, toTemporal(ctx, err)
	}
	record, claimed, err := a.ports.Purges.ClaimPurge(ctx, in.Target.DropID, a.ports.Now().UTC())
	return ClaimPurgeResult{Claimed: claimed, State: record.State}, toTemporal(ctx, err)
}
