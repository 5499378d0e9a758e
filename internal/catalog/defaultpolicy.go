package catalog

import (
	"context"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// DefaultPolicy is the write policy that new tables of a catalog or a namespace get.
type DefaultPolicy struct {
	Policy    models.WritePolicy
	Inherited bool // a namespace has none of its own: it is that of what it lies in
}

// DefaultWritePolicy gives the policy that new tables of a catalog ("main") or a namespace ("main.sales.eu") get, to
// whoever sees it.
func (s *Service) DefaultWritePolicy(ctx context.Context, caller policy.Caller, ref string) (DefaultPolicy, error) {
	cat, levels, err := s.byDefaultRef(ctx, caller, policy.SetDefaultWritePolicy, ref)
	if err != nil || len(levels) == 0 {
		return DefaultPolicy{Policy: cat.DefaultWritePolicy}, err
	}
	chain, err := s.namespaceOfRef(ctx, caller, policy.SetDefaultWritePolicy, cat, levels)
	if err != nil {
		return DefaultPolicy{}, err
	}
	own := chain[len(chain)-1].DefaultWritePolicy
	return DefaultPolicy{Policy: nearestDefault(cat, chain), Inherited: own == nil}, nil
}

// nearestDefault is that of the nearest namespace that sets one, else the catalog's.
func nearestDefault(cat models.Catalog, chain []models.Namespace) models.WritePolicy {
	for _, ns := range slices.Backward(chain) {
		if p := ns.DefaultWritePolicy; p != nil {
			return *p
		}
	}
	return cat.DefaultWritePolicy
}

// byDefaultRef finds the catalog of a ref that names it or a namespace in it, for an operation on it; levels is nil for the catalog.
func (s *Service) byDefaultRef(ctx context.Context, caller policy.Caller, op policy.Operation, ref string) (cat models.Catalog, levels []string, err error) {
	name, rest, nested := cutRef(ref)
	if cat, err = s.Resolve(ctx, caller, name); err != nil || !nested {
		return cat, nil, err
	}
	levels, err = s.levelsOf(ctx, caller, op, cat, rest, separatorOf(ref))
	return cat, levels, err
}

// namespaceOfRef is namespaceChain for who may set such a default too, and names the catalog where there is none.
func (s *Service) namespaceOfRef(
	ctx context.Context, caller policy.Caller, op policy.Operation, cat models.Catalog, levels []string,
) ([]models.Namespace, error) {
	chain, _, err := s.namespaceChain(ctx, caller, cat, levels, op)
	if fault.Is(err, fault.NotFound) {
		return nil, reworded(err, fault.Namespace, "Namespace does not exist: %s.%s", cat.Name, models.KeyOf(levels))
	}
	return chain, err
}

// SetDefaultWritePolicy changes the policy that new tables of a catalog ("main") or a namespace ("main.sales.eu") get.
// Setting what is set already writes nothing.
func (s *Service) SetDefaultWritePolicy(ctx context.Context, caller policy.Caller, ref string, p models.WritePolicy) error {
	return s.setDefault(ctx, caller, ref, defaultChange{
		op: policy.SetDefaultWritePolicy, event: models.AuditDefaultPolicyChanged, to: p,
		catalog: func(cat *models.Catalog) (any, bool) {
			from := cat.DefaultWritePolicy
			cat.DefaultWritePolicy = p
			return from, from != p
		},
		namespace: func(ns *models.Namespace) (any, bool) {
			from := ns.DefaultWritePolicy
			ns.DefaultWritePolicy = &p
			return from, from == nil || *from != p
		},
	})
}

// defaultChange sets what new tables get. Its functions set it on a row, and give what was there (null: nothing of its own) and
// whether that was something else.
type defaultChange struct {
	op        policy.Operation
	event     models.AuditType
	to        any
	catalog   func(*models.Catalog) (from any, changes bool)
	namespace func(*models.Namespace) (from any, changes bool)
}

// setDefault changes what new tables of a catalog or a namespace get. Where nothing changes, nothing is written.
func (s *Service) setDefault(ctx context.Context, caller policy.Caller, ref string, change defaultChange) error {
	if err := refuseGoverning(caller, "change governance"); err != nil {
		return err
	}
	cat, levels, err := s.byDefaultRef(ctx, caller, change.op, ref)
	if err != nil {
		return err
	}
	if len(levels) > 0 {
		return s.setNamespaceDefault(ctx, caller, cat, levels, change)
	}
	if err := caller.Require(change.op, policy.Object, policy.Path{CatalogID: cat.ID}, "catalog "+cat.Name); err != nil {
		return err
	}
	from, changes := change.catalog(&cat)
	if !changes {
		return nil
	}
	cat.UpdatedAt = s.now()
	return s.store.UpdateCatalog(ctx, cat, s.event(caller, change.event, cat, map[string]any{"from": from, "to": change.to}))
}

func (s *Service) setNamespaceDefault(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, change defaultChange) error {
	chain, err := s.namespaceOfRef(ctx, caller, change.op, cat, levels)
	if err != nil {
		return err
	}
	ns := chain[len(chain)-1]
	if err := caller.Require(change.op, policy.Object, namespacePath(cat, chain), "namespace "+cat.Name+"."+ns.Key.String()); err != nil {
		return err
	}
	from, changes := change.namespace(&ns)
	if !changes {
		return nil
	}
	ns.UpdatedAt = s.now()
	return s.store.UpdateNamespace(ctx, ns, s.namespaceEvent(caller, change.event, cat, ns.Key, map[string]any{"from": from, "to": change.to}))
}
