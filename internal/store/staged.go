package store

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// StageCreate implements catalog.Store. Like a table it waits for others who take locations.
func (s *Store) StageCreate(ctx context.Context, staged models.StagedCreate) error {
	if err := checkNames(staged.Name, staged.Location); err != nil {
		return err
	}
	s.stamp(&staged.CreatedAt)
	staged.ExpiresAt = stored(staged.ExpiresAt)
	return s.write(ctx, func(tx *gorm.DB) error {
		err := s.takeLocation(tx, claim{
			catalogID: staged.CatalogID, namespaceID: staged.NamespaceID, name: staged.Name, location: staged.Location,
		}, ofTables, ofViews)
		if err != nil {
			return err
		}
		// One of the same name may have the location, and so may one that is expired.
		err = tx.Where("expires_at <= ? OR location = ?", s.clock(), staged.Location).Delete(&models.StagedCreate{}).Error
		if err != nil {
			return err
		}
		row := staged
		if err := tx.Create(&row).Error; isOrphan(err) {
			return namespaceGone()
		} else if err != nil {
			return err
		}
		return nil
	})
}

// StagedCreates implements catalog.Store.
func (s *Store) StagedCreates(ctx context.Context, namespaceID, name, principalID string) ([]models.StagedCreate, error) {
	if !storable(name) {
		return []models.StagedCreate{}, nil
	}
	return all[models.StagedCreate](ctx, s.query(ctx).
		Where("namespace_id = ? AND name = ? AND principal = ? AND expires_at > ?", namespaceID, name, principalID, s.clock()).
		Order("created_at DESC, id DESC"))
}

// StagedAt implements catalog.Store.
func (s *Store) StagedAt(ctx context.Context, location, namespaceID, name string) (catalog.Occupant, error) {
	if !storable(location) || !storable(name) {
		return catalog.Occupant{}, nil
	}
	found, err := s.stagedAt(s.query(ctx), location, namespaceID, name)
	return found, translate(ctx, err)
}

// stagedAt finds a live staged create of another name above, at or below the location.
func (s *Store) stagedAt(tx *gorm.DB, location, namespaceID, name string) (catalog.Occupant, error) {
	above, below := enclosing(location), strings.TrimRight(location, "/")
	if len(above) == 0 {
		return catalog.Occupant{}, nil
	}
	var found []struct {
		CatalogID, Name string
		Key             models.NamespaceKey `gorm:"column:name_key"`
	}
	err := tx.Raw(`SELECT s.catalog_id, s.name, n.name_key FROM staged_creates s JOIN namespaces n ON n.id = s.namespace_id
		WHERE s.expires_at > ? AND (s.namespace_id <> ? OR s.name <> ?)
		AND (s.location IN ? OR s.location >= ? AND s.location < ?) LIMIT 1`,
		s.clock(), namespaceID, name, above, below+"/", below+"0").Scan(&found).Error // "0" follows "/"
	if err != nil || len(found) == 0 {
		return catalog.Occupant{}, err
	}
	ident := models.TableIdent{Namespace: found[0].Key.Levels(), Name: found[0].Name}
	return catalog.Occupant{CatalogID: found[0].CatalogID, Name: ident.String() + " (being created)"}, nil
}

// endStaged forgets the staged creates of a name that is a table now.
func endStaged(tx *gorm.DB, namespaceID, name string) error {
	return tx.Where("namespace_id = ? AND name = ?", namespaceID, name).Delete(&models.StagedCreate{}).Error
}

// TableAtLocation implements catalog.Store. Locations are compared by whole path segments, as they are written.
func (s *Store) TableAtLocation(ctx context.Context, catalogID, location string) (models.Table, error) {
	absent := fault.About(fault.NotFound, fault.Table, "No table of the catalog has its files at %s.", clean(location))
	above := enclosing(location)
	if !storable(location) || len(above) == 0 {
		return models.Table{}, absent
	}
	return one[models.Table](ctx, s.query(ctx).Where("catalog_id = ? AND location IN ?", catalogID, padded(above)).Order("length(location) DESC"), absent)
}

// StagedAtLocation implements catalog.Store.
func (s *Store) StagedAtLocation(ctx context.Context, catalogID, location, principalID string) (models.StagedCreate, models.NamespaceKey, error) {
	absent := fault.About(fault.NotFound, fault.Table, "No table of the catalog is being created at %s.", clean(location))
	above := enclosing(location)
	if !storable(location) || len(above) == 0 {
		return models.StagedCreate{}, "", absent
	}
	staged, err := one[models.StagedCreate](ctx, s.query(ctx).
		Where("catalog_id = ? AND location IN ? AND principal = ? AND expires_at > ?", catalogID, padded(above), principalID, s.clock()).
		Order("length(location) DESC"), absent)
	if err != nil {
		return staged, "", err
	}
	ns, err := one[models.Namespace](ctx, s.query(ctx).Where("id = ?", staged.NamespaceID), absent)
	return staged, ns.Key, err
}
