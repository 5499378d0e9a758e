package store

import (
	"context"
	"maps"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noDrop(id string) error {
	return fault.About(fault.NotFound, fault.Table, "There is no dropped table with the id %q.", id)
}

// DropTable implements catalog.Store. The row is locked and read in the transaction, so that the record is the table as
// its last commit left it. The grants stay: they are on an id that nothing else ever gets, and come back with the table.
func (s *Store) DropTable(ctx context.Context, id string, drop models.DroppedTable, event models.AuditEvent) (models.DroppedTable, error) {
	err := s.write(ctx, func(tx *gorm.DB) (err error) {
		drop, err = s.recordDrop(tx, id, drop, event)
		return err
	})
	return drop, err
}

// ReplaceTable implements catalog.Store.
func (s *Store) ReplaceTable(ctx context.Context, id string, drop models.DroppedTable, dropped models.AuditEvent, t models.Table, effects catalog.Effects) error {
	if err := checkNames(t.Name, t.Location, t.MetadataLocation); err != nil {
		return err
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		if _, err := s.recordDrop(tx, id, drop, dropped); err != nil {
			return err
		}
		if err := s.continueDrop(tx, effects.Continues, t.ID); err != nil {
			return err
		}
		if err := s.insertTable(tx, t); err != nil {
			return err
		}
		if err := s.copyGrants(tx, id, t.ID); err != nil {
			return err
		}
		return s.insertEffects(tx, effects.Commits, effects.Audit)
	})
}

func (s *Store) recordDrop(tx *gorm.DB, id string, drop models.DroppedTable, event models.AuditEvent) (models.DroppedTable, error) {
	if err := stillNamed[models.Table](tx, id, event, fault.Table); err != nil {
		return drop, err
	}
	var row models.Table
	err := locking(tx, "UPDATE").Where("id = ?", id).Take(&row).Error
	if isAbsent(err) {
		return drop, tableGone()
	} else if err != nil {
		return drop, err
	}
	var ns models.Namespace
	if err := tx.Select("name_key").Where("id = ?", row.NamespaceID).Take(&ns).Error; err != nil {
		return drop, err
	}
	drop.NamespaceKey, drop.Name = ns.Key, row.Name
	if row.Protected {
		return drop, catalog.ProtectedTable(drop.Ident().String())
	}
	recordID, err := uuid.NewV7()
	if err != nil {
		return drop, err
	}
	drop.ID, drop.CatalogID, drop.TableID, drop.TableUUID = recordID.String(), row.CatalogID, row.ID, row.UUID
	drop.Location, drop.MetadataLocation, drop.ForeignFiles = row.Location, row.MetadataLocation, row.ForeignFiles
	drop.Table.V, drop.ChangedAt = row, s.clock()
	s.stamp(&drop.DroppedAt)
	if drop.PurgeAfter != nil {
		s.stamp(drop.PurgeAfter)
	}
	drop.DroppedBy = clean(drop.DroppedBy)
	record := drop
	if err := tx.Create(&record).Error; err != nil {
		return drop, err
	}
	if err := tx.Where("id = ?", id).Delete(&models.Table{}).Error; err != nil {
		return drop, err
	}
	if err := leaveName(tx, id); err != nil {
		return drop, err
	}
	if err := tx.Where("table_id = ?", id).Delete(&models.TableCheck{}).Error; err != nil {
		return drop, err
	}
	event.Details.V = maps.Clone(event.Details.V)
	if event.Details.V == nil {
		event.Details.V = map[string]any{}
	}
	event.Details.V["dropId"], event.Details.V["metadataLocation"] = drop.ID, row.MetadataLocation
	return drop, s.insertAudit(tx, event)
}

// DroppedTable implements catalog.Store and activities.PurgeLedger.
func (s *Store) DroppedTable(ctx context.Context, id string) (models.DroppedTable, error) {
	if !storable(id) {
		return models.DroppedTable{}, noDrop(id)
	}
	return one[models.DroppedTable](ctx, s.query(ctx).Where("id = ?", id), noDrop(id))
}

