package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/models"
)

// isWatched is the predicate of the index file_records_by_check.
const isWatched = "removed_at IS NULL"

// recordBatch is how many records one statement adds or changes.
const recordBatch = 500

// What is said of findings that nobody resolved.
const (
	noteWell  = "The file is as it was committed."
	noteThere = "The file is there again."
	noteNone  = "The file is no longer part of the table."
	noteGone  = "The table is gone."
)

// isOlder tells that the snapshot of a record is older by the ledger than another one, so that what is recorded late, or
// again, changes nothing that came after it. A snapshot that the ledger does not have yet is the newer one.
const isOlder = `NOT EXISTS (SELECT 1 FROM commits had, commits has
	WHERE had.table_id = file_records.table_id AND had.snapshot_id = file_records.snapshot_id
		AND has.table_id = file_records.table_id AND has.snapshot_id = %s
		AND (had.sequence_number, had.committed_at, had.id) >= (has.sequence_number, has.committed_at, has.id))`

// RecordFiles implements activities.FileLedger.
func (s *Store) RecordFiles(ctx context.Context, r activities.FileRecording) error {
	if s.dialect == goose.DialectPostgres && len(r.Removed)+len(r.Findings) == 0 && len(r.Added) <= recordBatch {
		return translate(ctx, s.addFiles(s.query(ctx), r.Added)) // one statement is a transaction of its own
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := s.markRemoved(tx, r.Removed, r.By); err != nil {
			return err
		}
		if err := s.addFiles(tx, r.Added); err != nil {
			return err
		}
		_, err := s.openFindings(tx, r.Findings)
		return err
	})
}

// markRemoved notes which snapshot took files out of their table, and resolves what was found of those.
func (s *Store) markRemoved(tx *gorm.DB, ids []string, by int64) error {
	now := s.clock()
	for chunk := range slices.Chunk(ids, recordBatch) {
		var leaving []string
		err := tx.Model(&models.FileRecord{}).Where("id IN ? AND "+isWatched, padded(chunk)).
			Where("snapshot_id <> ? AND "+fmt.Sprintf(isOlder, "?"), by, by).Order("id").Pluck("id", &leaving).Error
		if err != nil {
			return err
		}
		if len(leaving) == 0 {
			continue
		}
		err = tx.Model(&models.FileRecord{}).Where("id IN ? AND "+isWatched, padded(leaving)).
			UpdateColumns(map[string]any{"removed_at": now, "removed_by": by}).Error
		if err != nil {
			return err
		}
		if _, err := s.resolveFindings(tx, findingsOf(tx, leaving), noteNone); err != nil {
			return err
		}
	}
	return nil
}

// addFiles adds records. One that is there stays, unless its file was removed and a later snapshot brings it again.
func (s *Store) addFiles(tx *gorm.DB, added []models.FileRecord) error {
	if len(added) == 0 {
		return nil
	}
	rows := slices.Clone(added)
	for i := range rows {
		s.stamp(&rows[i].RecordedAt, &rows[i].CheckedAt)
		rows[i].RemovedAt, rows[i].RemovedBy = nil, nil
	}
	slices.SortFunc(rows, func(a, b models.FileRecord) int { return strings.Compare(a.ID, b.ID) })
	again := clause.OnConflict{
		Columns: []clause.Column{{Name: "id"}},
		DoUpdates: clause.AssignmentColumns([]string{
			"snapshot_id", "size", "etag", "modified_at", "recorded_at", "checked_at", "removed_at", "removed_by",
		}),
		Where: clause.Where{Exprs: []clause.Expression{
			gorm.Expr("file_records.removed_at IS NOT NULL AND file_records.snapshot_id <> excluded.snapshot_id AND " + fmt.Sprintf(isOlder, "excluded.snapshot_id")),
		}},
	}
	return tx.Clauses(again).CreateInBatches(&rows, recordBatch).Error
}

