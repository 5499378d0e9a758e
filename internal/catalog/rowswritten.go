package catalog

import (
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// describeWrite adds a governed write to a plan's effects, with its audit event, which has the write's id. The event is about the
// table that was written to, also when all its rows went to the quarantine, whose commit this then is; it has no values.
func (s *Service) describeWrite(caller policy.Caller, p *plan, write *models.GovernedWrite) {
	if write == nil {
		return
	}
	w := *write
	if w.CommittedAt.IsZero() {
		w.CommittedAt = s.now()
	}
	event := s.tableEvent(caller, models.AuditRowsWritten, p.at, p.row, map[string]any{
		"mode": w.Mode, "rows": w.Rows, "updated": w.Updated, "superseded": w.Superseded, "quarantined": w.Quarantined,
		"level": w.Level, "levels": w.Levels.V, "tags": w.Tags.V, "identityColumns": w.IdentityColumns.V,
	})
	event.EventID, event.At = w.ID, w.CommittedAt
	event.Table, event.TableUUID = w.TableName, w.TableUUID
	if w.SnapshotID != 0 {
		event.SnapshotID = &w.SnapshotID
	}
	if w.Label != "" {
		event.Details.V["label"] = w.Label
	}
	if w.Quarantined > 0 {
		event.Details.V["quarantineTable"] = w.QuarantineTable
	}
	p.effects.Writes = append(p.effects.Writes, w)
	p.effects.Audit = append(p.effects.Audit, event)
}
