package activities

import "context"

// ExportAuditName is the name of ExportAudit in histories. It never changes.
const ExportAuditName = "ExportAudit"

// ExportAuditInput has no members yet.
type ExportAuditInput struct{}

// ExportAuditResult tells what a page came to.
type ExportAuditResult struct {
	Events int64 `json:"events,omitempty"`
	More   bool  `json:"more,omitempty"`
}

// ExportAudit appends a page of sealed audit events to the table sluice_system.audit. It is idempotent: the snapshots of
// the table say which events are in it, and a commit that lost to another is not made.
func (a *Activities) ExportAudit(ctx context.Context, _ ExportAuditInput) (ExportAuditResult, error) {
	if a.ports.AuditExporter == nil { // export is off
		return ExportAuditResult{}, nil
	}
	defer heartbeat(ctx)()
	events, more, err := a.ports.AuditExporter.Export(ctx)
	return ExportAuditResult{Events: events, More: more}, toTemporal(ctx, err)
}
