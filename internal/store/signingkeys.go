package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const newestKeyFirst = "created_at DESC, id DESC"

// SigningKeys implements access.Store.
func (s *Store) SigningKeys(ctx context.Context) ([]models.SigningKey, error) {
	return all[models.SigningKey](ctx, s.query(ctx).Order(newestKeyFirst))
}

// AddSigningKey implements access.Store. A clock that runs behind cannot make the new key an old one: it is then dated
// just after the newest.
func (s *Store) AddSigningKey(ctx context.Context, key models.SigningKey, newest string, retireOthers time.Time, event models.AuditEvent) error {
	s.stamp(&key.CreatedAt)
	key.RetiresAt, key.ForgottenAt = stored(key.RetiresAt), stored(key.ForgottenAt)
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := lockAccess(tx); err != nil {
			return err
		}
		var last []models.SigningKey
		if err := tx.Order(newestKeyFirst).Limit(1).Find(&last).Error; err != nil {
			return err
		}
		row := key
		if len(last) > 0 && !row.CreatedAt.After(last[0].CreatedAt) {
			row.CreatedAt = last[0].CreatedAt.Add(time.Microsecond)
		}
		if (len(last) == 0) != (newest == "") || len(last) > 0 && last[0].ID != newest {
			return fault.New(fault.Conflict, "Another process made the next signing key: load the keys and use it.")
		}
		if len(last) > 0 {
			retire := stored(retireOthers)
			err := tx.Model(&models.SigningKey{}).Where("retires_at > ?", retire).UpdateColumn("retires_at", retire).Error
			if err != nil {
				return err
			}
			if err := tx.Where("forgotten_at <= ?", s.clock()).Delete(&models.SigningKey{}).Error; err != nil {
				return err
			}
		}
		if err := tx.Create(&row).Error; isDuplicate(err) {
			return fault.New(fault.AlreadyExists, "The signing key exists already.")
		} else if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// RevokeSigningKeys implements access.Store. Where no key is removed there is no event.
func (s *Store) RevokeSigningKeys(ctx context.Context, keep string, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := lockAccess(tx); err != nil {
			return err
		}
		there, err := exists(tx.Model(&models.SigningKey{}).Where("id <> ?", keep))
		if err != nil || !there {
			return err
		}
		result := tx.Where("id <> ?", keep).Delete(&models.SigningKey{})
		if result.Error != nil || result.RowsAffected == 0 {
			return result.Error
		}
		return s.insertAudit(tx, event)
	})
}

// lockAccess holds the row that every change of access writes, so that those who change the keys follow one another.
func lockAccess(tx *gorm.DB) error {
	var state models.AccessState
	return locking(tx, "UPDATE").Where("id = 1").Take(&state).Error
}
