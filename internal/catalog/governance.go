package catalog

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// SetWritePolicy changes what engines may commit to a table.
func (s *Service) SetWritePolicy(ctx context.Context, caller policy.Caller, ref string, p models.WritePolicy) (models.TableState, error) {
	return s.govern(ctx, caller, ref, models.AuditWritePolicyChanged, func(_ TableView, row *models.Table) (map[string]any, error) {
		details := map[string]any{"from": row.WritePolicy, "to": p}
		row.WritePolicy = p
		return details, nil
	})
}

// SetGovernance changes a table's classification, its identity columns and what is said of its columns, all at once.
func (s *Service) SetGovernance(ctx context.Context, caller policy.Caller, ref string, in GovernanceInput) (models.TableState, error) {
	return s.govern(ctx, caller, ref, models.AuditClassificationChanged, func(view TableView, row *models.Table) (map[string]any, error) {
		if err := checkColumns(view, in); err != nil {
			return nil, err
		}
		if in.Level != "" {
			row.Classification = in.Level
		}
		if in.IdentityColumns != nil {
			row.IdentityColumns.V = in.IdentityColumns
		}
		if in.Columns != nil {
			row.Columns.V = in.Columns
		}
		return map[string]any{"level": row.Classification, "identityColumns": row.IdentityColumns.V, "columns": row.Columns.V}, nil
	})
}

// checkColumns: governing a column that is not there would protect nothing and look as if it did.
func checkColumns(view TableView, in GovernanceInput) error {
	schema, err := view.Document.CurrentSchema()
	if err != nil {
		return err
	}
	for _, name := range append(slices.Sorted(maps.Keys(in.Columns)), in.IdentityColumns...) {
		if _, ok := schema.FieldByName(name); !ok {
			return fault.New(fault.Invalid, "The table has no column %q. Name columns as its schema does, nested ones with dots.", name)
		}
	}
	return nil
}

// govern changes a table's governance and stamps it into the table's metadata.
func (s *Service) govern(ctx context.Context, caller policy.Caller, ref string, typ models.AuditType, change func(TableView, *models.Table) (map[string]any, error)) (models.TableState, error) {
	if err := refuseReadOnly(caller, "change governance"); err != nil {
		return models.TableState{}, err
	}
	at, row, err := s.byRef(ctx, caller, ref)
	if err != nil {
		return models.TableState{}, err
	}
	if err := require(caller, models.CatalogManageAccess, at.tablePath(row.ID), "table "+at.name(row.Name)); err != nil {
		return models.TableState{}, err
	}
	view, err := s.view(ctx, row)
	if err != nil {
		return models.TableState{}, err
	}
	details, err := change(view, &row)
	if err != nil {
		return models.TableState{}, err
	}
	row.UpdatedAt = s.now()
	if err := s.store.UpdateGovernance(ctx, row, s.tableEvent(caller, typ, at, row, details)); err != nil {
		return models.TableState{}, err
	}
	if _, err := s.Restamp(ctx, row.ID); err != nil {
		// The decision stands in the row that every commit is judged by; the next reconciliation stamps it.
		s.log.WarnContext(ctx, "governance properties are not stamped yet", "table", at.name(row.Name), "error", err)
	}
	return s.reports.TableState(ctx, row.ID)
}

// SetDefaultWritePolicy changes the policy that new tables of a catalog ("main") or a namespace ("main.sales.eu") get.
func (s *Service) SetDefaultWritePolicy(ctx context.Context, caller policy.Caller, ref string, p models.WritePolicy) error {
	if err := refuseReadOnly(caller, "change governance"); err != nil {
		return err
	}
	name, rest, nested := strings.Cut(ref, ".")
	cat, err := s.Resolve(ctx, caller, name)
	if err != nil {
		return err
	}
	details := map[string]any{"to": p}
	if !nested {
		if err := require(caller, models.CatalogManageAccess, policy.Path{CatalogID: cat.ID}, "catalog "+cat.Name); err != nil {
			return err
		}
		cat.DefaultWritePolicy, cat.UpdatedAt = p, s.now()
		return s.store.UpdateCatalog(ctx, cat, s.event(caller, models.AuditDefaultPolicyChanged, cat, details))
	}
	chain, path, err := s.namespaceChain(ctx, caller, cat, strings.Split(rest, "."))
	if err != nil {
		return err
	}
	ns := chain[len(chain)-1]
	if err := require(caller, models.CatalogManageAccess, path, "namespace "+ns.Key.String()); err != nil {
		return err
	}
	ns.DefaultWritePolicy, ns.UpdatedAt = &p, s.now()
	return s.store.UpdateNamespace(ctx, ns, s.namespaceEvent(caller, models.AuditDefaultPolicyChanged, cat, ns.Key, details))
}

// byRef finds a table by "catalog.namespace.table", levels joined by dots, or by its uuid.
func (s *Service) byRef(ctx context.Context, caller policy.Caller, ref string) (tablePlace, models.Table, error) {
	if uuid.Validate(ref) == nil {
		return s.byUUID(ctx, caller, ref)
	}
	parts := strings.Split(ref, ".")
	if len(parts) < 3 {
		return tablePlace{}, models.Table{}, fault.New(fault.Invalid, "%q names no table. Write catalog.namespace.table, or the table's uuid.", ref)
	}
	cat, err := s.Resolve(ctx, caller, parts[0])
	if err != nil {
		return tablePlace{}, models.Table{}, err
	}
	last := len(parts) - 1
	return s.find(ctx, caller, cat, models.TableIdent{Namespace: parts[1:last], Name: parts[last]})
}

func (s *Service) byUUID(ctx context.Context, caller policy.Caller, ref string) (tablePlace, models.Table, error) {
	rows, err := s.reports.FindTable(ctx, caller.CatalogID, ref)
	if err != nil {
		return tablePlace{}, models.Table{}, err
	}
	for _, row := range rows {
		state, err := s.reports.TableState(ctx, row.ID)
		if err != nil {
			return tablePlace{}, models.Table{}, err
		}
		cat, err := s.store.CatalogByID(ctx, row.CatalogID)
		if err != nil {
			return tablePlace{}, models.Table{}, err
		}
		at, found, err := s.find(ctx, caller, cat, models.TableIdent{Namespace: state.NamespaceKey.Levels(), Name: row.Name})
		if !fault.Is(err, fault.NotFound) {
			return at, found, err
		}
	}
	return tablePlace{}, models.Table{}, fault.About(fault.NotFound, fault.Table, "Table does not exist: %s", ref)
}