// DroppedTables implements catalog.Store.
func (s *Store) DroppedTables(ctx context.Context, f models.DroppedFilter) ([]models.DroppedTable, error) {
	if !storable(f.Before) {
		return []models.DroppedTable{}, nil
	}
	query := limited(s.query(ctx), f.Limit).Order("id DESC")
	if f.CatalogID != "" {
		query = query.Where("catalog_id = ?", f.CatalogID)
	}
	if f.TableUUID != "" {
		query = query.Where("table_uuid = ?", f.TableUUID)
	}
	if len(f.States) > 0 {
		query = query.Where("state IN ?", f.States)
	}
	if f.Before != "" {
		query = query.Where("id < ?", f.Before)
	}
	return all[models.DroppedTable](ctx, query)
}

// UndropTable implements catalog.Store. It raises the version, so that a commit that was judged before the drop is
// judged again.
func (s *Store) UndropTable(ctx context.Context, id, namespaceID, name string, event models.AuditEvent) error {
	if err := checkNames(name); err != nil {
		return err
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		record, err := s.moveDrop(tx, id, models.StateUndropped, models.StateDropped)
		if err != nil {
			return err
		}
		row := record.Table.V
		row.ReservedBy, row.ReservedUntil = "", nil // the holder was told that the table is gone
		row.NamespaceID, row.Name, row.Version, row.UpdatedAt = namespaceID, name, row.Version+1, s.clock()
		if err := s.insertTable(tx, row); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// ForgetTable implements catalog.Store.
func (s *Store) ForgetTable(ctx context.Context, id string, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		record, err := s.moveDrop(tx, id, models.StateForgotten, models.StateDropped, models.StateUnregistered)
		if err != nil {
			return err
		}
		if err := dropGrants(tx, record.TableID); err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// continueDrop closes the record whose table is registered again, under another id; "" is none.
func (s *Store) continueDrop(tx *gorm.DB, id, newID string) error {
	if id == "" {
		return nil
	}
	record, err := s.moveDrop(tx, id, models.StateRegistered, models.StateDropped, models.StateUnregistered, models.StateForgotten)
	if err != nil {
		return err
	}
	if err := moveWrites(tx, record.TableID, newID); err != nil {
		return err
	}
	return dropGrants(tx, record.TableID)
}

// moveDrop is the one way from state to state: the record is locked, must be in one of the states, and is given as it
// was with its new state.
func (s *Store) moveDrop(tx *gorm.DB, id string, to models.DropState, from ...models.DropState) (models.DroppedTable, error) {
	var record models.DroppedTable
	err := locking(tx, "UPDATE").Where("id = ?", id).Take(&record).Error
	if isAbsent(err) {
		return record, noDrop(id)
	} else if err != nil {
		return record, err
	}
	for _, state := range from {
		if record.State != state {
			continue
		}
		record.State, record.ChangedAt = to, s.clock()
		result := tx.Model(&models.DroppedTable{}).Where("id = ? AND state = ?", id, state).
			UpdateColumns(map[string]any{"state": to, "changed_at": record.ChangedAt})
		if result.Error == nil && result.RowsAffected == 0 {
			break
		}
		return record, result.Error
	}
	return record, fault.About(fault.Conflict, fault.Table, "The dropped table %s is %s now: nothing was changed.", record.Ident(), stateSentence(record.State))
}

func stateSentence(state models.DropState) string {
	switch state {
	case models.StatePurging:
		return "being purged"
	case models.StateUndropped:
		return "back in the catalog"
	case models.StateRegistered:
		return "registered again"
	case models.StateUnregistered:
		return "unregistered, and can only be registered again or forgotten"
	}
	return string(state)
}

// SetProtection implements catalog.Store. It raises the version, so that what was decided without it loses its swap.
func (s *Store) SetProtection(ctx context.Context, tableID string, protected bool, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Model(&models.Table{}).Where("id = ?", tableID).UpdateColumns(map[string]any{"protected": protected, "version": gorm.Expr("version + 1")})
		if result.Error != nil {
			return result.Error
		}
		if result.RowsAffected == 0 {
			return tableGone()
		}
		return s.insertAudit(tx, event)
	})
}
