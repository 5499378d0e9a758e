package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// TableState gives a table with what its governors look at first.
func (s *Service) TableState(ctx context.Context, caller policy.Caller, ref string) (models.TableState, error) {
	at, row, err := s.byRef(ctx, caller, policy.ReadTableState, ref)
	if err != nil {
		return models.TableState{}, err
	}
	if err := caller.Require(policy.ReadTableState, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return models.TableState{}, err
	}
	state, err := s.reports.TableState(ctx, row.ID)
	return hideFilters(caller, at.tablePath(row.ID), state), err
}

// TableStates lists the tables of a catalog ("" for all that the caller's token opens) whose state the caller may read; Next
// is the id to go on after.
func (s *Service) TableStates(ctx context.Context, caller policy.Caller, catalog string, f models.TableFilter) (ListPage[models.TableState], error) {
	if catalog != "" || caller.CatalogID != "" {
		cat, err := s.Resolve(ctx, caller, catalog)
		if err != nil {
			return ListPage[models.TableState]{}, err
		}
		f.CatalogID = cat.ID
	}
	paths := map[string]policy.Path{} // of the namespaces met so far
	return visible(Page{After: f.After, Limit: f.Limit},
		func(p Page) ([]models.TableState, error) {
			f.After, f.Limit = p.After, p.Limit
			return s.reports.TableStates(ctx, f)
		},
		func(state models.TableState) string { return state.Table.ID },
		func(state models.TableState) (models.TableState, bool, error) {
			path, known := paths[state.Table.NamespaceID]
			if !known {
				var err error
				if path, err = s.pathOf(ctx, state); err != nil {
					return state, false, err
				}
				paths[state.Table.NamespaceID] = path
			}
			path.TableID = state.Table.ID
			return hideFilters(caller, path, state), caller.May(policy.ListTableStates, path), nil
		})
}

// pathOf gives the path of a table's namespace. It needs the store only for nested ones, whose ancestors may carry the grant.
func (s *Service) pathOf(ctx context.Context, state models.TableState) (policy.Path, error) {
	path := policy.Path{CatalogID: state.Table.CatalogID, NamespaceIDs: []string{state.Table.NamespaceID}}
	if state.NamespaceKey.Parent() == "" {
		return path, nil
	}
	chain, err := s.store.NamespacePath(ctx, state.Table.CatalogID, state.NamespaceKey)
	if fault.Is(err, fault.NotFound) {
		return path, nil // dropped meanwhile
	}
	if err != nil {
		return policy.Path{}, err
	}
	return namespacePath(models.Catalog{ID: state.Table.CatalogID}, chain), nil
}

// AuditEvents gives the audit, newest first, as far as AuditScope lets the caller see it.
func (s *Service) AuditEvents(ctx context.Context, caller policy.Caller, f models.AuditFilter) ([]models.AuditEvent, error) {
	f, err := s.AuditScope(ctx, caller, f)
	if err != nil {
		return nil, err
	}
	return s.reports.AuditEvents(ctx, f)
}

// AuditScope gives a filter that selects what the caller may see of what it asks for. That needs AUDIT_READ on the catalog
// asked for, or SERVICE_MANAGE_ACCESS for all.
func (s *Service) AuditScope(ctx context.Context, caller policy.Caller, f models.AuditFilter) (models.AuditFilter, error) {
	if f.Catalog == "" && caller.CatalogID == "" {
		return f, caller.Require(policy.ReadAllAudit, policy.Service, policy.Path{}, "the service; name a catalog whose audit you may read")
	}
	cat, err := s.Resolve(ctx, caller, f.Catalog)
	if err != nil {
		return f, err
	}
	if err := caller.Require(policy.ReadAudit, policy.Object, policy.Path{CatalogID: cat.ID}, "catalog "+cat.Name); err != nil {
		return f, err
	}
	f.Catalog = cat.Name
	// The audit outlives catalogs and goes by names: what was in one that had this name before is for those alone who may
	// read everything.
	if all := caller.CatalogID == "" && caller.May(policy.ReadAllAudit, policy.Path{}); !all && f.Since.Before(cat.CreatedAt) {
		f.Since = cat.CreatedAt
	}
	return f, nil
}

// scope narrows a list to what the caller may see of it: one table, for which it needs one, or with ref "" all of those of the
// catalogs that it manages, as everywhere says.
func (s *Service) scope(
	ctx context.Context, caller policy.Caller, one, all policy.Operation, ref string, catalogID, tableID *string,
) error {
	if ref == "" {
		return s.everywhere(caller, one, all, catalogID)
	}
	at, row, err := s.byRef(ctx, caller, one, ref)
	if err != nil {
		return err
	}
	*tableID = row.ID
	return caller.Require(one, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name))
}

// everywhere checks what an operation on one table needs on the token's own catalog, or what it needs on all of them.
func (s *Service) everywhere(caller policy.Caller, one, all policy.Operation, catalogID *string) error {
	if caller.CatalogID != "" {
		*catalogID = caller.CatalogID
		return caller.Require(one, policy.Object, policy.Path{CatalogID: caller.CatalogID}, "the catalog")
	}
	return caller.Require(all, policy.Service, policy.Path{}, "the service; name a table instead")
}

// Reconcile asks for a table's head to be reconciled now and gives the ID of the workflow that does it.
func (s *Service) Reconcile(ctx context.Context, caller policy.Caller, ref string) (string, error) {
	if err := refuseReadOnly(caller, "start a reconciliation"); err != nil {
		return "", err
	}
	at, row, err := s.byRef(ctx, caller, policy.ReconcileTable, ref)
	if err != nil {
		return "", err
	}
	if err := caller.Require(policy.ReconcileTable, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return "", err
	}
	if row.CurrentSnapshotID == nil {
		return "", fault.New(fault.Invalid, "Table %s has no snapshot to reconcile yet.", at.ref(row.Name))
	}
	return s.reconciler.RequestReconcile(ctx, models.OutboxEvent{
		CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, TableName: at.name(row.Name),
		SnapshotID: *row.CurrentSnapshotID, CreatedAt: s.now(),
	})
}
