package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// TableState gives a table with what its governors look at first.
func (s *Service) TableState(ctx context.Context, caller policy.Caller, ref string) (models.TableState, error) {
	at, row, err := s.byRef(ctx, caller, ref)
	if err != nil {
		return models.TableState{}, err
	}
	if err := require(caller, models.TableReadProperties, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return models.TableState{}, err
	}
	return s.reports.TableState(ctx, row.ID)
}

// TableStates lists the tables of a catalog ("" for all that the caller's token opens) that the caller can see; Next
// is the id to go on after.
func (s *Service) TableStates(ctx context.Context, caller policy.Caller, catalog string, f models.TableFilter) (ListPage[models.TableState], error) {
	if catalog != "" || caller.CatalogID != "" {
		cat, err := s.Resolve(ctx, caller, catalog)
		if err != nil {
			return ListPage[models.TableState]{}, err
		}
		f.CatalogID = cat.ID
	}
	states, err := s.reports.TableStates(ctx, f)
	if err != nil {
		return ListPage[models.TableState]{}, err
	}
	var out ListPage[models.TableState]
	for _, state := range states {
		if path, err := s.pathOf(ctx, state); err != nil {
			return ListPage[models.TableState]{}, err
		} else if caller.Has(models.TableReadProperties, path) {
			out.Items = append(out.Items, state)
		}
	}
	if f.Limit > 0 && len(states) == f.Limit {
		out.Next = states[len(states)-1].Table.ID
	}
	return out, nil
}

// pathOf needs the store only for nested namespaces, whose ancestors may carry the grant.
func (s *Service) pathOf(ctx context.Context, state models.TableState) (policy.Path, error) {
	path := policy.Path{CatalogID: state.Table.CatalogID, NamespaceIDs: []string{state.Table.NamespaceID}, TableID: state.Table.ID}
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
	at := namespacePath(models.Catalog{ID: state.Table.CatalogID}, chain)
	at.TableID = state.Table.ID
	return at, nil
}

// AuditEvents gives the audit, newest first. It needs AUDIT_READ on the catalog asked for, or SERVICE_MANAGE_ACCESS for all.
func (s *Service) AuditEvents(ctx context.Context, caller policy.Caller, f models.AuditFilter) ([]models.AuditEvent, error) {
	if f.Catalog == "" && caller.CatalogID == "" {
		if err := require(caller, models.ServiceManageAccess, policy.Path{}, "the service; name a catalog whose audit you may read"); err != nil {
			return nil, err
		}
		return s.reports.AuditEvents(ctx, f)
	}
	cat, err := s.Resolve(ctx, caller, f.Catalog)
	if err != nil {
		return nil, err
	}
	if err := require(caller, models.AuditRead, policy.Path{CatalogID: cat.ID}, "catalog "+cat.Name); err != nil {
		return nil, err
	}
	f.Catalog = cat.Name
	return s.reports.AuditEvents(ctx, f)
}

// everywhere checks a privilege on the token's own catalog, or on every catalog by managing the service.
func (s *Service) everywhere(caller policy.Caller, p models.Privilege, catalogID *string) error {
	if caller.CatalogID != "" {
		*catalogID = caller.CatalogID
		return require(caller, p, policy.Path{CatalogID: caller.CatalogID}, "the catalog")
	}
	return require(caller, models.ServiceManageAccess, policy.Path{}, "the service; name a table instead")
}

// Reconcile asks for a table's head to be reconciled now and gives the ID of the workflow that does it.
func (s *Service) Reconcile(ctx context.Context, caller policy.Caller, ref string) (string, error) {
	if err := refuseReadOnly(caller, "start a reconciliation"); err != nil {
		return "", err
	}
	at, row, err := s.byRef(ctx, caller, ref)
	if err != nil {
		return "", err
	}
	if err := require(caller, models.TableWriteProperties, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
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
