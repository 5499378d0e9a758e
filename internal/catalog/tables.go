package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// LoadTable gives a table's current metadata.
func (s *Service) LoadTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (TableView, error) {
	at, row, err := s.find(ctx, caller, cat, ident)
	if err != nil {
		return TableView{}, err
	}
	if err := require(caller, models.TableReadProperties, at.tablePath(row.ID), "table "+ident.String()); err != nil {
		return TableView{}, err
	}
	return s.view(ctx, row)
}

func (s *Service) view(ctx context.Context, row models.Table) (TableView, error) {
	doc, err := s.documents.get(ctx, row.MetadataLocation)
	return TableView{Row: row, Document: doc, MetadataLocation: row.MetadataLocation}, err
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
	rows, err := s.store.ListTables(ctx, at.ns.ID, page)
	if err != nil {
		return ListPage[models.TableIdent]{}, err
	}
	var out ListPage[models.TableIdent]
	for _, row := range rows {
		if caller.Has(models.TableList, at.tablePath(row.ID)) {
			out.Items = append(out.Items, models.TableIdent{Namespace: levels, Name: row.Name})
		}
	}
	if page.Limit > 0 && len(rows) == page.Limit {
		out.Next = rows[len(rows)-1].Name
	}
	return out, nil
}

// DropTable removes a table from the catalog. Its files stay where they are; the audit event keeps where its metadata
// is and whether purging them was asked for. The right to write a table is not the right to drop it.
func (s *Service) DropTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, purge bool) error {
	if err := refuseReadOnly(caller, "drop a table"); err != nil {
		return err
	}
	at, row, err := s.find(ctx, caller, cat, ident)
	if err != nil {
		return err
	}
	if err := require(caller, models.TableDrop, at.tablePath(row.ID), "table "+ident.String()); err != nil {
		return err
	}
	event := s.tableEvent(caller, models.AuditTableDropped, at, row,
		map[string]any{"metadataLocation": row.MetadataLocation, "purgeRequested": purge})
	return s.store.DropTable(ctx, row.ID, event)
}

// RenameTable gives a table another name, in any namespace of its catalog. Its files and its uuid stay.
func (s *Service) RenameTable(ctx context.Context, caller policy.Caller, cat models.Catalog, from, to models.TableIdent) error {
	if err := refuseReadOnly(caller, "rename a table"); err != nil {
		return err
	}
	if err := checkName("table name", to.Name); err != nil {
		return err
	}
	at, row, err := s.find(ctx, caller, cat, from)
	if err != nil {
		return err
	}
	if err := require(caller, models.TableDrop, at.tablePath(row.ID), "table "+from.String()); err != nil {
		return err
	}
	dest, err := s.place(ctx, caller, cat, to.Namespace)
	if err != nil {
		return err
	}
	if err := require(caller, models.TableCreate, dest.path, "namespace "+dest.ns.Key.String()); err != nil {
		return err
	}
	event := s.tableEvent(caller, models.AuditTableRenamed, at, row, map[string]any{"from": from.String(), "to": to.String()})
	err = s.store.RenameTable(ctx, row.ID, dest.ns.ID, to.Name, event)
	if fault.Is(err, fault.AlreadyExists) {
		return fault.About(fault.AlreadyExists, fault.Table, "Cannot rename %s to %s. Table already exists", from, to)
	}
	return err
}
