package catalog

import (
	"context"
	"slices"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// DefaultLevel is how sensitive new tables of a catalog or a namespace are taken to be.
type DefaultLevel struct {
	Level     models.Classification
	Inherited bool // it has none of its own: it is that of what it lies in, at last internal
}

// DefaultClassification gives the level that new tables of a catalog ("main") or a namespace ("main.sales.eu") get, to
// whoever sees it.
func (s *Service) DefaultClassification(ctx context.Context, caller policy.Caller, ref string) (DefaultLevel, error) {
	cat, levels, err := s.byDefaultRef(ctx, caller, policy.SetDefaultClassification, ref)
	if err != nil || len(levels) == 0 {
		return DefaultLevel{Level: nearestLevel(cat, nil), Inherited: cat.DefaultClassification == ""}, err
	}
	chain, err := s.namespaceOfRef(ctx, caller, policy.SetDefaultClassification, cat, levels)
	if err != nil {
		return DefaultLevel{}, err
	}
	own := chain[len(chain)-1].DefaultClassification
	return DefaultLevel{Level: nearestLevel(cat, chain), Inherited: own == nil}, nil
}

// nearestLevel is that of the nearest namespace that sets one, else the catalog's, else internal.
func nearestLevel(cat models.Catalog, chain []models.Namespace) models.Classification {
	for _, ns := range slices.Backward(chain) {
		if level := ns.DefaultClassification; level != nil && *level != "" {
			return *level
		}
	}
	if cat.DefaultClassification != "" {
		return cat.DefaultClassification
	}
	return models.Internal
}

// SetDefaultClassification changes the level that new tables of a catalog ("main") or a namespace ("main.sales.eu") get.
// Tables that are there keep theirs. Setting what is set already writes nothing.
func (s *Service) SetDefaultClassification(ctx context.Context, caller policy.Caller, ref string, level models.Classification) error {
	if err := refuseGoverning(caller, "change governance"); err != nil {
		return err
	}
	cat, levels, err := s.byDefaultRef(ctx, caller, policy.SetDefaultClassification, ref)
	if err != nil {
		return err
	}
	if len(levels) > 0 {
		return s.setNamespaceLevel(ctx, caller, cat, levels, level)
	}
	if err := caller.Require(policy.SetDefaultClassification, policy.Object, policy.Path{CatalogID: cat.ID}, "catalog "+cat.Name); err != nil {
		return err
	}
	if cat.DefaultClassification == level {
		return nil
	}
	event := s.event(caller, models.AuditDefaultLevelChanged, cat, map[string]any{"from": nullable(cat.DefaultClassification), "to": level})
	cat.DefaultClassification, cat.UpdatedAt = level, s.now()
	return s.store.UpdateCatalog(ctx, cat, event)
}

// nullable makes a level that is not set null, as that of a namespace is.
func nullable(level models.Classification) *models.Classification {
	if level == "" {
		return nil
	}
	return &level
}

func (s *Service) setNamespaceLevel(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, level models.Classification) error {
	chain, err := s.namespaceOfRef(ctx, caller, policy.SetDefaultClassification, cat, levels)
	if err != nil {
		return err
	}
	ns := chain[len(chain)-1]
	if err := caller.Require(policy.SetDefaultClassification, policy.Object, namespacePath(cat, chain), "namespace "+cat.Name+"."+ns.Key.String()); err != nil {
		return err
	}
	if ns.DefaultClassification != nil && *ns.DefaultClassification == level {
		return nil
	}
	event := s.namespaceEvent(caller, models.AuditDefaultLevelChanged, cat, ns.Key, map[string]any{"from": ns.DefaultClassification, "to": level})
	ns.DefaultClassification, ns.UpdatedAt = &level, s.now()
	return s.store.UpdateNamespace(ctx, ns, event)
}
