package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/models"
)

// ResetSecret implements management.Store.
func (s *Store) ResetSecret(ctx context.Context, p models.Principal, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := s.updatePrincipal(tx, p); err != nil {
			return err
		}
		if err := s.revokeAccessTokens(tx, p.ID); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// ReplaceSecret gives a principal another client secret, by its hash, whatever its version. What was good before stops
// working at once: the old secret, the one before it, and the access tokens that they got.
func (s *Store) ReplaceSecret(ctx context.Context, principalID, secretHash string, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Model(&models.Principal{}).Where("id = ?", principalID).UpdateColumns(map[string]any{
			"secret_hash":           secretHash,
			"previous_secret_hash":  "",
			"previous_secret_until": nil,
			"version":               gorm.Expr("version + 1"),
			"updated_at":            s.clock(),
		})
		if result.Error != nil {
			return result.Error
		}
		if result.RowsAffected == 0 {
			return noPrincipal()
		}
		if err := s.revokeAccessTokens(tx, principalID); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

func (s *Store) revokeAccessTokens(tx *gorm.DB, principalID string) error {
	return tx.Model(&models.Token{}).
		Where("principal_id = ? AND kind = ? AND revoked_at IS NULL", principalID, models.AccessToken).
		UpdateColumn("revoked_at", s.clock()).Error
}
