package catalog

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Locations is the rules of storage locations; internal/objects has them.
type Locations interface {
	// Normalize gives a location's one spelling, or fault.Invalid saying what is wrong with it.
	Normalize(location string) (string, error)
	// Within tells whether location is prefix or lies below it, by whole segments.
	Within(prefix, location string) bool
}

// pathProperties name folders that engines write a table's files to instead of its location.
func pathProperties() [4]string {
	return [...]string{"write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path"}
}

// newLocation is where a table of the name goes: always a fresh folder, so that a dropped table's late writer can
// never put files into the table recreated under its name.
func newLocation(at tablePlace, name string) string {
	return namespaceLocation(at.cat, at.ns) + "/" + pathSegment(name) + "-" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
}

// checkInside keeps a location inside the catalog.
func (s *Service) checkInside(cat models.Catalog, location string) error {
	if _, err := s.locations.Normalize(location); err != nil {
		return err
	}
	prefixes := append([]string{cat.BaseLocation}, cat.AllowedLocations.V...)
	for _, prefix := range prefixes {
		if s.locations.Within(prefix, location) {
			return nil
		}
	}
	return fault.New(fault.Forbidden, "The location %s is outside catalog %s. Its locations start with %s.",
		location, cat.Name, strings.Join(prefixes, " or "))
}

// checkTableLocation keeps a table inside its catalog and apart from every other table and view; selfID is its own row, if any.
func (s *Service) checkTableLocation(ctx context.Context, at tablePlace, location, selfID string) error {
	if err := s.checkInside(at.cat, location); err != nil {
		return err
	}
	if err := s.checkFolder(ctx, at, location); err != nil {
		return err
	}
	return s.checkFree(ctx, at, location, selfID)
}

// checkFree keeps a table apart from every other table and view.
func (s *Service) checkFree(ctx context.Context, at tablePlace, location, selfID string) error {
	normal, err := s.locations.Normalize(location)
	if err != nil {
		return err
	}
	other, err := s.store.OverlappingTable(ctx, at.cat.ID, normal, selfID)
	if err != nil {
		return err
	}
	if other != "" {
		return locationTaken(location, other)
	}
	return nil
}

func locationTaken(location, other string) error {
	return fault.New(fault.Forbidden, "The location %s overlaps that of %s. Choose another, or leave it out for a folder of its own.", location, other)
}

// checkPathProperties keeps the folders that properties redirect files to inside the table.
func (s *Service) checkPathProperties(location string, properties map[string]string) error {
	for _, key := range pathProperties() {
		if path, ok := properties[key]; ok && !s.locations.Within(location, path) {
			return fault.New(fault.Forbidden, "The property %s must name a folder inside the table's location %s.", key, location)
		}
	}
	return nil
}
