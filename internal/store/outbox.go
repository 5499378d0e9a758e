package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/models"
)

// isFree tells whether an event is nobody's, at a time.
const isFree = "(claimed_until IS NULL OR claimed_until <= ?)"

// claimSQL claims events in one statement. Who comes at once with another takes others: what is locked is skipped.
const claimSQL = `WITH oldest AS (SELECT id FROM outbox_events WHERE ` + isFree + ` ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED),
		newest AS (SELECT id FROM outbox_events WHERE ` + isFree + ` ORDER BY id DESC LIMIT ? FOR UPDATE SKIP LOCKED)
	UPDATE outbox_events SET claimed_by = ?, claimed_until = ?
	WHERE id IN (SELECT id FROM oldest UNION SELECT id FROM newest) RETURNING *`

// ClaimEvents implements dispatch.Outbox. A claim whose answer is lost is over with its lease.
func (s *Store) ClaimEvents(ctx context.Context, owner string, lease time.Duration, oldest, newest int) ([]models.OutboxEvent, error) {
	now := s.clock()
	until := now.Add(lease)
	claimed := []models.OutboxEvent{}
	var err error
	if s.dialect == goose.DialectPostgres {
		err = s.query(ctx).Raw(claimSQL, now, oldest, now, newest, clean(owner), until).Scan(&claimed).Error
	} else {
		claimed, err = s.claimAlone(ctx, clean(owner), now, until, oldest, newest)
	}
	slices.SortFunc(claimed, func(a, b models.OutboxEvent) int { return cmp.Compare(a.ID, b.ID) })
	return claimed, translate(ctx, err)
}

// claimAlone is ClaimEvents for SQLite, whose one writer needs no locks. It looks before it writes.
func (s *Store) claimAlone(ctx context.Context, owner string, now, until time.Time, oldest, newest int) ([]models.OutboxEvent, error) {
	free, err := exists(s.query(ctx).Model(&models.OutboxEvent{}).Where(isFree, now))
	if err != nil || !free || oldest+newest <= 0 {
		return []models.OutboxEvent{}, err
	}
	var claimed []models.OutboxEvent
	err = s.write(ctx, func(tx *gorm.DB) error {
		claimed = []models.OutboxEvent{}
		for _, end := range []struct {
			order string
			limit int
		}{{"id", oldest}, {"id DESC", newest}} {
			if end.limit <= 0 {
				continue
			}
			var some []models.OutboxEvent
			// What the first of them took is free no more.
			if err := tx.Where(isFree, now).Order(end.order).Limit(end.limit).Find(&some).Error; err != nil {
				return err
			}
			ids := make([]int64, len(some))
			for i := range some {
				ids[i], some[i].ClaimedBy, some[i].ClaimedUntil = some[i].ID, owner, &until
			}
			for chunk := range slices.Chunk(ids, recordBatch) {
				err := tx.Model(&models.OutboxEvent{}).Where("id IN ?", chunk).
					UpdateColumns(map[string]any{"claimed_by": owner, "claimed_until": until}).Error
				if err != nil {
					return err
				}
			}
			claimed = append(claimed, some...)
		}
		return nil
	})
	return claimed, err
}

// ReleaseClaims gives back what any dispatcher claimed. A process that is the only one calls it at its start, so that nothing waits for
// the claims of one that was killed; where there are others, some of their events may be started twice, which does no harm.
func (s *Store) ReleaseClaims(ctx context.Context) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&models.OutboxEvent{}).Where("claimed_by <> ''").
			UpdateColumns(map[string]any{"claimed_by": "", "claimed_until": nil}).Error
	})
}

// ReleaseEvents implements dispatch.Outbox.
func (s *Store) ReleaseEvents(ctx context.Context, owner string, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		for chunk := range slices.Chunk(ids, 1000) {
			err := tx.Model(&models.OutboxEvent{}).Where("id IN ? AND claimed_by = ?", chunk, clean(owner)).
				UpdateColumns(map[string]any{"claimed_by": "", "claimed_until": nil}).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// RemoveEvents implements dispatch.Outbox. Events that are gone already are no error.
func (s *Store) RemoveEvents(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		for chunk := range slices.Chunk(ids, 1000) {
			if err := tx.Where("id IN ?", chunk).Delete(&models.OutboxEvent{}).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// DelayEvent implements dispatch.Outbox.
func (s *Store) DelayEvent(ctx context.Context, id int64, cause string) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&models.OutboxEvent{}).Where("id = ?", id).
			UpdateColumns(map[string]any{"attempts": gorm.Expr("attempts + 1"), "last_error": clean(cause)}).Error
	})
}

// Backlog implements dispatch.Outbox.
func (s *Store) Backlog(ctx context.Context) (int64, time.Time, error) {
	var oldest []struct {
		CreatedAt time.Time
		Events    int64
	}
	err := s.query(ctx).Raw(`SELECT created_at, (SELECT count(*) FROM outbox_events) AS events
		FROM outbox_events ORDER BY id LIMIT 1`).Scan(&oldest).Error
	if err != nil || len(oldest) == 0 {
		return 0, time.Time{}, translate(ctx, err)
	}
	return oldest[0].Events, oldest[0].CreatedAt, nil
}
