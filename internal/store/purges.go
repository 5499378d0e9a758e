package store

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// isDue is the predicate of the index dropped_tables_due.
const isDue = "state IN ('dropped', 'purging') AND purge_after IS NOT NULL"

// DuePurges implements activities.PurgeLedger.
func (s *Store) DuePurges(ctx context.Context, now time.Time, after string, limit int) ([]models.DroppedTable, error) {
	return all[models.DroppedTable](ctx, limited(s.query(ctx), limit).
		Where(isDue+" AND purge_after <= ? AND id > ?", stored(now), after).Order("id"))
}

// ClaimPurge implements activities.PurgeLedger.
func (s *Store) ClaimPurge(ctx context.Context, id string, now time.Time) (record models.DroppedTable, claimed bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", id).Take(&record).Error; isAbsent(err) {
			return noDrop(id)
		} else if err != nil {
			return err
		}
		if record.State == models.StatePurging {
			claimed = true
			return nil
		}
		if record.State != models.StateDropped || record.PurgeAfter == nil || record.PurgeAfter.After(now) {
			claimed = false
			return nil
		}
		record, err = s.moveDrop(tx, id, models.StatePurging, models.StateDropped)
		claimed = err == nil
		if fault.Is(err, fault.Conflict) { // undropped between the two reads
			return nil
		}
		return err
	})
	return record, claimed, err
}

// FinishPurge implements activities.PurgeLedger.
func (s *Store) FinishPurge(ctx context.Context, id string, files, bytes int64, event models.AuditEvent) (finished bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		record, err := s.moveDrop(tx, id, models.StatePurged, models.StatePurging)
		if fault.Is(err, fault.Conflict) && record.State == models.StatePurged {
			finished = false
			return nil
		}
		if err != nil {
			return err
		}
		finished = true
		err = tx.Model(&models.DroppedTable{}).Where("id = ?", id).
			UpdateColumns(map[string]any{"purged_files": files, "purged_bytes": bytes}).Error
		if err != nil {
			return err
		}
		if err := dropGrants(tx, record.TableID); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
	return finished, err
}

// Sharers implements activities.PurgeLedger. Catalogs may lie in one another, so all of them are looked at. A record of the
// same uuid is the same table, that went through another catalog; tables without a uuid are each another.
func (s *Store) Sharers(ctx context.Context, id string) (activities.Sharers, error) {
	var out activities.Sharers
	record, err := s.DroppedTable(ctx, id)
	if err != nil {
		return out, err
	}
	above, below := enclosing(record.Location), strings.TrimRight(record.Location, "/")
	const overlap = "(location IN ? OR (location >= ? AND location < ?))"
	const columns = "location, metadata_location, " + overlap + " AS overlaps"
	args := []any{above, below + "/", below + "0"}
	err = s.query(ctx).Raw("SELECT "+columns+" FROM tables WHERE foreign_files OR "+overlap+
		" UNION ALL SELECT "+columns+" FROM dropped_tables WHERE id <> ? AND (table_uuid = '' OR table_uuid <> ?)"+
		" AND state IN ('dropped', 'unregistered', 'forgotten') AND (foreign_files OR "+overlap+")",
		flat(args, args, args, []any{id, record.TableUUID}, args)...).Scan(&out.Tables).Error
	if err != nil {
		return out, translate(ctx, err)
	}
	var views int64
	err = s.query(ctx).Model(&models.View{}).Where(overlap, args...).Count(&views).Error
	out.Overlapped = views > 0
	for _, t := range out.Tables {
		out.Overlapped = out.Overlapped || t.Overlaps
	}
	return out, translate(ctx, err)
}

func flat(parts ...[]any) []any {
	var out []any
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
