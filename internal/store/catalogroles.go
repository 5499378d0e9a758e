package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noCatalogRole() error {
	return fault.About(fault.NotFound, fault.Role, "The catalog role does not exist.")
}

// CatalogRoles implements management.Store.
func (s *Store) CatalogRoles(ctx context.Context, catalogID string) ([]models.CatalogRole, error) {
	return all[models.CatalogRole](ctx, s.query(ctx).Where("catalog_id = ?", catalogID).Order("name"))
}

// CatalogRoleByName implements management.Store.
func (s *Store) CatalogRoleByName(ctx context.Context, catalogID, name string) (models.CatalogRole, error) {
	if !storable(name) {
		return models.CatalogRole{}, noCatalogRole()
	}
	return one[models.CatalogRole](ctx, s.query(ctx).Where("catalog_id = ? AND name = ?", catalogID, name), noCatalogRole())
}

// CreateCatalogRole implements management.Store.
func (s *Store) CreateCatalogRole(ctx context.Context, r models.CatalogRole, event models.AuditEvent) error {
	if err := checkNames(r.Name); err != nil {
		return err
	}
	s.stamp(&r.CreatedAt, &r.UpdatedAt)
	return s.write(ctx, func(tx *gorm.DB) error {
		row := r
		err := tx.Create(&row).Error
		switch {
		case isDuplicate(err):
			return fault.About(fault.AlreadyExists, fault.Role, "Catalog role %q exists already: choose another name.", r.Name)
		case isOrphan(err):
			return catalogGone()
		case err != nil:
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// UpdateCatalogRole implements management.Store.
func (s *Store) UpdateCatalogRole(ctx context.Context, r models.CatalogRole, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Model(&models.CatalogRole{}).Where("id = ? AND version = ?", r.ID, r.Version).
			UpdateColumns(map[string]any{"properties": r.Properties, "version": r.Version + 1, "updated_at": s.clock()})
		err := changed[models.CatalogRole](tx, result, r.ID, noCatalogRole(),
			fault.About(fault.Conflict, fault.Role, "Catalog role %q was changed meanwhile: load it and try again.", r.Name))
		if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// DeleteCatalogRole implements management.Store. The database takes its grants and its members with it.
func (s *Store) DeleteCatalogRole(ctx context.Context, id string, event models.AuditEvent) error {
	return deleteOne[models.CatalogRole](ctx, s, id, noCatalogRole(), event)
}
