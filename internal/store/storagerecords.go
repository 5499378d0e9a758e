package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/models"
)

// keepStorageRecords is how long a record stays to which nobody adds.
const keepStorageRecords = 30 * 24 * time.Hour

// RecordAccess implements catalog.Store. Records that nobody added to for a month go.
func (s *Store) RecordAccess(ctx context.Context, record models.StorageRecord) error {
	record.TokenID, record.Principal = clean(record.TokenID), clean(record.Principal)
	s.stamp(&record.LastAt)
	record.FirstAt, record.Count = record.LastAt, 1
	return s.writeAlone(ctx, func(tx *gorm.DB) error {
		row := record
		added := clause.OnConflict{
			Columns: []clause.Column{{Name: "table_id"}, {Name: "token_id"}, {Name: "mode"}},
			DoUpdates: clause.Assignments(map[string]any{
				"count":     gorm.Expr("storage_accesses.count + 1"),
				"principal": gorm.Expr("excluded.principal"),
				"last_at":   gorm.Expr("CASE WHEN excluded.last_at > storage_accesses.last_at THEN excluded.last_at ELSE storage_accesses.last_at END"),
			}),
		}
		if err := tx.Clauses(added).Create(&row).Error; err != nil {
			return err
		}
		return tx.Where("last_at < ?", s.clock().Add(-keepStorageRecords)).Delete(&models.StorageRecord{}).Error
	})
}

// StorageRecords implements catalog.Reports.
func (s *Store) StorageRecords(ctx context.Context, f models.StorageRecordFilter) ([]models.NamedStorageRecord, error) {
	query := limited(s.query(ctx), f.Limit).Table("storage_accesses AS r").
		Select(`r.*, COALESCE(c.name, '') AS catalog_name, COALESCE(n.name_key, '') AS namespace_key,
			COALESCE(t.name, '') AS table_name, COALESCE(t.table_uuid, '') AS table_uuid`).
		Joins("LEFT JOIN tables t ON t.id = r.table_id").
		Joins("LEFT JOIN namespaces n ON n.id = t.namespace_id").
		Joins("LEFT JOIN catalogs c ON c.id = t.catalog_id").
		Order("r.table_id, r.token_id, r.mode")
	if f.CatalogID != "" {
		query = query.Where("t.catalog_id = ?", f.CatalogID)
	}
	if f.TableID != "" {
		query = query.Where("r.table_id = ?", f.TableID)
	}
	if after := f.After; after.TableID != "" {
		query = query.Where("(r.table_id, r.token_id, r.mode) > (?, ?, ?)", clean(after.TableID), clean(after.TokenID), clean(string(after.Mode)))
	}
	return all[models.NamedStorageRecord](ctx, query)
}
