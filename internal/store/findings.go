package store

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// byItself is who resolves what Sluice sees to be well again.
	byItself = "sluice"
	// longestSubject is the most of a subject that is kept, in bytes: its key tells it apart.
	longestSubject = 4096
	// mostOpen is how many findings of a kind may be open of one table. A commit may name any number of files that are not
	// there, and each would be an event.
	mostOpen = 1000
)

// isOpen is the predicate of the index findings_open.
const isOpen = "resolved_at IS NULL"

func noFinding(id string) error {
	return fault.New(fault.NotFound, "There is no finding with the id %q.", id)
}

// Findings implements catalog.Reports.
func (s *Store) Findings(ctx context.Context, f models.FindingFilter) ([]models.Finding, error) {
	if !storable(f.Before) {
		return []models.Finding{}, nil
	}
	query := limited(s.query(ctx), f.Limit).Order("id DESC")
	equal := func(column, value string) {
		if value != "" {
			query = query.Where(column+" = ?", clean(value))
		}
	}
	equal("catalog_id", f.CatalogID)
	equal("table_id", f.TableID)
	equal("writer_id", f.WriterID)
	equal("kind", string(f.Kind))
	if f.Open != nil && *f.Open {
		query = query.Where(isOpen)
	} else if f.Open != nil {
		query = query.Where("NOT " + isOpen)
	}
	if f.Before != "" {
		query = query.Where("id < ?", f.Before)
	}
	return all[models.Finding](ctx, query)
}

// Finding implements catalog.Store.
func (s *Store) Finding(ctx context.Context, id string) (models.Finding, error) {
	if !storable(id) {
		return models.Finding{}, noFinding(id)
	}
	return one[models.Finding](ctx, s.query(ctx).Where("id = ?", id), noFinding(id))
}

// OpenFindings counts the open findings of each kind that has any.
func (s *Store) OpenFindings(ctx context.Context) (map[models.FindingKind]int64, error) {
	var rows []struct {
		Kind  models.FindingKind
		Count int64
	}
	err := s.query(ctx).Model(&models.Finding{}).Select("kind, count(*) AS count").Where(isOpen).Group("kind").Scan(&rows).Error
	out := make(map[models.FindingKind]int64, len(rows))
	for _, r := range rows {
		out[r.Kind] = r.Count
	}
	return out, translate(ctx, err)
}

// ResolveFinding implements catalog.Store. The file of a changed one is watched as it was seen last from now on, a
// missing one no longer.
func (s *Store) ResolveFinding(ctx context.Context, id, note string, event models.AuditEvent) (finding models.Finding, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		finding = models.Finding{}
		err := locking(tx, "UPDATE").Where("id = ?", id).Take(&finding).Error
		if isAbsent(err) {
			return noFinding(id)
		}
		if err != nil || finding.ResolvedAt != nil {
			return err // resolved before: nothing changes
		}
		closed, err := s.close(tx, &finding, event.Principal, note)
		if err != nil || !closed {
			return err
		}
		if err := acceptFile(tx, finding); err != nil {
			return err
		}
		told := finding.Event(event.Type, event.Principal)
		told.EventID, told.At, told.TokenID, told.RequestID, told.Address = event.EventID, event.At, event.TokenID, event.RequestID, event.Address
		return s.insertAudit(tx, told)
	})
	return finding, err
}

// acceptFile makes what was seen of a finding's file what it is held against.
func acceptFile(tx *gorm.DB, f models.Finding) error {
	record := tx.Where("id = ?", f.SubjectKey)
	if f.Kind == models.FindingMissingFile {
		return record.Delete(&models.FileRecord{}).Error
	}
	if now := f.SeenFile(); now != nil {
		return record.Model(&models.FileRecord{}).
			UpdateColumns(map[string]any{"size": now.Size, "etag": now.ETag, "modified_at": now.Modified}).Error
	}
	return nil
}

