package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

// PlaceCatalog implements management.Store.
func (s *Store) PlaceCatalog(ctx context.Context, place func(at management.Places) error) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := s.lockLocations(tx); err != nil {
			return err
		}
		return place(places{s, tx})
	})
}

// places is the store within the transaction of PlaceCatalog.
type places struct {
	s  *Store
	tx *gorm.DB
}

func (p places) Catalogs() ([]models.Catalog, error) {
	var all []models.Catalog
	return all, p.tx.Order("name").Find(&all).Error
}

func (p places) TableWithin(location, exceptCatalogID string) (string, error) {
	return tableWithin(p.tx, location, exceptCatalogID)
}

func (p places) CreateCatalog(c models.Catalog, adminPrivileges []models.Privilege, event models.AuditEvent) error {
	return p.s.createCatalog(p.tx, c, adminPrivileges, event)
}

func (p places) UpdateCatalog(c models.Catalog, event models.AuditEvent) error {
	return p.s.updateCatalog(p.tx, c, event)
}
