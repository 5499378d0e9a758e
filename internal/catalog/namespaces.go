package catalog

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

const locationProperty = "location"

// CreateNamespace makes a namespace below an existing parent.
func (s *Service) CreateNamespace(ctx context.Context, caller policy.Caller, cat models.Catalog, in NamespaceInput) (NamespaceView, error) {
	if err := checkLevels(in.Levels); err != nil {
		return NamespaceView{}, err
	}
	if err := refuseReadOnly(caller, "create a namespace"); err != nil {
		return NamespaceView{}, err
	}
	at, object := policy.Path{CatalogID: cat.ID}, "catalog "+cat.Name
	key := models.KeyOf(in.Levels)
	if parent := key.Parent(); parent != "" {
		_, path, err := s.namespaceChain(ctx, caller, cat, parent.Levels())
		if err != nil {
			return NamespaceView{}, err
		}
		at, object = path, "namespace "+parent.String()
	}
	if err := caller.Require(policy.CreateNamespace, policy.Parent, at, object); err != nil {
		return NamespaceView{}, err
	}
	if err := s.checkNamespaceLocation(ctx, cat, key, in.Properties); err != nil {
		return NamespaceView{}, err
	}
	now := s.now()
	ns := models.Namespace{
		ID: uuid.NewString(), CatalogID: cat.ID, Key: key, ParentKey: key.Parent(),
		Properties: models.JSON[map[string]string]{V: in.Properties}, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	event := s.namespaceEvent(caller, models.AuditNamespaceCreated, cat, key, nil)
	err := s.store.CreateNamespace(ctx, ns, event)
	if fault.Is(err, fault.AlreadyExists) {
		err = fault.About(fault.AlreadyExists, fault.Namespace, "Namespace already exists: %s", key)
	}
	return viewNamespace(cat, ns), err
}

// LoadNamespace gives a namespace and its properties.
func (s *Service) LoadNamespace(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string) (NamespaceView, error) {
	chain, path, err := s.namespaceChain(ctx, caller, cat, levels)
	if err != nil {
		return NamespaceView{}, err
	}
	ns := chain[len(chain)-1]
	if err := caller.Require(policy.LoadNamespaceMetadata, policy.Object, path, "namespace "+ns.Key.String()); err != nil {
		return NamespaceView{}, err
	}
	return viewNamespace(cat, ns), nil
}

// NamespaceExists answers nil when the caller can see the namespace.
func (s *Service) NamespaceExists(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string) error {
	_, _, err := s.namespaceChain(ctx, caller, cat, levels)
	return err
}

// ListNamespaces gives the direct children of parent (nil for the top level) that the caller can see.
func (s *Service) ListNamespaces(ctx context.Context, caller policy.Caller, cat models.Catalog, parent []string, page Page) (ListPage[[]string], error) {
	at := policy.Path{CatalogID: cat.ID}
	if len(parent) > 0 {
		_, path, err := s.namespaceChain(ctx, caller, cat, parent)
		if err != nil {
			return ListPage[[]string]{}, err
		}
		at = path
	}
	return visible(page,
		func(p Page) ([]models.Namespace, error) {
			return s.store.ListNamespaces(ctx, cat.ID, models.KeyOf(parent), p)
		},
		func(ns models.Namespace) string { return string(ns.Key) },
		func(ns models.Namespace) ([]string, bool, error) {
			child := at
			child.NamespaceIDs = append(slices.Clone(at.NamespaceIDs), ns.ID)
			return ns.Key.Levels(), caller.SeesNamespace(child), nil
		})
}

// UpdateNamespaceProperties sets and removes properties; fault.Unprocessable when a key is in both.
func (s *Service) UpdateNamespaceProperties(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, in PropertiesUpdate) (PropertiesResult, error) {
	if err := refuseReadOnly(caller, "change namespace properties"); err != nil {
		return PropertiesResult{}, err
	}
	for _, key := range in.Removals {
		if _, both := in.Updates[key]; both {
			return PropertiesResult{}, fault.New(fault.Unprocessable, "The property %q is both set and removed.", key)
		}
	}
	for attempt := 0; ; attempt++ {
		result, err := s.tryUpdateNamespace(ctx, caller, cat, levels, in)
		if !fault.Is(err, fault.Conflict) || attempt == maxAttempts {
			return result, err
		}
		if err := pause(ctx, attempt); err != nil {
			return PropertiesResult{}, err
		}
	}
}

func (s *Service) tryUpdateNamespace(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, in PropertiesUpdate) (PropertiesResult, error) {
	chain, path, err := s.namespaceChain(ctx, caller, cat, levels, policy.UpdateNamespaceProperties)
	if err != nil {
		return PropertiesResult{}, err
	}
	ns := chain[len(chain)-1]
	if err := caller.Require(policy.UpdateNamespaceProperties, policy.Object, path, "namespace "+ns.Key.String()); err != nil {
		return PropertiesResult{}, err
	}
	if err := s.checkNamespaceLocation(ctx, cat, ns.Key, in.Updates); err != nil {
		return PropertiesResult{}, err
	}
	properties := maps.Clone(ns.Properties.V)
	if properties == nil {
		properties = map[string]string{}
	}
	maps.Copy(properties, in.Updates)
	result := PropertiesResult{Updated: slices.Sorted(maps.Keys(in.Updates))}
	for _, key := range in.Removals {
		if _, ok := properties[key]; ok {
			delete(properties, key)
			result.Removed = append(result.Removed, key)
		} else {
			result.Missing = append(result.Missing, key)
		}
	}
	ns.Properties.V, ns.UpdatedAt = properties, s.now()
	event := s.namespaceEvent(caller, models.AuditNamespaceUpdated, cat, ns.Key,
		map[string]any{"updated": result.Updated, "removed": result.Removed})
	idempotency.SetResult(ctx, result)
	return result, s.store.UpdateNamespace(ctx, ns, event)
}

// DropNamespace removes an empty namespace; fault.NotEmpty otherwise.
func (s *Service) DropNamespace(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string) error {
	if err := refuseReadOnly(caller, "drop a namespace"); err != nil {
		return err
	}
	chain, path, err := s.namespaceChain(ctx, caller, cat, levels, policy.DropNamespace)
	if err != nil {
		return err
	}
	ns := chain[len(chain)-1]
	if err := caller.Require(policy.DropNamespace, policy.Object, path, "namespace "+ns.Key.String()); err != nil {
		return err
	}
	return s.store.DropNamespace(ctx, ns.ID, s.namespaceEvent(caller, models.AuditNamespaceDropped, cat, ns.Key, nil))
}

// viewNamespace adds the location, which some engines need to place tables.
func viewNamespace(cat models.Catalog, ns models.Namespace) NamespaceView {
	properties := maps.Clone(ns.Properties.V)
	if properties == nil {
		properties = map[string]string{}
	}
	if properties[locationProperty] == "" {
		properties[locationProperty] = namespaceLocation(cat, ns)
	}
	return NamespaceView{Levels: ns.Key.Levels(), Properties: properties}
}

// namespaceLocation is the namespace's own location property, else a folder of the catalog.
func namespaceLocation(cat models.Catalog, ns models.Namespace) string {
	if own := ns.Properties.V[locationProperty]; own != "" {
		return strings.TrimRight(own, "/")
	}
	segments := []string{strings.TrimRight(cat.BaseLocation, "/")}
	for _, level := range ns.Key.Levels() {
		segments = append(segments, pathSegment(level))
	}
	return strings.Join(segments, "/")
}
