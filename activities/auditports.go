package activities

import "context"

// AuditExporter keeps the exported table of the audit.
type AuditExporter interface {
	// Export appends a page of events that the table lacks; more tells that there are others.
	Export(ctx context.Context) (events int64, more bool, err error)
}

// AuditPruner removes audit events that are older than the retention, and tells how many.
type AuditPruner interface {
	Prune(ctx context.Context) (int64, error)
}
