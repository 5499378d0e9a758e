package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// findView looks a view up; to a caller who may neither list it nor do any of the operations on it, it does not exist. A
// missing namespace is a missing view.
func (s *Service) findView(
	ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, ops ...policy.Operation,
) (tablePlace, models.View, error) {
	chain, err := s.store.NamespacePath(ctx, cat.ID, models.KeyOf(ident.Namespace))
	if fault.Is(err, fault.NotFound) {
		return tablePlace{}, models.View{}, noSuchView(ident)
	}
	if err != nil {
		return tablePlace{}, models.View{}, err
	}
	at := tablePlace{cat: cat, ns: chain[len(chain)-1], path: namespacePath(cat, chain)}
	row, err := s.store.ViewByName(ctx, at.ns.ID, ident.Name)
	if fault.Is(err, fault.NotFound) {
		return at, models.View{}, noSuchView(ident)
	}
	if path := at.tablePath(row.ID); err == nil && !caller.May(policy.ViewExists, path) && !reaches(caller, path, ops) {
		return at, models.View{}, concealed(noSuchView(ident), caller, policy.ViewExists, "view "+ident.String())
	}
	return at, row, err
}

func noSuchView(ident models.TableIdent) *fault.Error {
	return fault.About(fault.NotFound, fault.View, "View does not exist: %s", ident)
}

// LoadView gives a view's current metadata.
func (s *Service) LoadView(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (LoadedView, error) {
	at, row, err := s.findView(ctx, caller, cat, ident)
	if err != nil {
		return LoadedView{}, err
	}
	if err := caller.Require(policy.LoadView, policy.Object, at.tablePath(row.ID), "view "+ident.String()); err != nil {
		return LoadedView{}, err
	}
	doc, err := s.documents.getView(ctx, row.MetadataLocation)
	return LoadedView{Row: row, Document: doc}, err
}

// ViewExists answers nil when the caller can see the view.
func (s *Service) ViewExists(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) error {
	_, _, err := s.findView(ctx, caller, cat, ident)
	return err
}

// ListViews gives the views of a namespace that the caller can see.
func (s *Service) ListViews(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, page Page) (ListPage[models.TableIdent], error) {
	at, err := s.place(ctx, caller, cat, levels)
	if err != nil {
		return ListPage[models.TableIdent]{}, err
	}
	return visible(page,
		func(p Page) ([]models.View, error) { return s.store.ListViews(ctx, at.ns.ID, p) },
		func(row models.View) string { return row.Name },
		func(row models.View) (models.TableIdent, bool, error) {
			return models.TableIdent{Namespace: levels, Name: row.Name}, caller.May(policy.ListViews, at.tablePath(row.ID)), nil
		})
}

// DropView removes a view from the catalog. Its metadata files stay where they are.
func (s *Service) DropView(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) error {
	if err := refuseReadOnly(caller, "drop a view"); err != nil {
		return err
	}
	return retryLost(ctx, func() error { return s.tryDropView(ctx, caller, cat, ident) })
}

func (s *Service) tryDropView(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) error {
	at, row, err := s.findView(ctx, caller, cat, ident, policy.DropView)
	if err != nil {
		return err
	}
	if err := caller.Require(policy.DropView, policy.Object, at.tablePath(row.ID), "view "+ident.String()); err != nil {
		return err
	}
	return s.store.DropView(ctx, row.ID, s.viewEvent(caller, models.AuditViewDropped, at, row,
		map[string]any{"metadataLocation": row.MetadataLocation}))
}

// RenameView gives a view another name, in any namespace of its catalog. Its files and its uuid stay.
func (s *Service) RenameView(ctx context.Context, caller policy.Caller, cat models.Catalog, from, to models.TableIdent) error {
	if err := refuseReadOnly(caller, "rename a view"); err != nil {
		return err
	}
	if err := checkName("view name", to.Name); err != nil {
		return err
	}
	return retryLost(ctx, func() error { return s.tryRenameView(ctx, caller, cat, from, to) })
}

func (s *Service) tryRenameView(ctx context.Context, caller policy.Caller, cat models.Catalog, from, to models.TableIdent) error {
	at, row, err := s.findView(ctx, caller, cat, from, policy.RenameView)
	if err != nil {
		return err
	}
	if err := caller.Require(policy.RenameView, policy.Source, at.tablePath(row.ID), "view "+from.String()); err != nil {
		return err
	}
	dest, err := s.place(ctx, caller, cat, to.Namespace)
	if err != nil {
		return err
	}
	if err := caller.Require(policy.RenameView, policy.Destination, dest.path, "namespace "+dest.ns.Key.String()); err != nil {
		return err
	}
	event := s.viewEvent(caller, models.AuditViewRenamed, at, row, map[string]any{"from": from.String(), "to": to.String()})
	return renameError(s.store.RenameView(ctx, row.ID, dest.ns.ID, to.Name, event), from, to)
}

func (s *Service) viewEvent(caller policy.Caller, typ models.AuditType, at tablePlace, row models.View, details map[string]any) models.AuditEvent {
	e := s.event(caller, typ, at.cat, details)
	e.Namespace, e.Table, e.TableUUID = at.ns.Key.String(), at.name(row.Name), row.UUID
	return e
}
