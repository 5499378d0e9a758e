package audit

import (
	"context"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// CheckpointStore gives checkpoints page by page.
type CheckpointStore interface {
	// CheckpointPage gives checkpoints, newest first, those with ids below before; "" for all.
	CheckpointPage(ctx context.Context, before string, limit int) ([]models.AuditCheckpoint, error)
	AuditKeys(ctx context.Context) ([]models.AuditKey, error)
}

// Reader shows checkpoints to those who may read the whole audit.
type Reader struct{ store CheckpointStore }

// NewReader makes a reader.
func NewReader(store CheckpointStore) *Reader { return &Reader{store} }

// Checkpoints gives checkpoints, newest first, as they are to be kept outside.
func (r *Reader) Checkpoints(ctx context.Context, caller policy.Caller, before string, limit int) ([]Checkpoint, error) {
	if err := caller.Require(policy.ReadAllAudit, policy.Service, policy.Path{}, "the service"); err != nil {
		return nil, err
	}
	rows, err := r.store.CheckpointPage(ctx, before, limit)
	if err != nil {
		return nil, err
	}
	keys, err := r.store.AuditKeys(ctx)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]models.AuditKey, len(keys))
	for _, k := range keys {
		byID[k.ID] = k
	}
	out := make([]Checkpoint, len(rows))
	for i, row := range rows {
		out[i] = Exportable(row, byID[row.KeyID])
	}
	return out, nil
}
