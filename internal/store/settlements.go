package store

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/models"
)

// noteAgain is how soon a finding that is noted again is written again: what a client repeats all the time is one
// finding, and no write each time.
const noteAgain = time.Minute

// SettleFindings implements activities.FindingLedger. What is resolved is so before anything is opened: what is in both is
// open, as another finding.
func (s *Store) SettleFindings(ctx context.Context, settled activities.FindingSettlement) (counts activities.FindingCounts, err error) {
	err = s.write(ctx, func(tx *gorm.DB) (err error) {
		if counts.Resolved, err = s.resolveSubjects(tx, settled.Resolved); err != nil {
			return err
		}
		if counts.Opened, err = s.openFindings(tx, settled.Found); err != nil {
			return err
		}
		return s.keepChecks(tx, settled.Checks)
	})
	if err != nil {
		counts = activities.FindingCounts{}
	}
	return counts, err
}

// resolveSubjects resolves the open findings that subjects name, each with its event, and gives how many those are.
func (s *Store) resolveSubjects(tx *gorm.DB, subjects []models.FindingSubject) (resolved int, err error) {
	for _, subject := range subjects {
		open := tx.Where("table_id = ? AND kind = ?", subject.TableID, subject.Kind)
		if subject.SubjectKey != "" {
			open = open.Where("subject_key = ?", subject.SubjectKey)
		}
		n, err := s.resolveFindings(tx, open, subject.Note)
		if err != nil {
			return 0, err
		}
		resolved += n
	}
	return resolved, nil
}

// OpenFindingsOf implements activities.FindingLedger.
func (s *Store) OpenFindingsOf(ctx context.Context, tableID, after string, limit int) ([]models.Finding, error) {
	query := limited(s.query(ctx), limit).Where("id > ? AND "+isOpen, clean(after)).Order("id")
	if tableID != "" {
		query = query.Where("table_id = ?", tableID)
	}
	return all[models.Finding](ctx, query)
}

// OpenFindingsOfWriters implements activities.FindingLedger.
func (s *Store) OpenFindingsOfWriters(ctx context.Context, writerIDs []string) ([]models.Finding, error) {
	out := []models.Finding{}
	for chunk := range slices.Chunk(writerIDs, recordBatch) {
		found, err := all[models.Finding](ctx, s.query(ctx).
			Where("writer_id IN ? AND "+hasWriter+" AND "+isOpen, padded(chunk)).Order("id"))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// NoteFinding implements catalog.Store, for what is found of a request that changes nothing. What was noted less than a
// minute ago is left as it is.
func (s *Store) NoteFinding(ctx context.Context, f models.Finding) error {
	row := s.findingRow(f)
	fresh, err := exists(s.query(ctx).Model(&models.Finding{}).
		Where("table_id = ? AND subject_key = ? AND kind = ? AND "+isOpen, row.TableID, row.SubjectKey, row.Kind).
		Where("last_seen_at > ?", row.LastSeenAt.Add(-noteAgain)))
	if err != nil || fresh {
		return translate(ctx, err)
	}
	return s.writeAlone(ctx, func(tx *gorm.DB) error {
		_, err := s.openFindings(tx, []models.Finding{row})
		return err
	})
}

func (s *Store) keepChecks(tx *gorm.DB, checks []models.TableCheck) error {
	if len(checks) == 0 {
		return nil
	}
	rows := make([]models.TableCheck, len(checks))
	for i, c := range checks {
		rows[i] = c
		s.stamp(&rows[i].CheckedAt)
	}
	replaced := clause.OnConflict{Columns: []clause.Column{{Name: "table_id"}}, UpdateAll: true}
	return tx.Clauses(replaced).CreateInBatches(&rows, insertBatch).Error
}
