package store

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noCatalog(name string) error {
	return fault.About(fault.NotFound, fault.Catalog, "Catalog %q does not exist.", name)
}

// CatalogByName implements catalog.Store, access.Store and management.Store.
func (s *Store) CatalogByName(ctx context.Context, name string) (models.Catalog, error) {
	if !storable(name) {
		return models.Catalog{}, noCatalog(name)
	}
	return one[models.Catalog](ctx, s.query(ctx).Where("name = ?", name), noCatalog(name))
}

// CatalogByID implements catalog.Store.
func (s *Store) CatalogByID(ctx context.Context, id string) (models.Catalog, error) {
	return one[models.Catalog](ctx, s.query(ctx).Where("id = ?", id), noCatalog(id))
}

// Catalogs implements management.Store.
func (s *Store) Catalogs(ctx context.Context) ([]models.Catalog, error) {
	return all[models.Catalog](ctx, s.query(ctx).Order("name"))
}

// CreateCatalog adds a catalog wherever it lies; PlaceCatalog looks first.
func (s *Store) CreateCatalog(ctx context.Context, c models.Catalog, adminPrivileges []models.Privilege, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error { return s.createCatalog(tx, c, adminPrivileges, event) })
}

func (s *Store) createCatalog(tx *gorm.DB, c models.Catalog, adminPrivileges []models.Privilege, event models.AuditEvent) error {
	if err := s.insertCatalog(tx, c, adminPrivileges); err != nil {
		return err
	}
	return s.insertAudit(tx, event)
}

func (s *Store) insertCatalog(tx *gorm.DB, c models.Catalog, adminPrivileges []models.Privilege) error {
	if err := checkNames(c.Name); err != nil {
		return err
	}
	s.stamp(&c.CreatedAt, &c.UpdatedAt)
	c.StorageSecrets = append([]byte{}, c.StorageSecrets...) // never NULL
	if err := tx.Create(&c).Error; isDuplicate(err) {
		return fault.About(fault.AlreadyExists, fault.Catalog, "Catalog %q exists already: choose another name.", c.Name)
	} else if err != nil {
		return err
	}
	role := models.CatalogRole{
		ID: uuid.NewString(), CatalogID: c.ID, Name: models.CatalogAdminRole,
		Version: 1, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt,
	}
	if err := tx.Create(&role).Error; err != nil {
		return err
	}
	var admins []models.PrincipalRole
	if err := tx.Where("name = ?", models.ServiceAdminRole).Find(&admins).Error; err != nil {
		return err
	}
	for _, admin := range admins {
		if err := tx.Create(&models.CatalogRoleMember{PrincipalRoleID: admin.ID, CatalogRoleID: role.ID}).Error; err != nil {
			return err
		}
	}
	if len(adminPrivileges) == 0 {
		return nil
	}
	grants := make([]models.Grant, len(adminPrivileges))
	for i, p := range adminPrivileges {
		grants[i] = models.Grant{
			ID: uuid.NewString(), CatalogRoleID: role.ID, CatalogID: c.ID,
			Scope: models.OnCatalog, ObjectID: c.ID, Privilege: p, CreatedAt: c.CreatedAt,
		}
	}
	return tx.Create(&grants).Error
}

// UpdateCatalog implements catalog.Store: all but the name and the secrets.
func (s *Store) UpdateCatalog(ctx context.Context, c models.Catalog, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error { return s.updateCatalog(tx, c, event) })
}

func (s *Store) updateCatalog(tx *gorm.DB, c models.Catalog, event models.AuditEvent) error {
	result := tx.Model(&models.Catalog{}).Where("id = ? AND version = ?", c.ID, c.Version).
		UpdateColumns(map[string]any{
			"base_location":          c.BaseLocation,
			"allowed_locations":      c.AllowedLocations,
			"storage":                c.Storage,
			"default_write_policy":   c.DefaultWritePolicy,
			"default_classification": c.DefaultClassification,
			"properties":             c.Properties,
			"version":                c.Version + 1,
			"updated_at":             s.clock(),
		})
	err := changed[models.Catalog](tx, result, c.ID, noCatalog(c.Name),
		fault.New(fault.Conflict, "Catalog %q was changed meanwhile: load it and try again.", c.Name))
	if err != nil {
		return err
	}
	return s.insertAudit(tx, event)
}

// SetStorageSecrets implements management.Store.
func (s *Store) SetStorageSecrets(ctx context.Context, id string, version int64, sealed []byte, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Model(&models.Catalog{}).Where("id = ? AND version = ?", id, version).UpdateColumns(map[string]any{
			"storage_secrets": append([]byte{}, sealed...), // never NULL
			"version":         version + 1,
			"updated_at":      s.clock(),
		})
		err := changed[models.Catalog](tx, result, id, catalogGone(),
			fault.New(fault.Conflict, "The catalog was changed meanwhile: try again."))
		if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}
