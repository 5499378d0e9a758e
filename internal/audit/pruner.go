package audit

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/models"
)

// removePage is how many events one transaction removes.
const removePage = 1000

// platformPrincipal is who the audit names for what Sluice does by itself.
const platformPrincipal = "sluice"

// Pruner removes sealed events that are older than the retention.
type Pruner struct {
	ledger    PruneLedger
	keys      *Keys
	retention time.Duration
	exported  bool
	now       func() time.Time
}

// NewPruner makes a pruner; a retention of 0 keeps every event. With exported it removes only what the exported table has.
func NewPruner(ledger PruneLedger, keys *Keys, retention time.Duration, exported bool, now func() time.Time) *Pruner {
	return &Pruner{ledger: ledger, keys: keys, retention: retention, exported: exported, now: now}
}

// Prune removes what is old enough and tells how many events. First a signed checkpoint takes their place, so that the
// chain can be verified at every moment; a run that dies is finished by the next.
func (p *Pruner) Prune(ctx context.Context) (int64, error) {
	removed, err := p.remove(ctx) // what a run before left
	if err != nil || p.retention <= 0 {
		return removed, err
	}
	before := p.now().Add(-p.retention).UTC()
	seq, hash, err := p.ledger.PrunableAudit(ctx, before, p.exported)
	if err != nil || seq == 0 {
		return removed, err
	}
	c, err := p.keys.Checkpoint(ctx, seq, hash, true)
	if err != nil {
		return removed, err
	}
	event := models.AuditEvent{
		EventID: uuid.NewString(), Type: models.AuditPruned, At: p.now(), Principal: platformPrincipal, Allowed: true,
		Details: models.JSON[map[string]any]{V: map[string]any{"throughSeq": seq, "before": before.Format(time.RFC3339)}},
	}
	if pruned, err := p.ledger.PruneAudit(ctx, c, event); err != nil || !pruned {
		return removed, err
	}
	more, err := p.remove(ctx)
	return removed + more, err
}

func (p *Pruner) remove(ctx context.Context) (int64, error) {
	var removed int64
	for {
		n, err := p.ledger.RemovePruned(ctx, removePage)
		removed += int64(n)
		if err != nil || n < removePage {
			return removed, err
		}
	}
}
