package store

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noPrincipalRole() error {
	return fault.About(fault.NotFound, fault.Role, "The principal role does not exist.")
}

// PrincipalRoles implements management.Store.
func (s *Store) PrincipalRoles(ctx context.Context) ([]models.PrincipalRole, error) {
	return all[models.PrincipalRole](ctx, s.query(ctx).Order("name"))
}

// PrincipalRoleByName implements management.Store.
func (s *Store) PrincipalRoleByName(ctx context.Context, name string) (models.PrincipalRole, error) {
	if !storable(name) {
		return models.PrincipalRole{}, noPrincipalRole()
	}
	return one[models.PrincipalRole](ctx, s.query(ctx).Where("name = ?", name), noPrincipalRole())
}

// PrincipalRolesNamed implements access.Store.
func (s *Store) PrincipalRolesNamed(ctx context.Context, names []string) ([]models.PrincipalRole, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !storable(n) })
	if len(names) == 0 {
		return []models.PrincipalRole{}, nil
	}
	return all[models.PrincipalRole](ctx, s.query(ctx).Where("name IN ?", padded(names)).Order("name"))
}

// CreatePrincipalRole implements management.Store.
func (s *Store) CreatePrincipalRole(ctx context.Context, r models.PrincipalRole, event models.AuditEvent) error {
	if err := checkNames(r.Name); err != nil {
		return err
	}
	s.stamp(&r.CreatedAt, &r.UpdatedAt)
	return s.write(ctx, func(tx *gorm.DB) error {
		row := r
		if err := tx.Create(&row).Error; isDuplicate(err) {
			return fault.About(fault.AlreadyExists, fault.Role, "Principal role %q exists already: choose another name.", r.Name)
		} else if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// UpdatePrincipalRole implements management.Store.
func (s *Store) UpdatePrincipalRole(ctx context.Context, r models.PrincipalRole, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Model(&models.PrincipalRole{}).Where("id = ? AND version = ?", r.ID, r.Version).
			UpdateColumns(map[string]any{"properties": r.Properties, "federated": r.Federated, "version": r.Version + 1, "updated_at": s.clock()})
		err := changed[models.PrincipalRole](tx, result, r.ID, noPrincipalRole(),
			fault.About(fault.Conflict, fault.Role, "Principal role %q was changed meanwhile: load it and try again.", r.Name))
		if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// DeletePrincipalRole implements management.Store. The database takes its members and its catalog roles' membership
// with it.
func (s *Store) DeletePrincipalRole(ctx context.Context, id string, event models.AuditEvent) error {
	return deleteOne[models.PrincipalRole](ctx, s, id, noPrincipalRole(), event)
}
