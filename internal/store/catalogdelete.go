package store

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// namedLeftovers bounds how many things that are still in a catalog the refusal to delete it names.
const namedLeftovers = 3

func catalogGone() error {
	return fault.About(fault.NotFound, fault.Catalog, "The catalog does not exist any more.")
}

// DeleteCatalog implements management.Store. It locks the row first, as DropNamespace does. The records of its drops, its
// ledger and its audit stay; those tables that were unregistered let go of their locations, because nobody could forget
// them any more.
func (s *Store) DeleteCatalog(ctx context.Context, id string, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		var cat models.Catalog
		err := locking(tx, "UPDATE").Select("id", "name").Where("id = ?", id).Take(&cat).Error
		if isAbsent(err) {
			return catalogGone()
		} else if err != nil {
			return err
		}
		if err := emptyOfNamespaces(tx, cat); err != nil {
			return err
		}
		if err := emptyOfDrops(tx, cat); err != nil {
			return err
		}
		err = tx.Model(&models.DroppedTable{}).Where("catalog_id = ? AND state = ?", id, models.StateUnregistered).
			UpdateColumns(map[string]any{"state": models.StateForgotten, "changed_at": s.clock()}).Error
		if err != nil {
			return err
		}
		if err := tx.Where("id = ?", id).Delete(&models.Catalog{}).Error; err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

func emptyOfNamespaces(tx *gorm.DB, cat models.Catalog) error {
	var found []models.Namespace
	err := tx.Select("name_key").Where("catalog_id = ?", cat.ID).Order("name_key").Limit(namedLeftovers + 1).Find(&found).Error
	if err != nil || len(found) == 0 {
		return err
	}
	names := make([]string, len(found))
	for i, ns := range found {
		names[i] = ns.Key.String()
	}
	return fault.About(fault.NotEmpty, fault.Catalog, "Catalog %q is not empty: drop its namespaces %s first.", cat.Name, listed(names))
}

// emptyOfDrops: a record that is dropped or being purged still stands for files that somebody may want back or that are
// yet to be deleted.
func emptyOfDrops(tx *gorm.DB, cat models.Catalog) error {
	var found []models.DroppedTable
	err := tx.Select("namespace_key", "name").
		Where("catalog_id = ? AND state IN ?", cat.ID, []models.DropState{models.StateDropped, models.StatePurging}).
		Order("id").Limit(namedLeftovers + 1).Find(&found).Error
	if err != nil || len(found) == 0 {
		return err
	}
	names := make([]string, len(found))
	for i, drop := range found {
		names[i] = drop.Ident().String()
	}
	return fault.About(fault.NotEmpty, fault.Catalog,
		"Catalog %q still has the files of the dropped tables %s: forget them, or wait until they are purged.", cat.Name, listed(names))
}

// listed joins the first names, and says when there are more.
func listed(names []string) string {
	if len(names) > namedLeftovers {
		return fmt.Sprintf("%s and more", strings.Join(names[:namedLeftovers], ", "))
	}
	return strings.Join(names, ", ")
}
