package activities

import (
	"context"

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
// that is purging is claimed again, one that came back or is purged never.
func (a *Activities) ClaimPurge(ctx context.Context, in ClaimPurgeInput) (ClaimPurgeResult, error) {
	record, claimed, err := a.ports.Purges.ClaimPurge(ctx, in.Target.DropID, a.ports.Now().UTC())
	return ClaimPurgeResult{Claimed: claimed, State: record.State}, toTemporal(ctx, err)
}
