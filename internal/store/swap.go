package store

import (
	"cmp"
	"context"
	"slices"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// swapSQL moves a pointer. What is recorded of main is kept only while it is the same table and has a snapshot.
const swapSQL = `UPDATE tables SET table_uuid = ?, location = ?, metadata_location = ?, format_version = ?, current_snapshot_id = ?,
	recorded_snapshot_id = CASE WHEN table_uuid = ? THEN recorded_snapshot_id END,
	row_count = CASE WHEN table_uuid = ? THEN row_count END,
	version = version + 1, updated_at = ?
	WHERE id = ? AND version = ?`

// SwapTables implements catalog.Store. Rows are locked in order of their ids, so that two transactions over the
// same tables cannot wait for each other. Governance, name and namespace of the rows are left alone.
func (s *Store) SwapTables(ctx context.Context, swaps []catalog.Swap) error {
	if len(swaps) == 0 {
		return nil
	}
	ordered := slices.Clone(swaps)
	slices.SortStableFunc(ordered, func(a, b catalog.Swap) int { return cmp.Compare(a.Table.ID, b.Table.ID) })
	var commits []models.Commit
	var audit []models.AuditEvent
	for i := range ordered {
		if err := checkNames(ordered[i].Table.Location, ordered[i].Table.MetadataLocation); err != nil {
			return err
		}
		commits = append(commits, ordered[i].Effects.Commits...)
		audit = append(audit, ordered[i].Effects.Audit...)
	}
	if s.one != nil && len(ordered) == 1 && len(commits) <= 1 && len(audit) <= 1 && !deduped(audit) {
		err := s.swapOne(ctx, &ordered[0].Table, commits, audit)
		if !retryable(err) {
			return translate(ctx, err)
		}
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		for i := range ordered {
			t := &ordered[i].Table
			result := tx.Exec(swapSQL, s.swapArgs(t)...)
			if err := changed[models.Table](tx, result, t.ID, tableGone(), swapLost(t)); err != nil {
				return err
			}
		}
		return s.insertEffects(tx, commits, audit)
	})
}

// swapOne is SwapTables for what fits one statement.
func (s *Store) swapOne(ctx context.Context, t *models.Table, commits []models.Commit, audit []models.AuditEvent) error {
	var rows effectRows
	for _, c := range commits {
		row := s.ledgerRow(c)
		rows.commit = &row
		if row.Status == models.CommitPending {
			event := s.outboxEvent(row)
			rows.event = &event
		}
	}
	for _, e := range audit {
		row := s.auditRow(e)
		rows.note = &row
	}
	moved, err := s.one.run(ctx, s.swapArgs(t), rows)
	if err != nil || moved {
		return err
	}
	_, err = s.TableByID(ctx, t.ID) // fault.NotFound if it is gone
	if err != nil {
		return err
	}
	return swapLost(t)
}

// swapArgs are the values of swapSQL.
func (s *Store) swapArgs(t *models.Table) []any {
	sameTable := t.UUID
	if t.CurrentSnapshotID == nil {
		sameTable = "" // no table's
	}
	return []any{
		t.UUID, t.Location, t.MetadataLocation, t.FormatVersion, t.CurrentSnapshotID,
		sameTable, sameTable, s.clock(), t.ID, t.Version,
	}
}

func swapLost(t *models.Table) error {
	return fault.About(fault.Conflict, fault.Table, "Table %q was changed by another commit: load it and try again.", t.Name)
}

func deduped(events []models.AuditEvent) bool {
	return slices.ContainsFunc(events, func(e models.AuditEvent) bool { return e.DedupeKey != nil })
}

// insertEffects writes the ledger, an outbox event for each pending commit, and the audit. A snapshot that the
// ledger has already, as when an older metadata file is registered again, keeps its row.
func (s *Store) insertEffects(tx *gorm.DB, commits []models.Commit, audit []models.AuditEvent) error {
	if len(commits) > 0 {
		rows := make([]models.Commit, len(commits))
		var events []models.OutboxEvent
		for i := range commits {
			rows[i] = s.ledgerRow(commits[i])
			if rows[i].Status == models.CommitPending {
				events = append(events, s.outboxEvent(rows[i]))
			}
		}
		if err := tx.Clauses(ledgerOnce()).Create(&rows).Error; err != nil {
			return err
		}
		if len(events) > 0 {
			if err := tx.Create(&events).Error; err != nil {
				return err
			}
		}
	}
	return s.insertAudit(tx, audit...)
}

func (s *Store) outboxEvent(c models.Commit) models.OutboxEvent {
	return models.OutboxEvent{
		CatalogID: c.CatalogID, TableID: c.TableID, TableUUID: c.TableUUID, TableName: c.TableName,
		SnapshotID: c.SnapshotID, CreatedAt: s.clock(),
	}
}
