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
	return s.setDefault(ctx, caller, ref, defaultChange{
		op: policy.SetDefaultClassification, event: models.AuditDefaultLevelChanged, to: level,
		catalog: func(cat *models.Catalog) (any, bool) {
			from := cat.DefaultClassification
			cat.DefaultClassification = level
			return nullable(from), from != level
		},
		namespace: func(ns *models.Namespace) (any, bool) {
			from := ns.DefaultClassification
			ns.DefaultClassification = &level
			return from, from == nil || *from != level
		},
	})
}

// nullable makes a level that is not set null, as that of a namespace is.
func nullable(level models.Classification) *models.Classification {
	if level == "" {
		return nil
	}
	return &level
}
