package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/models"
)

// ReserveTable implements catalog.Store. It is no effect of the request in ctx: an Idempotency-Key is not settled by it.
// A reservation of another that lasts for much longer than this one was made by a clock that is wrong, or was.
func (s *Store) ReserveTable(ctx context.Context, id, holder string, until time.Time) (reserved bool, err error) {
	err = s.writeAlone(ctx, func(tx *gorm.DB) error {
		now := s.clock()
		result := tx.Model(&models.Table{}).
			Where("id = ? AND (reserved_by IN ('', ?) OR reserved_until IS NULL OR reserved_until <= ? OR reserved_until > ?)",
				id, holder, now, now.Add(2*until.Sub(now))).
			UpdateColumns(map[string]any{"reserved_by": holder, "reserved_until": until.UTC()})
		reserved = result.RowsAffected > 0
		return result.Error
	})
	return reserved, err
}

// ReleaseTable implements catalog.Store.
func (s *Store) ReleaseTable(ctx context.Context, id, holder string) error {
	return s.writeAlone(ctx, func(tx *gorm.DB) error {
		return tx.Model(&models.Table{}).Where("id = ? AND reserved_by = ?", id, holder).
			UpdateColumns(map[string]any{"reserved_by": "", "reserved_until": nil}).Error
	})
}
