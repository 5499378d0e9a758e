package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// LoadTable gives a table's current metadata.
func (s *Service) LoadTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (TableView, error) {
	at, row, err := s.find(ctx, caller, cat, ident)
	if err != nil {
		return TableView{}, err
	}
	if err := caller.Require(policy.LoadTable, policy.Object, at.tablePath(row.ID), "table "+ident.String()); err != nil {
		return TableView{}, err
	}
	return s.view(ctx, at, row)
}

func (s *Service) view(ctx context.Context, at tablePlace, row models.Table) (TableView, error) {
	row, doc, err := s.present(ctx, row)
	return TableView{Row: row, Document: doc, MetadataLocation: row.MetadataLocation, at: at}, err
}

// TableExists answers nil when the caller can see the table.
func (s *Service) TableExists(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) error {
	_, _, err := s.find(ctx, caller, cat, ident)
	return err
}

// ListTables gives the tables of a namespace that the caller can see.
func (s *Service) ListTables(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, page Page) (ListPage[models.TableIdent], error) {
	at, err := s.place(ctx, caller, cat, levels)
	if err != nil {
		return ListPage[models.TableIdent]{}, err
	}
	return visible(page,
		func(p Page) ([]models.Table, error) { return s.store.ListTables(ctx, at.ns.ID, p) },
		func(row models.Table) string { return row.Name },
		func(row models.Table) (models.TableIdent, bool, error) {
			return models.TableIdent{Namespace: levels, Name: row.Name}, caller.May(policy.ListTables, at.tablePath(row.ID)), nil
		})
}

// RenameTable gives a table another name, in any namespace of its catalog. Its files and its uuid stay.
func (s *Service) RenameTable(ctx context.Context, caller policy.Caller, cat models.Catalog, from, to models.TableIdent) error {
	if err := refuseReadOnly(caller, "rename a table"); err != nil {
		return err
	}
	if err := checkName("table name", to.Name); err != nil {
		return err
	}
	return retryLost(ctx, func() error { return s.tryRenameTable(ctx, caller, cat, from, to) })
}

func (s *Service) tryRenameTable(ctx context.Context, caller policy.Caller, cat models.Catalog, from, to models.TableIdent) error {
	at, row, err := s.find(ctx, caller, cat, from, policy.RenameTable)
	if err != nil {
		return err
	}
	if err := caller.Require(policy.RenameTable, policy.Source, at.tablePath(row.ID), "table "+from.String()); err != nil {
		return err
	}
	dest, err := s.place(ctx, caller, cat, to.Namespace)
	if err != nil {
		return err
	}
	if err := caller.Require(policy.RenameTable, policy.Destination, dest.path, "namespace "+dest.ns.Key.String()); err != nil {
		return err
	}
	event := s.tableEvent(caller, models.AuditTableRenamed, at, row, map[string]any{"from": from.String(), "to": to.String()})
	return renameError(s.store.RenameTable(ctx, row.ID, dest.ns.ID, to.Name, event), from, to)
}
