package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noTable(name string) error {
	return fault.About(fault.NotFound, fault.Table, "Table %q does not exist.", name)
}

func tableGone() error {
	return fault.About(fault.NotFound, fault.Table, "The table does not exist any more.")
}

func tableExists(name string) error {
	return fault.About(fault.AlreadyExists, fault.Table, "Table %q exists already: choose another name or drop it first.", name)
}

// TableByName implements catalog.Store.
func (s *Store) TableByName(ctx context.Context, namespaceID, name string) (models.Table, error) {
	if !storable(name) {
		return models.Table{}, noTable(name)
	}
	return one[models.Table](ctx, s.query(ctx).Where("namespace_id = ? AND name = ?", namespaceID, name), noTable(name))
}

// TableByID implements catalog.Store and activities.Ledger.
func (s *Store) TableByID(ctx context.Context, id string) (models.Table, error) {
	return one[models.Table](ctx, s.query(ctx).Where("id = ?", id), tableGone())
}

// FindTable gives the table with the table-uuid, which no two have. An empty catalogID searches every catalog.
func (s *Store) FindTable(ctx context.Context, catalogID, tableUUID string) ([]models.Table, error) {
	query := s.query(ctx).Where("table_uuid = ? AND table_uuid <> ''", tableUUID).Order("id")
	if catalogID != "" {
		query = query.Where("catalog_id = ?", catalogID)
	}
	return all[models.Table](ctx, query)
}

// ListTables implements catalog.Store.
func (s *Store) ListTables(ctx context.Context, namespaceID string, page catalog.Page) ([]models.Table, error) {
	if !storable(page.After) {
		return []models.Table{}, nil
	}
	return all[models.Table](ctx, limited(s.query(ctx), page.Limit).
		Where("namespace_id = ? AND name > ?", namespaceID, page.After).Order("name"))
}

// CreateTable implements catalog.Store. Creations follow one another, so that two of them cannot take locations that
// overlap; the later one gets fault.Conflict.
func (s *Store) CreateTable(ctx context.Context, t models.Table, effects catalog.Effects) error {
	if err := checkNames(t.Name, t.Location, t.MetadataLocation); err != nil {
		return err
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := s.continueDrop(tx, effects.Continues, t.ID); err != nil {
			return err
		}
		if err := s.insertTable(tx, t); err != nil {
			return err
		}
		return s.insertEffects(tx, effects.Commits, effects.Audit)
	})
}

func (s *Store) insertTable(tx *gorm.DB, row models.Table) error {
	s.stamp(&row.CreatedAt, &row.UpdatedAt)
	if row.DuplicateCommits == "" {
		row.DuplicateCommits = models.AuditDuplicates
	}
	known, err := exists(tx.Model(&models.Catalog{}).Where("id = ?", row.CatalogID))
	if err != nil {
		return err
	}
	if !known {
		return noCatalog(row.CatalogID)
	}
	// An overlap is told last: a name or uuid that is taken says more.
	overlap := s.takeLocation(tx, claimOf(row), ofTables, ofViews)
	if overlap != nil && !fault.Is(overlap, fault.Conflict) {
		return overlap
	}
	result := tx.Clauses(uuidOnce()).Create(&row)
	err = result.Error
	switch {
	case err == nil && result.RowsAffected == 0:
		return uuidTaken(row.UUID)
	case isDuplicate(err):
		return tableExists(row.Name)
	case isOrphan(err):
		return namespaceGone()
	case err != nil:
		return err
	}
	if err := takeName(tx, identifierOf(row)); err != nil {
		return err
	}
	if err := endStaged(tx, row.NamespaceID, row.Name); err != nil {
		return err
	}
	return overlap
}

func claimOf(t models.Table) claim {
	return claim{catalogID: t.CatalogID, id: t.ID, namespaceID: t.NamespaceID, name: t.Name, location: t.Location}
}

// uuidOnce tells a table-uuid that another table has from a name that is taken, which stays an error.
func uuidOnce() clause.OnConflict {
	return clause.OnConflict{
		Columns:     []clause.Column{{Name: "table_uuid"}},
		TargetWhere: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "table_uuid <> ''"}}},
		DoNothing:   true,
	}
}

func uuidTaken(uuid string) error {
	return fault.About(fault.Conflict, fault.Table, "The table uuid %s belongs to another table: use a fresh one.", uuid)
}

// RenameTable implements catalog.Store. It raises the version: a commit that was judged under the old name is
// judged again.
func (s *Store) RenameTable(ctx context.Context, id, namespaceID, name string, event models.AuditEvent) error {
	if err := checkNames(name); err != nil {
		return err
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := stillNamed[models.Table](tx, id, event, fault.Table); err != nil {
			return err
		}
		result := tx.Model(&models.Table{}).Where("id = ?", id).UpdateColumns(map[string]any{
			"namespace_id": namespaceID,
			"name":         name,
			"version":      gorm.Expr("version + 1"),
			"updated_at":   s.clock(),
		})
		switch {
		case isDuplicate(result.Error):
			return tableExists(name)
		case isOrphan(result.Error):
			return fault.About(fault.NotFound, fault.Namespace, "The target namespace does not exist.")
		case result.Error != nil:
			return result.Error
		case result.RowsAffected == 0:
			return tableGone()
		}
		if err := changeName(tx, identifierOf(models.Table{ID: id, NamespaceID: namespaceID, Name: name})); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// UpdateDuplicateCommits implements catalog.Store. It raises the version as UpdateGovernance does.
func (s *Store) UpdateDuplicateCommits(ctx context.Context, t models.Table, event models.AuditEvent) error {
	mode := t.DuplicateCommits
	if mode == "" {
		mode = models.AuditDuplicates
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Model(&models.Table{}).Where("id = ?", t.ID).
			UpdateColumns(map[string]any{"duplicate_commits": mode, "version": gorm.Expr("version + 1")})
		if result.Error != nil {
			return result.Error
		}
		if result.RowsAffected == 0 {
			return tableGone()
		}
		return s.insertAudit(tx, event)
	})
}
