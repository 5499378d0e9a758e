package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noPrincipal() error {
	return fault.About(fault.NotFound, fault.Principal, "The principal does not exist.")
}

// PrincipalByID implements access.Store and management.Store.
func (s *Store) PrincipalByID(ctx context.Context, id string) (models.Principal, error) {
	return s.principalBy(ctx, "id", id)
}

// PrincipalByName implements access.Store and management.Store.
func (s *Store) PrincipalByName(ctx context.Context, name string) (models.Principal, error) {
	return s.principalBy(ctx, "name", name)
}

// PrincipalByClientID implements access.Store.
func (s *Store) PrincipalByClientID(ctx context.Context, clientID string) (models.Principal, error) {
	return s.principalBy(ctx, "client_id", clientID)
}

func (s *Store) principalBy(ctx context.Context, column, value string) (models.Principal, error) {
	if value == "" || !storable(value) {
		return models.Principal{}, noPrincipal()
	}
	return one[models.Principal](ctx, s.query(ctx).Where(column+" = ?", value), noPrincipal())
}

// Principals implements management.Store.
func (s *Store) Principals(ctx context.Context) ([]models.Principal, error) {
	return all[models.Principal](ctx, s.query(ctx).Order("name"))
}

// CreatePrincipal implements access.Store and management.Store. Its clearance is internal where it names none.
func (s *Store) CreatePrincipal(ctx context.Context, p models.Principal, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := s.insertPrincipal(tx, p, models.Internal); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// insertPrincipal adds a principal, with the clearance where it names none.
func (s *Store) insertPrincipal(tx *gorm.DB, p models.Principal, clearance models.Classification) error {
	if err := checkNames(p.Name, p.ClientID); err != nil {
		return err
	}
	if p.Clearance == "" {
		p.Clearance = clearance
	}
	if p.PreviousSecretUntil != nil {
		until := stored(*p.PreviousSecretUntil)
		p.PreviousSecretUntil = &until
	}
	s.stamp(&p.CreatedAt, &p.UpdatedAt)
	if err := clientIDFree(tx, p); err != nil {
		return err
	}
	err := tx.Create(&p).Error
	if isDuplicate(err) {
		return fault.About(fault.AlreadyExists, fault.Principal, "Principal %q exists already: choose another name.", p.Name)
	}
	return err
}

// clientIDFree looks before the insert or update, because its failure does not say which of two unique columns it was.
func clientIDFree(tx *gorm.DB, p models.Principal) error {
	if p.ClientID == "" {
		return nil
	}
	taken, err := exists(tx.Model(&models.Principal{}).Where("client_id = ? AND id <> ?", p.ClientID, p.ID))
	if err == nil && taken {
		return clientIDTaken(p.ClientID)
	}
	return err
}

func clientIDTaken(id string) error {
	return fault.About(fault.AlreadyExists, fault.Principal, "The client id %q is another principal's: choose another.", id)
}

// UpdatePrincipal implements management.Store.
func (s *Store) UpdatePrincipal(ctx context.Context, p models.Principal, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := s.updatePrincipal(tx, p); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

func (s *Store) updatePrincipal(tx *gorm.DB, p models.Principal) error {
	if err := checkNames(p.ClientID); err != nil {
		return err
	}
	if err := clientIDFree(tx, p); err != nil {
		return err
	}
	if p.Clearance == "" {
		p.Clearance = models.Internal
	}
	if p.PreviousSecretUntil != nil {
		until := stored(*p.PreviousSecretUntil)
		p.PreviousSecretUntil = &until
	}
	result := tx.Model(&models.Principal{}).Where("id = ? AND version = ?", p.ID, p.Version).UpdateColumns(map[string]any{
		"client_id":             p.ClientID,
		"secret_hash":           p.SecretHash,
		"previous_secret_hash":  p.PreviousSecretHash,
		"previous_secret_until": p.PreviousSecretUntil,
		"rotation_required":     p.RotationRequired,
		"clearance":             p.Clearance,
		"disabled":              p.Disabled,
		"properties":            p.Properties,
		"version":               p.Version + 1,
		"updated_at":            s.clock(),
	})
	if isDuplicate(result.Error) {
		return clientIDTaken(p.ClientID)
	}
	return changed[models.Principal](tx, result, p.ID, noPrincipal(),
		fault.About(fault.Conflict, fault.Principal, "Principal %q was changed meanwhile: load it and try again.", p.Name))
}

// DeletePrincipal implements management.Store. The database takes its tokens and what roles it has with it.
func (s *Store) DeletePrincipal(ctx context.Context, id string, event models.AuditEvent) error {
	return deleteOne[models.Principal](ctx, s, id, noPrincipal(), event)
}
