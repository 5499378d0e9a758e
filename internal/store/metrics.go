package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/models"
)

// AddMetricsReport implements catalog.MetricsStore.
func (s *Store) AddMetricsReport(ctx context.Context, r models.MetricsReport, keep int, oldest time.Time) error {
	r.TableName, r.Type, r.Client, r.Report = clean(r.TableName), models.MetricsReportType(clean(string(r.Type))), clean(r.Client), clean(r.Report)
	r.ReportedAt = stored(r.ReportedAt)
	return s.writeAlone(ctx, func(tx *gorm.DB) error {
		row := r
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return pruneReports(tx, r.TableID, keep, stored(oldest))
	})
}

// pruneReports removes what is beyond the bounds; both finds are by an index and most often empty.
func pruneReports(tx *gorm.DB, tableID string, keep int, oldest time.Time) error {
	beyond := tx.Model(&models.MetricsReport{}).Select("id").Where("table_id = ?", tableID).Order("id DESC").Offset(keep).Limit(1)
	if err := tx.Where("table_id = ? AND id <= (?)", tableID, beyond).Delete(&models.MetricsReport{}).Error; err != nil {
		return err
	}
	return tx.Where("reported_at < ?", oldest).Delete(&models.MetricsReport{}).Error
}

// MetricsReports gives reports, newest first.
func (s *Store) MetricsReports(ctx context.Context, f models.MetricsReportFilter) ([]models.MetricsReport, error) {
	query := limited(s.query(ctx), f.Limit).Order("id DESC")
	if f.CatalogID != "" {
		query = query.Where("catalog_id = ?", f.CatalogID)
	}
	if f.TableID != "" {
		query = query.Where("table_id = ?", f.TableID)
	}
	if f.Type != "" {
		query = query.Where("type = ?", clean(string(f.Type)))
	}
	if f.Before > 0 {
		query = query.Where("id < ?", f.Before)
	}
	return all[models.MetricsReport](ctx, query)
}
