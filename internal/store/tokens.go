package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noToken() error { return fault.About(fault.NotFound, fault.Token, "The token does not exist.") }

// CreateToken implements access.Store.
func (s *Store) CreateToken(ctx context.Context, t models.Token, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error { return s.insertToken(tx, t, event) })
}

// IssueToken implements access.Store. The principal is held as it is until the token is there: a reset that comes
// meanwhile either ends the token or is seen here.
func (s *Store) IssueToken(ctx context.Context, t models.Token, principalVersion int64, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		var p models.Principal
		err := locking(tx, "SHARE").Select("id", "version").Where("id = ?", t.PrincipalID).Take(&p).Error
		switch {
		case isAbsent(err):
			return noPrincipal()
		case err != nil:
			return err
		case p.Version != principalVersion:
			return fault.About(fault.Conflict, fault.Principal, "The principal of the token was changed meanwhile: ask for it again.")
		}
		return s.insertToken(tx, t, event)
	})
}

func (s *Store) insertToken(tx *gorm.DB, t models.Token, event models.AuditEvent) error {
	t.Name, t.CreatedBy = clean(t.Name), clean(t.CreatedBy)
	s.stamp(&t.CreatedAt)
	err := tx.Create(&t).Error
	switch {
	case isDuplicate(err):
		return fault.About(fault.AlreadyExists, fault.Token, "The token exists already.")
	case isOrphan(err):
		return fault.About(fault.NotFound, fault.Principal, "The principal or catalog of the token does not exist.")
	case err != nil:
		return err
	}
	return s.insertAudit(tx, event)
}

// Bearer implements access.Store.
func (s *Store) Bearer(ctx context.Context, hash string) (access.Bearer, error) {
	return s.bearerBy(ctx, "hash", hash)
}

// BearerByID implements access.Store.
func (s *Store) BearerByID(ctx context.Context, tokenID string) (access.Bearer, error) {
	return s.bearerBy(ctx, "id", tokenID)
}

func (s *Store) bearerBy(ctx context.Context, column, value string) (access.Bearer, error) {
	if !storable(value) {
		return access.Bearer{}, noToken()
	}
	token, err := one[models.Token](ctx, s.query(ctx).Where(column+" = ?", value), noToken())
	if err != nil {
		return access.Bearer{}, err
	}
	principal, err := s.PrincipalByID(ctx, token.PrincipalID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return access.Bearer{}, err
	}
	return access.Bearer{Token: token, Principal: principal}, nil
}

// TokenByID implements access.Store.
func (s *Store) TokenByID(ctx context.Context, id string) (models.Token, error) {
	if !storable(id) {
		return models.Token{}, noToken()
	}
	return one[models.Token](ctx, s.query(ctx).Where("id = ?", id), noToken())
}

// ListTokens implements access.Store. An unknown cursor ends the list.
func (s *Store) ListTokens(ctx context.Context, after string, limit int) ([]models.Token, error) {
	query := limited(s.query(ctx), limit).Where("kind = ?", models.EngineToken).Order("created_at DESC, id DESC")
	if after != "" {
		if !storable(after) {
			return []models.Token{}, nil
		}
		query = query.Where("(created_at, id) < (SELECT created_at, id FROM tokens WHERE id = ?)", after)
	}
	return all[models.Token](ctx, query)
}

// RevokeToken implements access.Store. Revoking again changes nothing and adds no event.
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		var token models.Token
		err := locking(tx, "UPDATE").Select("id", "revoked_at").Where("id = ?", id).Take(&token).Error
		if isAbsent(err) {
			return noToken()
		}
		if err != nil || token.RevokedAt != nil {
			return err
		}
		if err := tx.Model(&models.Token{}).Where("id = ?", id).UpdateColumn("revoked_at", stored(at)).Error; err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// TouchToken implements access.Store: to the minute, so that most uses find nothing to write.
func (s *Store) TouchToken(ctx context.Context, id string, at time.Time) error {
	minute := at.UTC().Truncate(time.Minute)
	return s.write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&models.Token{}).Where("id = ? AND (last_used_at IS NULL OR last_used_at < ?)", id, minute).
			UpdateColumn("last_used_at", minute).Error
	})
}

// PruneAccessTokens implements access.Store. Engine tokens stay: the list shows them after they expired.
func (s *Store) PruneAccessTokens(ctx context.Context, before time.Time) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		return tx.Where("kind = ? AND expires_at < ?", models.AccessToken, stored(before)).Delete(&models.Token{}).Error
	})
}