// KnownFiles implements activities.FileLedger.
func (s *Store) KnownFiles(ctx context.Context, ids []string) ([]models.FileRecord, error) {
	out := []models.FileRecord{}
	for chunk := range slices.Chunk(ids, recordBatch) {
		found, err := all[models.FileRecord](ctx, s.query(ctx).Where("id IN ?", padded(chunk)))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// PruneFileRecords implements activities.FileLedger.
func (s *Store) PruneFileRecords(ctx context.Context, before time.Time, limit int) (int, error) {
	pruned := 0
	err := s.write(ctx, func(tx *gorm.DB) error {
		old := limited(tx.Model(&models.FileRecord{}), limit).Select("id").Where("removed_at < ?", stored(before)).Order("removed_at")
		result := tx.Where("id IN (?)", old).Delete(&models.FileRecord{})
		pruned = int(result.RowsAffected)
		return result.Error
	})
	return pruned, err
}

// forgetFiles removes records, and resolves what was found of their files.
func (s *Store) forgetFiles(tx *gorm.DB, ids []string) (resolved int, err error) {
	for chunk := range slices.Chunk(ids, recordBatch) {
		n, err := s.resolveFindings(tx, findingsOf(tx, chunk), noteNone)
		if err != nil {
			return resolved, err
		}
		resolved += n
		if err := tx.Where("id IN ?", padded(chunk)).Delete(&models.FileRecord{}).Error; err != nil {
			return resolved, err
		}
	}
	return resolved, nil
}

// findingsOf selects the findings about recorded files.
func findingsOf(tx *gorm.DB, ids []string, kinds ...models.FindingKind) *gorm.DB {
	if len(kinds) == 0 {
		kinds = []models.FindingKind{models.FindingFileChanged, models.FindingMissingFile}
	}
	return tx.Where("subject_key IN ? AND kind IN ?", padded(ids), kinds)
}

// checkedRow is a record with what it is checked by.
type checkedRow struct {
	models.FileRecord `gorm:"embedded"`
	There             bool
	Away              bool
	CatalogID         string
	CatalogName       string
	NamespaceKey      models.NamespaceKey
	TableName         string
	TableUUID         string `gorm:"column:table_uuid"`
}

const checkSQL = `SELECT r.*, t.id IS NOT NULL AS there,
		CASE WHEN t.id IS NULL THEN EXISTS (SELECT 1 FROM dropped_tables d WHERE d.table_id = r.table_id AND d.state = 'dropped') ELSE FALSE END AS away,
		COALESCE(t.catalog_id, '') AS catalog_id, COALESCE(c.name, '') AS catalog_name, COALESCE(n.name_key, '') AS namespace_key,
		COALESCE(t.name, '') AS table_name, COALESCE(t.table_uuid, '') AS table_uuid
	FROM (SELECT * FROM file_records WHERE checked_at < ? AND ` + isWatched + ` ORDER BY checked_at, id LIMIT ?) AS r
	LEFT JOIN tables t ON t.id = r.table_id
	LEFT JOIN namespaces n ON n.id = t.namespace_id
	LEFT JOIN catalogs c ON c.id = t.catalog_id
	ORDER BY r.checked_at, r.id`

// FilesToCheck implements activities.FileLedger.
func (s *Store) FilesToCheck(ctx context.Context, before time.Time, limit int) ([]activities.WatchedFile, error) {
	rows := []checkedRow{}
	if err := s.query(ctx).Raw(checkSQL, stored(before), limit).Scan(&rows).Error; err != nil {
		return nil, translate(ctx, err)
	}
	out := make([]activities.WatchedFile, len(rows))
	for i, r := range rows {
		out[i] = activities.WatchedFile{FileRecord: r.FileRecord, Is: activities.TableGone}
		switch {
		case r.There:
			out[i].Is, out[i].CatalogID, out[i].Catalog, out[i].TableUUID = activities.TableThere, r.CatalogID, r.CatalogName, r.TableUUID
			out[i].TableName = models.TableIdent{Namespace: r.NamespaceKey.Levels(), Name: r.TableName}.String()
		case r.Away:
			out[i].Is = activities.TableAway
		}
	}
	return out, nil
}

// SettleFiles implements activities.FileLedger.
func (s *Store) SettleFiles(ctx context.Context, c activities.FileCheck) (counts activities.FileCheckCounts, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		counts = activities.FileCheckCounts{}
		wrong, err := stillWrong(tx, c.Wrong)
		if err != nil {
			return err
		}
		if counts.Opened, err = s.openFindings(tx, wrong); err != nil {
			return err
		}
		for _, resolve := range []func() (int, error){
			func() (int, error) { return s.settleWell(tx, c.Well, c.Named) },
			func() (int, error) { return s.settleThere(tx, wrong) },
			func() (int, error) { return s.forgetFiles(tx, c.Forgotten) },
			func() (int, error) { return s.settleGone(tx, c.GoneTables) },
		} {
			n, err := resolve()
			if err != nil {
				return err
			}
			counts.Resolved += n
		}
		for chunk := range slices.Chunk(c.Looked, recordBatch) {
			err := tx.Model(&models.FileRecord{}).Where("id IN ?", padded(chunk)).UpdateColumn("checked_at", stored(c.At)).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	return counts, err
}

// stillWrong leaves out what somebody accepted, or forgot, since the record was read.
func stillWrong(tx *gorm.DB, wrong []activities.WrongFile) ([]models.Finding, error) {
	var out []models.Finding
	for _, w := range wrong {
		same, err := exists(tx.Model(&models.FileRecord{}).
			Where("id = ? AND size = ? AND etag = ? AND "+isWatched, w.Record.ID, w.Record.Size, w.Record.ETag))
		if err != nil {
			return nil, err
		}
		if same {
			out = append(out, w.Finding)
		}
	}
	return out, nil
}

// settleWell resolves what was found of files that are as they were recorded, and notes what had no ETag yet.
func (s *Store) settleWell(tx *gorm.DB, well []string, named []models.FileRecord) (resolved int, err error) {
	for _, r := range named {
		err := tx.Model(&models.FileRecord{}).Where("id = ? AND size = ? AND etag = ''", r.ID, r.Size).
			UpdateColumns(map[string]any{"etag": r.ETag, "modified_at": r.ModifiedAt}).Error
		if err != nil {
			return 0, err
		}
	}
	for chunk := range slices.Chunk(well, recordBatch) {
		n, err := s.resolveFindings(tx, findingsOf(tx, chunk), noteWell)
		if err != nil {
			return resolved, err
		}
		resolved += n
	}
	return resolved, nil
}

// settleThere resolves that files were missing which are there now, with another content.
func (s *Store) settleThere(tx *gorm.DB, wrong []models.Finding) (resolved int, err error) {
	var ids []string
	for _, f := range wrong {
		if f.Kind == models.FindingFileChanged {
			ids = append(ids, f.SubjectKey)
		}
	}
	for chunk := range slices.Chunk(ids, recordBatch) {
		n, err := s.resolveFindings(tx, findingsOf(tx, chunk, models.FindingMissingFile), noteThere)
		if err != nil {
			return resolved, err
		}
		resolved += n
	}
	return resolved, nil
}

func (s *Store) settleGone(tx *gorm.DB, tables []string) (resolved int, err error) {
	for _, id := range tables {
		n, err := s.resolveFindings(tx, tx.Where("table_id = ?", id), noteGone)
		if err != nil {
			return resolved, err
		}
		resolved += n
	}
	return resolved, nil
}
