package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// ReplaceSecret gives a principal another client secret, by its hash; the old one stops working at once.
func (s *Store) ReplaceSecret(ctx context.Context, principalID, secretHash string, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Model(&models.Principal{}).Where("id = ?", principalID).UpdateColumns(map[string]any{
			"secret_hash": secretHash, "version": gorm.Expr("version + 1"), "updated_at": s.clock(),
		})
		if result.Error != nil {
			return result.Error
		}
		if result.RowsAffected == 0 {
			return fault.About(fault.NotFound, fault.Principal, "There is no such principal.")
		}
		return s.insertAudit(tx, event)
	})
}
