package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noView(name string) error {
	return fault.About(fault.NotFound, fault.View, "View %q does not exist.", name)
}

func viewGone() error {
	return fault.About(fault.NotFound, fault.View, "The view does not exist any more.")
}

func viewExists(name string) error {
	return fault.About(fault.AlreadyExists, fault.View, "View %q exists already: choose another name or drop it first.", name)
}

// ViewByName implements catalog.Store.
func (s *Store) ViewByName(ctx context.Context, namespaceID, name string) (models.View, error) {
	if !storable(name) {
		return models.View{}, noView(name)
	}
	return one[models.View](ctx, s.query(ctx).Where("namespace_id = ? AND name = ?", namespaceID, name), noView(name))
}

// ListViews implements catalog.Store.
func (s *Store) ListViews(ctx context.Context, namespaceID string, page catalog.Page) ([]models.View, error) {
	if !storable(page.After) {
		return []models.View{}, nil
	}
	return all[models.View](ctx, limited(s.query(ctx), page.Limit).
		Where("namespace_id = ? AND name > ?", namespaceID, page.After).Order("name"))
}

// CreateView implements catalog.Store. Like a table it waits for other creations, so that it cannot take a location that
// a table is taking.
func (s *Store) CreateView(ctx context.Context, v models.View, event models.AuditEvent) error {
	if err := checkNames(v.Name, v.Location, v.MetadataLocation); err != nil {
		return err
	}
	s.stamp(&v.CreatedAt, &v.UpdatedAt)
	return s.write(ctx, func(tx *gorm.DB) error {
		known, err := exists(tx.Model(&models.Catalog{}).Where("id = ?", v.CatalogID))
		if err != nil {
			return err
		}
		if !known {
			return noCatalog(v.CatalogID)
		}
		overlap := s.takeLocation(tx, claim{catalogID: v.CatalogID, id: v.ID, namespaceID: v.NamespaceID, name: v.Name, location: v.Location}, ofTables)
		if overlap != nil && !fault.Is(overlap, fault.Conflict) {
			return overlap
		}
		if err := takeName(tx, identifierOfView(v)); err != nil {
			return err
		}
		if overlap != nil {
			return overlap
		}
		row := v
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// SwapView implements catalog.Store. Name and namespace of the row are left alone.
func (s *Store) SwapView(ctx context.Context, v models.View, event models.AuditEvent) error {
	if err := checkNames(v.Location, v.MetadataLocation); err != nil {
		return err
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Model(&models.View{}).Where("id = ? AND version = ?", v.ID, v.Version).UpdateColumns(map[string]any{
			"view_uuid":         v.UUID,
			"location":          v.Location,
			"metadata_location": v.MetadataLocation,
			"version":           v.Version + 1,
			"updated_at":        s.clock(),
		})
		err := changed[models.View](tx, result, v.ID, viewGone(),
			fault.About(fault.Conflict, fault.View, "View %q was changed by another commit: load it and try again.", v.Name))
		if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// DropView implements catalog.Store.
func (s *Store) DropView(ctx context.Context, id string, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := stillNamed[models.View](tx, id, event, fault.View); err != nil {
			return err
		}
		result := tx.Where("id = ?", id).Delete(&models.View{})
		if result.Error != nil {
			return result.Error
		}
		if result.RowsAffected == 0 {
			return viewGone()
		}
		if err := leaveName(tx, id); err != nil {
			return err
		}
		if err := dropGrants(tx, id); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// RenameView implements catalog.Store. It raises the version: a commit that was judged under the old name is judged
// again.
func (s *Store) RenameView(ctx context.Context, id, namespaceID, name string, event models.AuditEvent) error {
	if err := checkNames(name); err != nil {
		return err
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := stillNamed[models.View](tx, id, event, fault.View); err != nil {
			return err
		}
		row := models.View{ID: id, NamespaceID: namespaceID, Name: name}
		result := tx.Model(&models.View{}).Where("id = ?", id).UpdateColumns(map[string]any{
			"namespace_id": namespaceID,
			"name":         name,
			"version":      gorm.Expr("version + 1"),
			"updated_at":   s.clock(),
		})
		switch {
		case isDuplicate(result.Error):
			return viewExists(name)
		case isOrphan(result.Error):
			return fault.About(fault.NotFound, fault.Namespace, "The target namespace does not exist.")
		case result.Error != nil:
			return result.Error
		case result.RowsAffected == 0:
			return viewGone()
		}
		if err := changeName(tx, identifierOfView(row)); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}
