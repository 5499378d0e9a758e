package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/models"
)

// swapSQL moves a pointer. What is recorded of main is kept only while it is the same table and has a snapshot.
const swapSQL = `UPDATE tables SET table_uuid = ?, location = ?, metadata_location = ?, format_version = ?, current_snapshot_id = ?,
	recorded_snapshot_id = CASE WHEN table_uuid = ? THEN recorded_snapshot_id END,
	row_count = CASE WHEN table_uuid = ? THEN row_count END,
	foreign_files = foreign_files OR ?, version = version + 1, updated_at = ?
	WHERE id = ? AND version = ?`

// SwapTables implements catalog.Store. Rows are locked in order of their ids, so that two transactions over the
// same tables cannot wait for each other; new tables are made after that. Governance, name and namespace of the rows
// that move are left alone.
func (s *Store) SwapTables(ctx context.Context, swaps []catalog.Swap) error {
	if len(swaps) == 0 {
		return nil
	}
	ordered := slices.Clone(swaps)
	slices.SortStableFunc(ordered, compareSwaps)
	var commits []models.Commit
	var audit []models.AuditEvent
	var writes []models.GovernedWrite
	for i := range ordered {
		if err := checkNames(ordered[i].Table.Name, ordered[i].Table.Location, ordered[i].Table.MetadataLocation); err != nil {
			return err
		}
		commits = append(commits, ordered[i].Effects.Commits...)
		audit = append(audit, ordered[i].Effects.Audit...)
		writes = append(writes, ordered[i].Effects.Writes...)
	}
	if s.one != nil && len(writes) == 0 && fitsOne(ordered, commits, audit) {
		err := s.swapOne(ctx, &ordered[0].Table, commits, audit)
		if !retryable(err) {
			return translate(ctx, err)
		}
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		for i := range ordered {
			if err := s.swapIn(tx, &ordered[i]); err != nil {
				return err
			}
		}
		// After the rows: whoever holds one of these may wait for locations, and never the other way round.
		for i := range ordered {
			if err := s.settleSwap(tx, ordered[i]); err != nil {
				return err
			}
		}
		if err := s.insertWrites(tx, writes); err != nil {
			return err
		}
		return s.insertEffects(tx, commits, audit)
	})
}

// fitsOne tells whether swaps are one that needs nothing but its statement and the effects that go with it: an event and a
// commit of which nothing is known yet.
func fitsOne(swaps []catalog.Swap, commits []models.Commit, audit []models.AuditEvent) bool {
	if len(swaps) != 1 || swaps[0].Create || swaps[0].Moves || swaps[0].Returns {
		return false
	}
	reconciled := slices.ContainsFunc(commits, func(c models.Commit) bool { return c.Status != "" && c.Status != models.CommitPending })
	return len(commits) <= 1 && !reconciled && len(audit) <= 1 && !deduped(audit)
}

// settleSwap does what a moved location and a returned snapshot ask for besides the pointer.
func (s *Store) settleSwap(tx *gorm.DB, swap catalog.Swap) error {
	t := &swap.Table
	if swap.Moves {
		if err := s.takeLocation(tx, claimOf(*t), ofTables, ofViews); err != nil {
			return err
		}
	}
	if !swap.Returns || t.CurrentSnapshotID == nil {
		return nil
	}
	var commit models.Commit
	err := tx.Where("table_id = ? AND snapshot_id = ?", t.ID, *t.CurrentSnapshotID).Take(&commit).Error
	if err == nil && commit.Status == models.CommitReconciled {
		return tx.Exec("UPDATE tables SET recorded_snapshot_id = ?, row_count = ? WHERE id = ?", commit.SnapshotID, commit.RowCountAfter, t.ID).Error
	}
	if err != nil && !isAbsent(err) {
		return err
	}
	// Never recorded, such as a part of the history that a registered table came with.
	name, err := dottedName(tx, t.ID)
	if err != nil {
		return err
	}
	event := s.outboxEvent(models.Commit{CatalogID: t.CatalogID, TableID: t.ID, TableUUID: t.UUID, TableName: name, SnapshotID: *t.CurrentSnapshotID})
	return tx.Create(&event).Error
}

func dottedName(tx *gorm.DB, id string) (string, error) {
	var row stateRow
	err := tx.Table("tables").Select("tables.name, namespaces.name_key AS namespace_key").
		Joins("JOIN namespaces ON namespaces.id = tables.namespace_id").Where("tables.id = ?", id).Take(&row).Error
	return clean(row.dotted()), err
}

// swapIn makes or moves one table within a transaction.
func (s *Store) swapIn(tx *gorm.DB, swap *catalog.Swap) error {
	t := &swap.Table
	if swap.Create {
		return s.insertTable(tx, *t)
	}
	result := tx.Exec(swapSQL, s.swapArgs(t)...)
	if isDuplicate(result.Error) {
		return uuidTaken(t.UUID)
	}
	return changed[models.Table](tx, result, t.ID, tableGone(), swapLost(t))
}

// compareSwaps orders pointers that move by their ids, and tables to create by their names after them.
func compareSwaps(a, b catalog.Swap) int {
	switch {
	case a.Create && b.Create:
		return cmp.Or(cmp.Compare(a.Table.NamespaceID, b.Table.NamespaceID), cmp.Compare(a.Table.Name, b.Table.Name))
	case a.Create:
		return 1
	case b.Create:
		return -1
	}
	return cmp.Compare(a.Table.ID, b.Table.ID)
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
	claim := idempotency.From(ctx)
	if claim != nil {
		row := keyRow(claim.Row(s.clock()))
		rows.key = &row
	}
	moved, err := s.one.run(ctx, s.swapArgs(t), rows)
	if moved && err == nil && claim != nil {
		claim.MarkWritten()
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.ConstraintName == "tables_by_uuid" {
		return uuidTaken(t.UUID)
	}
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
		sameTable, sameTable, t.ForeignFiles, s.clock(), t.ID, t.Version,
	}
}

func swapLost(t *models.Table) error {
	return fault.About(fault.Conflict, fault.Table, "Table %q was changed by another commit: load it and try again.", t.Name)
}

func deduped(events []models.AuditEvent) bool {
	return slices.ContainsFunc(events, func(e models.AuditEvent) bool { return e.DedupeKey != nil })
}

// insertBatch bounds the rows of one statement: databases bound its values.
const insertBatch = 500

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
		if err := tx.Clauses(ledgerOnce()).CreateInBatches(&rows, insertBatch).Error; err != nil {
			return err
		}
		if len(events) > 0 {
			if err := tx.CreateInBatches(&events, insertBatch).Error; err != nil {
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
