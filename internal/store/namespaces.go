package store

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noNamespace(key models.NamespaceKey) error {
	return fault.About(fault.NotFound, fault.Namespace, "Namespace %q does not exist.", key)
}

func namespaceGone() error {
	return fault.About(fault.NotFound, fault.Namespace, "The namespace does not exist any more.")
}

func notEmpty(key models.NamespaceKey, children string) error {
	return fault.About(fault.NotEmpty, fault.Namespace, "Namespace %q is not empty: drop its %s first.", key, children)
}

// CreateNamespace implements catalog.Store. Its parent must exist, and is held against being dropped meanwhile.
func (s *Store) CreateNamespace(ctx context.Context, ns models.Namespace, event models.AuditEvent) error {
	if err := checkNames(string(ns.Key)); err != nil {
		return err
	}
	ns.ParentKey = ns.Key.Parent()
	s.stamp(&ns.CreatedAt, &ns.UpdatedAt)
	return s.write(ctx, func(tx *gorm.DB) error {
		if ns.ParentKey != "" {
			var parent models.Namespace
			err := locking(tx, "KEY SHARE").Select("id").
				Where("catalog_id = ? AND name_key = ?", ns.CatalogID, ns.ParentKey).Take(&parent).Error
			if isAbsent(err) {
				return noNamespace(ns.ParentKey)
			} else if err != nil {
				return err
			}
		}
		row := ns
		err := tx.Create(&row).Error
		switch {
		case isDuplicate(err):
			return fault.About(fault.AlreadyExists, fault.Namespace, "Namespace %q exists already.", ns.Key)
		case isOrphan(err):
			return noCatalog(ns.CatalogID)
		case err != nil:
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// AllNamespaces implements catalog.Store.
func (s *Store) AllNamespaces(ctx context.Context, catalogID string) ([]models.Namespace, error) {
	return all[models.Namespace](ctx, s.query(ctx).Select("id", "name_key", "properties").Where("catalog_id = ?", catalogID))
}

// NamespacesNamed implements catalog.Store. It goes over all namespaces of the catalog.
func (s *Store) NamespacesNamed(ctx context.Context, catalogID string, names []string) ([]models.Namespace, error) {
	if slices.ContainsFunc(names, func(name string) bool { return !storable(name) }) {
		return []models.Namespace{}, nil
	}
	return all[models.Namespace](ctx, s.query(ctx).Where("catalog_id = ? AND replace(name_key, ?, '.') IN ?", catalogID, "\x1f", names).Order("name_key"))
}

// NamespacePath implements catalog.Store.
func (s *Store) NamespacePath(ctx context.Context, catalogID string, key models.NamespaceKey) ([]models.Namespace, error) {
	if key == "" || !storable(string(key)) {
		return nil, noNamespace(key)
	}
	var keys []models.NamespaceKey
	for k := key; k != ""; k = k.Parent() {
		keys = append(keys, k)
	}
	// An ancestor's key is a prefix of its descendant's, so it sorts before it.
	path, err := all[models.Namespace](ctx, s.query(ctx).
		Where("catalog_id = ? AND name_key IN ?", catalogID, keys).Order("name_key"))
	if err != nil {
		return nil, err
	}
	if len(path) < len(keys) {
		return nil, noNamespace(key)
	}
	return path, nil
}

// ListNamespaces implements catalog.Store. Page.After is a whole key.
func (s *Store) ListNamespaces(
	ctx context.Context, catalogID string, parent models.NamespaceKey, page catalog.Page,
) ([]models.Namespace, error) {
	if !storable(string(parent)) || !storable(page.After) {
		return []models.Namespace{}, nil
	}
	return all[models.Namespace](ctx, limited(s.query(ctx), page.Limit).
		Where("catalog_id = ? AND parent_key = ? AND name_key > ?", catalogID, parent, page.After).Order("name_key"))
}

// UpdateNamespace implements catalog.Store: defaults and properties.
func (s *Store) UpdateNamespace(ctx context.Context, ns models.Namespace, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Model(&models.Namespace{}).Where("id = ? AND version = ?", ns.ID, ns.Version).
			UpdateColumns(map[string]any{
				"default_write_policy":   ns.DefaultWritePolicy,
				"default_classification": ns.DefaultClassification,
				"properties":             ns.Properties,
				"version":                ns.Version + 1,
				"updated_at":             s.clock(),
			})
		err := changed[models.Namespace](tx, result, ns.ID, noNamespace(ns.Key),
			fault.New(fault.Conflict, "Namespace %q was changed meanwhile: load it and try again.", ns.Key))
		if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// DropNamespace implements catalog.Store. It locks the row first: whoever is adding a child is waited for and then
// seen, and whoever comes later finds the namespace gone.
func (s *Store) DropNamespace(ctx context.Context, id string, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		var ns models.Namespace
		err := locking(tx, "UPDATE").Select("id", "catalog_id", "name_key").Where("id = ?", id).Take(&ns).Error
		if isAbsent(err) {
			return namespaceGone()
		} else if err != nil {
			return err
		}
		var children []models.Namespace
		err = tx.Select("id").Where("catalog_id = ? AND parent_key = ?", ns.CatalogID, ns.Key).Limit(1).Find(&children).Error
		if err != nil {
			return err
		}
		if len(children) > 0 {
			return notEmpty(ns.Key, "namespaces")
		}
		err = tx.Where("id = ?", id).Delete(&models.Namespace{}).Error
		if isOrphan(err) {
			return notEmpty(ns.Key, "tables and views")
		} else if err != nil {
			return err
		}
		if err := dropGrants(tx, id); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}
