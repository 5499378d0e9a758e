package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/models"
)

// SealedEvents implements events.Source.
func (s *Store) SealedEvents(ctx context.Context, after int64, limit int) ([]models.SealedEvent, error) {
	rows, err := sealedAfter(s.query(ctx), after, limit)
	return rows, translate(ctx, err)
}

// sealedAfter gives sealed events in order of their places. Places are given in one transaction after the other, so that
// none becomes visible after one that is higher.
func sealedAfter(db *gorm.DB, after int64, limit int) ([]models.SealedEvent, error) {
	rows := []models.SealedEvent{}
	err := limited(db, limit).Table("audit_events").Where("seq > ? AND seq IS NOT NULL", after).Order("seq").Find(&rows).Error
	return rows, err
}
