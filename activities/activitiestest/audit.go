package activitiestest

import "context"

// exportPage is how many events one call of Export takes.
const exportPage = 100

// auditWorld counts events of the audit.
type auditWorld struct {
	unexported, old int64
}

// SetAudit says how many audit events are not exported, and how many are older than the retention.
func (w *World) SetAudit(unexported, old int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.audit = auditWorld{unexported, old}
}

// Export implements activities.AuditExporter.
func (w *World) Export(ctx context.Context) (events int64, more bool, err error) {
	if err := w.called(ctx, "Export", ""); err != nil {
		return 0, false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	events = min(w.audit.unexported, exportPage)
	w.audit.unexported -= events
	return events, w.audit.unexported > 0, nil
}

// Prune implements activities.AuditPruner.
func (w *World) Prune(ctx context.Context) (int64, error) {
	if err := w.called(ctx, "Prune", ""); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	removed := w.audit.old
	w.audit.old = 0
	return removed, nil
}
