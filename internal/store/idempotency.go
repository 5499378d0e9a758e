package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/models"
)

// pruneBatch bounds how many keys one transaction removes, so that it holds nobody up.
const pruneBatch = 5000

// IdempotencyKey implements idempotency.Store. A key past its lifetime is removed, so that it can be used anew.
func (s *Store) IdempotencyKey(ctx context.Context, principalID, key string) (models.IdempotencyKey, error) {
	absent := fault.New(fault.NotFound, "The idempotency key is not known.")
	row, err := one[models.IdempotencyKey](ctx, s.query(ctx).Where("principal_id = ? AND idempotency_key = ?", principalID, key), absent)
	if err != nil || s.clock().Before(row.ExpiresAt) {
		return row, err
	}
	err = s.writeAlone(ctx, func(tx *gorm.DB) error {
		return tx.Where("principal_id = ? AND idempotency_key = ? AND expires_at <= ?", principalID, key, s.clock()).
			Delete(&models.IdempotencyKey{}).Error
	})
	if err != nil {
		return models.IdempotencyKey{}, err
	}
	return models.IdempotencyKey{}, absent
}

// SettleIdempotencyKey implements idempotency.Store.
func (s *Store) SettleIdempotencyKey(ctx context.Context, row models.IdempotencyKey) error {
	return s.writeAlone(ctx, func(tx *gorm.DB) error { return insertKey(tx, row) })
}

// PruneIdempotencyKeys implements idempotency.Store.
func (s *Store) PruneIdempotencyKeys(ctx context.Context) (int64, error) {
	var removed int64
	err := s.writeAlone(ctx, func(tx *gorm.DB) error {
		expired := tx.Model(&models.IdempotencyKey{}).Select("principal_id", "idempotency_key").
			Where("expires_at <= ?", s.clock()).Order("expires_at").Limit(pruneBatch)
		result := tx.Where("(principal_id, idempotency_key) IN (?)", expired).Delete(&models.IdempotencyKey{})
		removed = result.RowsAffected
		return result.Error
	})
	return removed, err
}

// insertKey takes a key for the transaction; a concurrent transaction that holds it is waited for.
func insertKey(tx *gorm.DB, row models.IdempotencyKey) error {
	row = keyRow(row)
	result := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	if result.Error == nil && result.RowsAffected == 0 {
		return idempotency.Used()
	}
	return result.Error
}

// keyRow makes a key's text storable.
func keyRow(row models.IdempotencyKey) models.IdempotencyKey {
	row.Route, row.Message = clean(row.Route), clean(row.Message)
	row.CreatedAt, row.ExpiresAt = stored(row.CreatedAt), stored(row.ExpiresAt)
	return row
}

// usedKey tells the refusal of a key that is taken from a statement's other errors.
func usedKey(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.ConstraintName == "idempotency_keys_pkey" {
		return idempotency.Used()
	}
	return err
}
