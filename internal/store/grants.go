package store

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

// AddGrant implements management.Store. What the grant is on is held against being dropped meanwhile, so that no grant
// outlives its object.
func (s *Store) AddGrant(ctx context.Context, g models.Grant, event models.AuditEvent) (added bool, err error) {
	s.stamp(&g.CreatedAt)
	err = s.write(ctx, func(tx *gorm.DB) error {
		added = false
		if err := holdGrantee(tx, g); err != nil {
			return err
		}
		there, err := exists(tx.Model(&models.Grant{}).
			Where("catalog_role_id = ? AND object_id = ? AND privilege = ?", g.CatalogRoleID, g.ObjectID, g.Privilege))
		if err != nil || there {
			return err
		}
		row := g
		result := tx.Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "catalog_role_id"}, {Name: "object_id"}, {Name: "privilege"}}, DoNothing: true,
		}).Create(&row)
		if result.Error != nil || result.RowsAffected == 0 {
			return result.Error
		}
		added = true
		return s.insertAudit(tx, event)
	})
	return added && err == nil, err
}

// holdGrantee locks the role and the object of a grant, both of which are in its catalog.
func holdGrantee(tx *gorm.DB, g models.Grant) error {
	hold := func(model any, id, catalogColumn string, absent error) error {
		var ids []string
		err := locking(tx.Model(model), "KEY SHARE").
			Where("id = ? AND "+catalogColumn+" = ?", id, g.CatalogID).Pluck("id", &ids).Error
		if err == nil && len(ids) == 0 {
			return absent
		}
		return err
	}
	if err := hold(&models.CatalogRole{}, g.CatalogRoleID, "catalog_id", noCatalogRole()); err != nil {
		return err
	}
	switch g.Scope {
	case models.OnCatalog:
		return hold(&models.Catalog{}, g.ObjectID, "id", catalogGone())
	case models.OnNamespace:
		return hold(&models.Namespace{}, g.ObjectID, "catalog_id", namespaceGone())
	case models.OnTable:
		return hold(&models.Table{}, g.ObjectID, "catalog_id", tableGone())
	case models.OnView:
		return hold(&models.View{}, g.ObjectID, "catalog_id", viewGone())
	}
	return fault.New(fault.Invalid, "Grants are on a catalog, a namespace, a table or a view, not on a %q.", g.Scope)
}

// RevokeGrants implements management.Store. Rows are locked in order of their ids, so that two revocations cannot wait
// for each other.
func (s *Store) RevokeGrants(ctx context.Context, grants []management.RevokedGrant) (revoked int, err error) {
	events := make(map[string]models.AuditEvent, len(grants))
	for _, g := range grants {
		events[g.ID] = g.Event
	}
	ids := make([]string, 0, len(events))
	for id := range events {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	err = s.write(ctx, func(tx *gorm.DB) error {
		revoked = 0
		for part := range slices.Chunk(ids, insertBatch) {
			var there []string
			err := locking(tx.Model(&models.Grant{}), "UPDATE").Where("id IN ?", padded(part)).Order("id").Pluck("id", &there).Error
			if err != nil {
				return err
			}
			if len(there) == 0 {
				continue
			}
			if err := tx.Where("id IN ?", padded(there)).Delete(&models.Grant{}).Error; err != nil {
				return err
			}
			notes := make([]models.AuditEvent, len(there))
			for i, id := range there {
				notes[i] = events[id]
			}
			if err := s.insertAudit(tx, notes...); err != nil {
				return err
			}
			revoked += len(there)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return revoked, nil
}

// dropGrants removes what was granted on an object that is gone. It looks first, as addMember does.
func dropGrants(tx *gorm.DB, objectID string) error {
	granted, err := exists(tx.Model(&models.Grant{}).Where("object_id = ?", objectID))
	if err != nil || !granted {
		return err
	}
	return tx.Where("object_id = ?", objectID).Delete(&models.Grant{}).Error
}

// copyGrants gives what takes a table's place the grants of the table.
func (s *Store) copyGrants(tx *gorm.DB, from, to string) error {
	var grants []models.Grant
	if err := tx.Where("object_id = ?", from).Find(&grants).Error; err != nil || len(grants) == 0 {
		return err
	}
	now := s.clock()
	for i := range grants {
		grants[i].ID, grants[i].ObjectID, grants[i].CreatedAt = uuid.NewString(), to, now
	}
	return tx.CreateInBatches(&grants, insertBatch).Error
}
