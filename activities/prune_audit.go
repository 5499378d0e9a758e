package activities

import "context"

// PruneAuditName is the name of PruneAudit in histories. It never changes.
const PruneAuditName = "PruneAudit"

// PruneAuditInput has no members yet.
type PruneAuditInput struct{}

// PruneAuditResult counts the events that were removed.
type PruneAuditResult struct {
	Events int64 `json:"events,omitempty"`
}

// PruneAudit removes audit events that are older than the retention. It is idempotent: a signed checkpoint takes their place
// first, and a run that dies between is finished by the next.
func (a *Activities) PruneAudit(ctx context.Context, _ PruneAuditInput) (PruneAuditResult, error) {
	if a.ports.AuditPruner == nil {
		return PruneAuditResult{}, nil
	}
	defer heartbeat(ctx)()
	events, err := a.ports.AuditPruner.Prune(ctx)
	return PruneAuditResult{Events: events}, toTemporal(ctx, err)
}
