package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// DataTable is a table whose rows somebody may read or write through the governed data plane.
type DataTable struct {
	Catalog  models.Catalog
	Ident    models.TableIdent
	Row      models.Table
	Document *metadata.Document
	Name     string // catalog.namespace.table, for messages
}

// FindForData finds the table of a ref for an operation on its rows. Read-only tokens do not write, whatever their
// principal holds.
func (s *Service) FindForData(ctx context.Context, caller policy.Caller, op policy.Operation, ref string) (DataTable, error) {
	if op == policy.WriteRows {
		if err := refuseReadOnly(caller, "write rows"); err != nil {
			return DataTable{}, err
		}
	}
	at, row, err := s.byRef(ctx, caller, op, ref)
	if fault.Is(err, fault.NotFound) {
		at, row, err = s.byOtherRows(ctx, caller, op, ref, err)
	}
	if err != nil {
		return DataTable{}, err
	}
	if err := caller.Require(op, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return DataTable{}, err
	}
	row, doc, err := s.present(ctx, row)
	return DataTable{
		Catalog: at.cat, Ident: models.TableIdent{Namespace: at.ns.Key.Levels(), Name: row.Name}, Row: row, Document: doc, Name: at.ref(row.Name),
	}, err
}

// byOtherRows finds a table that the caller may do something else with the rows of: to them it is no secret.
func (s *Service) byOtherRows(ctx context.Context, caller policy.Caller, op policy.Operation, ref string, absent error) (tablePlace, models.Table, error) {
	for _, other := range []policy.Operation{policy.QueryRows, policy.WriteRows, policy.ReadRowAudit} {
		if other == op {
			continue
		}
		at, row, err := s.byRef(ctx, caller, other, ref)
		if !fault.Is(err, fault.NotFound) {
			return at, row, err
		}
	}
	return tablePlace{}, models.Table{}, absent
}

// RequireOnTable refuses an operation on the table of an id. What is kept of a table outlives it: where it is gone, the
// right is asked for on its catalog. To a caller who may not see the table, it does not exist.
func (s *Service) RequireOnTable(ctx context.Context, caller policy.Caller, op policy.Operation, catalogID, tableID string) error {
	absent := fault.About(fault.NotFound, fault.Table, "Table does not exist, or you may not see it.")
	if caller.CatalogID != "" && caller.CatalogID != catalogID {
		return absent
	}
	row, err := s.store.TableByID(ctx, tableID)
	if fault.Is(err, fault.NotFound) {
		if caller.May(op, policy.Path{CatalogID: catalogID}) {
			return nil
		}
		return absent
	}
	if err != nil {
		return err
	}
	state, err := s.reports.TableState(ctx, row.ID)
	if err != nil {
		return err
	}
	cat, err := s.store.CatalogByID(ctx, row.CatalogID)
	if err != nil {
		return err
	}
	at, row, err := s.find(ctx, caller, cat, models.TableIdent{Namespace: state.NamespaceKey.Levels(), Name: row.Name}, op)
	if err != nil {
		return err
	}
	return caller.Require(op, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name))
}

// NoteGovernedRead records that the caller read the table through a governed query, once a minute at most of each token.
func (s *Service) NoteGovernedRead(ctx context.Context, caller policy.Caller, table DataTable) {
	s.accesses.record(ctx, StorageUse{Caller: caller, Catalog: table.Catalog, TableID: table.Row.ID}, models.GovernedAccess)
}