// close marks an open finding as resolved; false where somebody else did meanwhile.
func (s *Store) close(tx *gorm.DB, f *models.Finding, by, note string) (bool, error) {
	now := s.clock()
	f.ResolvedAt, f.ResolvedBy, f.Note = &now, clean(by), clean(note)
	closed := tx.Model(&models.Finding{}).Where("id = ? AND "+isOpen, f.ID).
		UpdateColumns(map[string]any{"resolved_at": f.ResolvedAt, "resolved_by": f.ResolvedBy, "note": f.Note})
	return closed.RowsAffected > 0, closed.Error
}

// openFindings opens findings with their events, and refreshes those that are open; it gives how many it opened.
func (s *Store) openFindings(tx *gorm.DB, findings []models.Finding) (int, error) {
	var events []models.AuditEvent
	room := map[string]int64{} // by table and kind
	for _, f := range findings {
		row := s.findingRow(f)
		of := row.TableID + string(row.Kind)
		refreshed := tx.Model(&models.Finding{}).
			Where("table_id = ? AND subject_key = ? AND kind = ? AND "+isOpen, row.TableID, row.SubjectKey, row.Kind).
			UpdateColumns(map[string]any{
				"last_seen_at": row.LastSeenAt, "evidence": row.Evidence, "table_name": row.Table, "snapshot_id": row.SnapshotID, "principal": row.Principal,
				"writer_id": row.WriterID,
			})
		if refreshed.Error != nil {
			return 0, refreshed.Error
		}
		if refreshed.RowsAffected > 0 {
			continue
		}
		if _, known := room[of]; !known {
			var open int64
			err := tx.Model(&models.Finding{}).Where("table_id = ? AND kind = ? AND "+isOpen, row.TableID, row.Kind).Count(&open).Error
			if err != nil {
				return 0, err
			}
			room[of] = mostOpen - open
		}
		if room[of] <= 0 {
			continue // there is enough to look at; a later check opens it
		}
		room[of]--
		id, err := uuid.NewV7()
		if err != nil {
			return 0, err
		}
		row.ID = id.String()
		created := tx.Clauses(findingOnce()).Create(&row)
		if created.Error != nil {
			return 0, created.Error
		}
		if created.RowsAffected > 0 { // else another process was faster
			events = append(events, row.Event(models.AuditFindingOpened, byItself))
		}
	}
	return len(events), s.insertAudit(tx, events...)
}

// findingRow completes a finding that is seen now, and makes its text storable.
func (s *Store) findingRow(f models.Finding) models.Finding {
	s.stamp(&f.LastSeenAt)
	f.FirstSeenAt, f.ResolvedAt, f.ResolvedBy, f.Note = f.LastSeenAt, nil, "", ""
	for _, text := range []*string{&f.Catalog, &f.Table, &f.Principal, &f.WriterID} {
		*text = clean(*text)
	}
	f.Evidence = boundDetails(f.Evidence)
	f.Subject = cutText(clean(f.Subject), longestSubject)
	return f
}

func findingOnce() clause.OnConflict {
	return clause.OnConflict{
		Columns:     []clause.Column{{Name: "table_id"}, {Name: "subject_key"}, {Name: "kind"}},
		TargetWhere: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: isOpen}}},
		DoNothing:   true,
	}
}

// resolveFindings resolves the open findings that a query selects with their events, and gives how many those are.
func (s *Store) resolveFindings(tx *gorm.DB, open *gorm.DB, note string) (int, error) {
	var found []models.Finding
	if err := open.Where(isOpen).Find(&found).Error; err != nil {
		return 0, err
	}
	events := make([]models.AuditEvent, 0, len(found))
	for i := range found {
		closed, err := s.close(tx, &found[i], byItself, note)
		if err != nil {
			return 0, err
		}
		if closed {
			events = append(events, found[i].Event(models.AuditFindingResolved, byItself))
		}
	}
	return len(events), s.insertAudit(tx, events...)
}
