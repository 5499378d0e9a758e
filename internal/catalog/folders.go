package catalog

import (
	"context"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// checkFolder keeps a table or view out of folders that others need: the catalog's base with all that is below it, and the
// folders of namespaces, of which it may only lie in that of its own. Outside the base, where the catalog only allows
// locations, folders belong to nobody.
func (s *Service) checkFolder(ctx context.Context, at tablePlace, location string) error {
	base := at.cat.BaseLocation
	if s.locations.Within(location, base) {
		return fault.New(fault.Forbidden, "The location %s would take the whole folder of catalog %s. Choose one below it, or leave it out.", location, at.cat.Name)
	}
	if !s.locations.Within(base, location) {
		return nil
	}
	namespaces, err := s.store.AllNamespaces(ctx, at.cat.ID)
	if err != nil {
		return err
	}
	own := namespaceLocation(at.cat, at.ns)
	var holder models.NamespaceKey
	deepest := "" // of the folders that the location lies in
	for _, ns := range namespaces {
		folder := namespaceLocation(at.cat, ns)
		if s.locations.Within(location, folder) {
			return fault.New(fault.Forbidden, "The location %s would take the folder of namespace %s. Choose one below that of %s, or leave it out.", location, ns.Key, at.ns.Key)
		}
		if len(folder) > len(deepest) && s.locations.Within(folder, location) {
			holder, deepest = ns.Key, folder
		}
	}
	if deepest != "" && (!s.locations.Within(own, deepest) || !s.locations.Within(deepest, own)) {
		return fault.New(fault.Forbidden, "The location %s lies in the folder of namespace %s. Choose one below that of %s, or leave it out.", location, holder, at.ns.Key)
	}
	return nil
}

// checkNamespaceLocation keeps a namespace's own location, where its tables go, inside the catalog's and apart from the
// folders of namespaces that are neither above nor below it.
func (s *Service) checkNamespaceLocation(ctx context.Context, cat models.Catalog, key models.NamespaceKey, properties map[string]string) error {
	location, ok := properties[locationProperty]
	if !ok {
		return nil
	}
	if err := s.checkOwn(ctx, cat, location); err != nil || !s.locations.Within(cat.BaseLocation, location) {
		return err
	}
	namespaces, err := s.store.AllNamespaces(ctx, cat.ID)
	if err != nil {
		return err
	}
	for _, ns := range namespaces {
		if related(key, ns.Key) {
			continue
		}
		folder := namespaceLocation(cat, ns)
		if s.locations.Within(folder, location) || s.locations.Within(location, folder) {
			return fault.New(fault.Forbidden, "The location %s overlaps the folder of namespace %s. Choose another, or leave it out.", location, ns.Key)
		}
	}
	return nil
}

// related tells whether two keys are of one namespace, or one is of an ancestor of the other.
func related(a, b models.NamespaceKey) bool {
	return strings.HasPrefix(string(a)+levelEnd, string(b)+levelEnd) || strings.HasPrefix(string(b)+levelEnd, string(a)+levelEnd)
}

// levelEnd is what comes between the levels of a key.
const levelEnd = "\x1f"
