package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// DroppedView is the record of a drop with the name of its catalog.
type DroppedView struct {
	models.DroppedTable
	CatalogName string
}

// DroppedTables lists the drops in a catalog ("" for all that the caller's token opens) that the caller may know of,
// newest first; Next is the id to go on after. Without states it gives those whose files are kept or being deleted.
func (s *Service) DroppedTables(ctx context.Context, caller policy.Caller, catalog string, f models.DroppedFilter) (ListPage[DroppedView], error) {
	if catalog != "" || caller.CatalogID != "" {
		cat, err := s.Resolve(ctx, caller, catalog)
		if err != nil {
			return ListPage[DroppedView]{}, err
		}
		f.CatalogID = cat.ID
	}
	if len(f.States) == 0 {
		f.States = []models.DropState{models.StateDropped, models.StatePurging}
	}
	names := map[string]string{}
	return visible(Page{After: f.Before, Limit: f.Limit},
		func(p Page) ([]models.DroppedTable, error) {
			f.Before, f.Limit = p.After, p.Limit
			return s.store.DroppedTables(ctx, f)
		},
		func(record models.DroppedTable) string { return record.ID },
		func(record models.DroppedTable) (DroppedView, bool, error) {
			view := DroppedView{DroppedTable: record}
			path, err := s.originOf(ctx, record)
			if err != nil || !caller.May(policy.ListDroppedTables, path) {
				return view, false, err
			}
			view.CatalogName, err = s.catalogName(ctx, record.CatalogID, names)
			return view, err == nil, err
		})
}

// UndropTable brings a dropped table back, with its governance, grants and history, under its old name or the one
// given. It needs TABLE_DROP where the table was and TABLE_CREATE where it is to be. Errors: AlreadyExists when the name
// is taken, Conflict when it is no longer a dropped table, such as when its purge has begun.
func (s *Service) UndropTable(ctx context.Context, caller policy.Caller, id string, as *models.TableIdent) (models.TableState, error) {
	record, cat, err := s.findDropped(ctx, caller, policy.UndropTable, policy.Source, id, "undrop a table")
	if err != nil {
		return models.TableState{}, err
	}
	to := record.Ident()
	if as != nil {
		to = *as
	}
	if err := checkName("table name", to.Name); err != nil {
		return models.TableState{}, err
	}
	dest, err := s.place(ctx, caller, cat, to.Namespace)
	if err != nil {
		if fault.Is(err, fault.NotFound) && as == nil {
			err = reworded(err, fault.NoSubject, "The namespace %s of table %s is gone. Create it again, or give the table another name.", record.NamespaceKey, to)
		}
		return models.TableState{}, err
	}
	if err := caller.Require(policy.UndropTable, policy.Destination, dest.path, "namespace "+dest.ns.Key.String()); err != nil {
		return models.TableState{}, err
	}
	row := record.Table.V
	row.Name = to.Name
	event := s.tableEvent(caller, models.AuditTableUndropped, dest, row, map[string]any{
		"dropId": record.ID, "droppedAs": record.Ident().String(), "metadataLocation": record.MetadataLocation,
	})
	if err := s.store.UndropTable(ctx, record.ID, dest.ns.ID, to.Name, event); err != nil {
		return models.TableState{}, tableNameError(err, to.String())
	}
	return s.reports.TableState(ctx, row.ID)
}

// ForgetTable gives up a dropped or unregistered table: it cannot be undropped, its files stay for ever, and its location
// is free for another once somebody has removed them.
func (s *Service) ForgetTable(ctx context.Context, caller policy.Caller, id string) error {
	record, cat, err := s.findDropped(ctx, caller, policy.ForgetDroppedTable, policy.Object, id, "forget a dropped table")
	if err != nil {
		return err
	}
	at := tablePlace{cat: cat, ns: models.Namespace{Key: record.NamespaceKey}}
	if err := mayAbandon(caller, at, record.Table.V, "forget"); err != nil {
		return err
	}
	event := s.tableEvent(caller, models.AuditTableForgotten, at, record.Table.V, map[string]any{
		"dropId": record.ID, "location": record.Location, "metadataLocation": record.MetadataLocation,
	})
	return s.store.ForgetTable(ctx, record.ID, event)
}

// findDropped finds a drop that the caller may take back or give up; to others who could not have listed the table it
// does not exist.
func (s *Service) findDropped(
	ctx context.Context, caller policy.Caller, op policy.Operation, on policy.On, id, what string,
) (models.DroppedTable, models.Catalog, error) {
	var none models.Catalog
	if err := refuseGoverning(caller, what); err != nil {
		return models.DroppedTable{}, none, err
	}
	record, err := s.store.DroppedTable(ctx, id)
	if err != nil {
		return record, none, err
	}
	path, err := s.originOf(ctx, record)
	if err != nil {
		return record, none, err
	}
	absent := fault.About(fault.NotFound, fault.Table, "There is no dropped table with the id %q.", id)
	if caller.CatalogID != "" && caller.CatalogID != record.CatalogID {
		return record, none, fault.Conceal(absent.Subject, "The token does not open the catalog of the dropped table.", "%s", absent.Message)
	}
	if !caller.May(policy.ListDroppedTables, path) && !caller.Reaches(op, path) {
		return record, none, concealed(absent, caller, policy.ListDroppedTables, "the dropped table "+record.Ident().String())
	}
	if err := caller.Require(op, on, path, "table "+record.Ident().String()); err != nil {
		return record, none, err
	}
	cat, err := s.store.CatalogByID(ctx, record.CatalogID)
	return record, cat, err
}

// originOf is the path of a dropped table: its namespaces count while they are the same that it was in.
func (s *Service) originOf(ctx context.Context, record models.DroppedTable) (policy.Path, error) {
	path := policy.Path{CatalogID: record.CatalogID, TableID: record.TableID}
	chain, err := s.store.NamespacePath(ctx, record.CatalogID, record.NamespaceKey)
	if fault.Is(err, fault.NotFound) || err == nil && chain[len(chain)-1].ID != record.Table.V.NamespaceID {
		return path, nil
	}
	if err != nil {
		return path, err
	}
	at := namespacePath(models.Catalog{ID: record.CatalogID}, chain)
	at.TableID = record.TableID
	return at, nil
}
