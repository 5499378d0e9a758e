package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// DropTable takes a table out of the catalog. It can be undropped until its files are purged, which happens only where
// that was asked for, or the installation purges every dropped table, and not before the grace period is over: a purge
// by mistake is as easily taken back as any drop. The right to write a table is not the right to drop it, and to have
// its files deleted needs both.
func (s *Service) DropTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, purge bool) error {
	return retryLost(ctx, func() error { return s.tryDropTable(ctx, caller, cat, ident, purge) })
}

func (s *Service) tryDropTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, purge bool) error {
	at, row, err := s.findToDrop(ctx, caller, policy.DropTableWithoutPurge, cat, ident, "drop a table")
	if err != nil {
		return err
	}
	if purge {
		if err := caller.Require(policy.DropTableWithPurge, policy.Object, at.tablePath(row.ID), "table "+ident.String()+", without which its files cannot be purged"); err != nil {
			return err
		}
	}
	drop := s.newDrop(caller, models.StateDropped)
	drop.PurgeRequested = purge
	if purge || s.drops.PurgeAll {
		after := drop.DroppedAt.Add(s.drops.Grace)
		drop.PurgeAfter = &after
	}
	details := map[string]any{"purgeRequested": purge}
	if drop.PurgeAfter != nil {
		details["purgeAfter"] = drop.PurgeAfter.UTC()
	}
	_, err = s.store.DropTable(ctx, row.ID, drop, s.tableEvent(caller, models.AuditTableDropped, at, row, details))
	return err
}

// UnregisterTable hands a table over: it leaves the catalog, nothing of its files is ever touched, and its last metadata
// is the answer. Every commit after it fails.
func (s *Service) UnregisterTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (TableView, error) {
	// Commits of this process wait, so that the metadata that is read before is most often the last.
	unlock, err := s.locks.Lock(ctx, lockKey(cat, ident))
	if err != nil {
		return TableView{}, err
	}
	defer unlock()
	var view TableView
	err = retryLost(ctx, func() (err error) {
		view, err = s.tryUnregister(ctx, caller, cat, ident)
		return err
	})
	return view, err
}

func (s *Service) tryUnregister(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (TableView, error) {
	at, row, err := s.findToDrop(ctx, caller, policy.UnregisterTable, cat, ident, "unregister a table")
	if err != nil {
		return TableView{}, err
	}
	// What cannot be read cannot be handed over.
	if row, _, err = s.present(ctx, row); err != nil {
		return TableView{}, err
	}
	settle(ctx, row)
	record, err := s.store.DropTable(ctx, row.ID, s.newDrop(caller, models.StateUnregistered),
		s.tableEvent(caller, models.AuditTableUnregistered, at, row, nil))
	if err != nil {
		return TableView{}, err
	}
	doc, err := s.documents.get(ctx, record.MetadataLocation)
	return TableView{Row: record.Table.V, Document: doc, MetadataLocation: record.MetadataLocation}, err
}

// newDrop starts the record of a drop. Where files may lie anywhere, so may tables, one after another in one folder.
func (s *Service) newDrop(caller policy.Caller, state models.DropState) models.DroppedTable {
	return models.DroppedTable{State: state, HoldsLocation: !s.anyLocation, DroppedAt: s.now(), DroppedBy: caller.Principal}
}

// findToDrop finds a table that the caller may take out of the catalog.
func (s *Service) findToDrop(
	ctx context.Context, caller policy.Caller, op policy.Operation, cat models.Catalog, ident models.TableIdent, what string,
) (tablePlace, models.Table, error) {
	if err := refuseReadOnly(caller, what); err != nil {
		return tablePlace{}, models.Table{}, err
	}
	at, row, err := s.find(ctx, caller, cat, ident, op)
	if err != nil {
		return at, row, err
	}
	if err := caller.Require(op, policy.Object, at.tablePath(row.ID), "table "+ident.String()); err != nil {
		return at, row, err
	}
	if row.Protected {
		return at, row, protectedTable(ident.String())
	}
	return at, row, nil
}

func protectedTable(table string) error {
	return fault.About(fault.Forbidden, fault.Table,
		"Table %s is protected against being dropped, unregistered or registered over. Who holds %s may clear the protection (sluice tables unprotect).",
		table, models.CatalogManageAccess)
}

// SetProtection protects a table against being taken out of the catalog, or clears that. Both need CATALOG_MANAGE_ACCESS,
// which no right to write or drop tables implies: a job cannot clear what keeps it from dropping its table.
func (s *Service) SetProtection(ctx context.Context, caller policy.Caller, ref string, protected bool) (models.TableState, error) {
	if err := refuseGoverning(caller, "change a table's protection"); err != nil {
		return models.TableState{}, err
	}
	at, row, err := s.byRef(ctx, caller, policy.SetProtection, ref)
	if err != nil {
		return models.TableState{}, err
	}
	if err := caller.Require(policy.SetProtection, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return models.TableState{}, err
	}
	if row.Protected != protected {
		event := s.tableEvent(caller, models.AuditProtectionChanged, at, row, map[string]any{"from": row.Protected, "to": protected})
		if err := s.store.SetProtection(ctx, row.ID, protected, event); err != nil {
			return models.TableState{}, err
		}
	}
	return s.reports.TableState(ctx, row.ID)
}
