package store

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/models"
)

// PendingEvents implements dispatch.Outbox.
func (s *Store) PendingEvents(ctx context.Context, limit int) ([]models.OutboxEvent, error) {
	return all[models.OutboxEvent](ctx, limited(s.query(ctx), limit).Order("id"))
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
