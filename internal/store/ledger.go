package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Commit implements activities.Ledger.
func (s *Store) Commit(ctx context.Context, tableID string, snapshotID int64) (models.Commit, error) {
	return one[models.Commit](ctx, s.query(ctx).Where("table_id = ? AND snapshot_id = ?", tableID, snapshotID),
		fault.New(fault.NotFound, "The ledger has no commit of snapshot %d.", snapshotID))
}

// Commits gives ledger rows, newest first.
func (s *Store) Commits(ctx context.Context, f models.CommitFilter) ([]models.Commit, error) {
	query := limited(s.query(ctx), f.Limit).Order("id DESC")
	if f.CatalogID != "" {
		query = query.Where("catalog_id = ?", f.CatalogID)
	}
	if f.TableID != "" {
		query = query.Where("table_id = ?", f.TableID)
	}
	if f.Before > 0 {
		query = query.Where("id < ?", f.Before)
	}
	return all[models.Commit](ctx, query)
}

// RecordCommit implements activities.Ledger. A reconciled row stays as it is; an abandoned one may still become
// reconciled, as when its table was restored.
func (s *Store) RecordCommit(ctx context.Context, r activities.Recording) (bool, error) {
	recorded := false
	row := s.ledgerRow(r.Commit)
	err := s.write(ctx, func(tx *gorm.DB) (err error) {
		if recorded, err = finishCommit(tx, row); err != nil {
			return err
		}
		if recorded {
			if err := s.recordEffects(tx, r); err != nil {
				return err
			}
		}
		if row.Status != models.CommitReconciled {
			return nil
		}
		return advanceRecorded(tx, row, r)
	})
	return recorded && err == nil, err
}

// recordEffects writes what a commit's reconciliation brings once.
func (s *Store) recordEffects(tx *gorm.DB, r activities.Recording) error {
	if err := s.insertAudit(tx, r.Audit); err != nil {
		return err
	}
	if err := s.keepWriters(tx, r.Writers); err != nil {
		return err
	}
	if _, err := s.resolveSubjects(tx, r.Resolved); err != nil {
		return err
	}
	_, err := s.openFindings(tx, r.Findings)
	return err
}

func finishCommit(tx *gorm.DB, row models.Commit) (bool, error) {
	result := tx.Model(&models.Commit{}).
		Where("table_id = ? AND snapshot_id = ? AND status NOT IN ?", row.TableID, row.SnapshotID,
			[]models.CommitStatus{row.Status, models.CommitReconciled}).
		UpdateColumns(map[string]any{
			"status":           row.Status,
			"reconciled_at":    row.ReconciledAt,
			"workflow_id":      row.WorkflowID,
			"added_rows":       row.AddedRows,
			"added_files":      row.AddedFiles,
			"added_bytes":      row.AddedBytes,
			"removed_rows":     row.RemovedRows,
			"removed_files":    row.RemovedFiles,
			"removed_bytes":    row.RemovedBytes,
			"delete_files":     row.DeleteFiles,
			"partitions":       row.Partitions,
			"schema_id":        gorm.Expr("COALESCE(schema_id, ?)", row.SchemaID), // as of the commit, where that noted it
			"row_count_before": row.RowCountBefore,
			"row_count_after":  row.RowCountAfter,
		})
	if result.Error != nil || result.RowsAffected > 0 {
		return result.RowsAffected > 0, result.Error
	}
	row.ID = 0
	result = tx.Clauses(ledgerOnce()).Create(&row)
	return result.RowsAffected > 0, result.Error
}

// advanceSQL moves what is recorded of main: always to its head, else only forward, by what the ledger has of both
// snapshots. Before format version 2 every sequence number is 0, and the time of the commit decides. It never moves
// the pointer of another table-uuid.
const advanceSQL = `UPDATE tables SET recorded_snapshot_id = ?, row_count = ?
	WHERE id = ? AND table_uuid = ? AND recorded_snapshot_id IS DISTINCT FROM ? AND (
		current_snapshot_id = ?
		OR (? AND NOT EXISTS (
			SELECT 1 FROM commits had, commits has
			WHERE had.table_id = tables.id AND had.snapshot_id = tables.recorded_snapshot_id
				AND has.table_id = tables.id AND has.snapshot_id = ?
				AND (had.sequence_number, had.committed_at, had.id) > (has.sequence_number, has.committed_at, has.id))))`

func advanceRecorded(tx *gorm.DB, row models.Commit, r activities.Recording) error {
	snapshot := row.SnapshotID
	return tx.Exec(advanceSQL, snapshot, r.RowCount, row.TableID, row.TableUUID, snapshot, snapshot, r.OnMain, snapshot).Error
}

// ledgerRow completes a row and makes its text storable.
func (s *Store) ledgerRow(c models.Commit) models.Commit {
	if c.Status == "" {
		c.Status = models.CommitPending
	}
	if c.CommittedAt.IsZero() {
		c.CommittedAt = s.clock()
	}
	c.CommittedAt = stored(c.CommittedAt)
	for _, text := range []*string{&c.TableName, &c.Ref, &c.Operation, &c.WriterID, &c.Job, &c.Unit} {
		*text = clean(*text)
	}
	return c
}

// ledgerOnce keeps the row that a snapshot has.
func ledgerOnce() clause.OnConflict {
	return clause.OnConflict{Columns: []clause.Column{{Name: "table_id"}, {Name: "snapshot_id"}}, DoNothing: true}
}
