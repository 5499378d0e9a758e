package catalog

import (
	"context"
	"fmt"
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
func pathProperties() []string {
	return append(dataPathProperties(), "write.metadata.path")
}

// dataPathProperties are those of pathProperties that data files go by.
func dataPathProperties() []string {
	return []string{"write.data.path", "write.object-storage.path", "write.folder-storage.path"}
}

// newLocation is where a table of the name goes: always a fresh folder, so that a dropped table's late writer can
// never put files into the table recreated under its name.
func newLocation(at tablePlace, name string) string {
	return namespaceLocation(at.cat, at.ns) + "/" + pathSegment(name) + "-" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
}

// checkOwn keeps a location inside the catalog, and out of what another catalog has for itself.
func (s *Service) checkOwn(ctx context.Context, cat models.Catalog, location string) error {
	own, err := s.insideOf(cat, location)
	if err != nil {
		return err
	}
	return s.checkOthers(ctx, cat, own, location)
}

// insideOf gives the narrowest prefix of the catalog that a location lies in.
func (s *Service) insideOf(cat models.Catalog, location string) (string, error) {
	if _, err := s.locations.Normalize(location); err != nil {
		return "", err
	}
	own, inside := "", false
	for _, prefix := range prefixesOf(cat) {
		if s.locations.Within(prefix, location) && (!inside || s.locations.Within(own, prefix)) {
			own, inside = prefix, true
		}
	}
	if !inside {
		return "", fault.New(fault.Forbidden, "The location %s is outside catalog %s. Its locations start with %s.",
			location, cat.Name, strings.Join(prefixesOf(cat), " or "))
	}
	return own, nil
}

func prefixesOf(cat models.Catalog) []string {
	return append([]string{cat.BaseLocation}, cat.AllowedLocations.V...)
}

// checkOthers keeps a location out of the prefixes of other catalogs that are narrower than the own one it lies in, and from
// enclosing such a prefix. Which catalog that is, is not for everybody to know.
func (s *Service) checkOthers(ctx context.Context, cat models.Catalog, own, location string) error {
	catalogs, err := s.store.Catalogs(ctx)
	if err != nil {
		return err
	}
	for _, other := range catalogs {
		if other.ID == cat.ID {
			continue
		}
		for _, prefix := range prefixesOf(other) {
			narrower := s.locations.Within(own, prefix) && !s.locations.Within(prefix, own)
			if narrower && (s.locations.Within(prefix, location) || s.locations.Within(location, prefix)) {
				err := fault.New(fault.Forbidden, "The location %s belongs to another catalog than %s. Choose another.", location, cat.Name)
				err.Denied = fmt.Sprintf("The location %s overlaps %s of catalog %s.", location, prefix, other.Name)
				return err
			}
		}
	}
	return nil
}

// checkNewLocation checks a folder that Sluice chose for a table, below that of its namespace: another catalog may have been
// made there since, or another table.
func (s *Service) checkNewLocation(ctx context.Context, at tablePlace, name, location, selfID string) error {
	if err := s.checkOwn(ctx, at.cat, location); err != nil {
		return err
	}
	return s.checkFree(ctx, at, name, location, selfID)
}

// checkTableLocation keeps a table of the name inside its catalog and apart from every other table and view; selfID is its
// own row, if any.
func (s *Service) checkTableLocation(ctx context.Context, at tablePlace, name, location, selfID string) error {
	if err := s.checkOwn(ctx, at.cat, location); err != nil {
		return err
	}
	if err := s.checkFolder(ctx, at, location); err != nil {
		return err
	}
	return s.checkFree(ctx, at, name, location, selfID)
}

// checkFree keeps a table apart from every other table and view, and from those that engines are about to create.
func (s *Service) checkFree(ctx context.Context, at tablePlace, name, location, selfID string) error {
	normal, err := s.locations.Normalize(location)
	if err != nil {
		return err
	}
	other, err := s.store.OverlappingTable(ctx, normal, selfID)
	if err == nil && other.CatalogID == "" {
		other, err = s.store.StagedAt(ctx, normal, at.ns.ID, name)
	}
	if err != nil {
		return err
	}
	return occupied(at.cat, location, other)
}

// occupied refuses a location that something has. What it is, in another catalog, is not for everybody to know.
func occupied(cat models.Catalog, location string, by Occupant) error {
	switch by.CatalogID {
	case "":
		return nil
	case cat.ID:
		return locationTaken(location, by.Name)
	}
	err := fault.New(fault.Forbidden, "The location %s overlaps that of a table or view of another catalog. Choose another, or leave it out for a folder of its own.", location)
	err.Denied = fmt.Sprintf("The location %s overlaps that of %s in the catalog with the id %s.", location, by.Name, by.CatalogID)
	return err
}

func locationTaken(location, other string) error {
	return fault.New(fault.Forbidden, "The location %s overlaps that of %s. Choose another, or leave it out for a folder of its own.", location, other)
}

// checkPathProperties keeps the folders that properties redirect files to inside the table, and data out of the folder of
// its metadata, which more may read.
func (s *Service) checkPathProperties(location string, properties map[string]string) error {
	for _, key := range pathProperties() {
		if path, ok := properties[key]; ok && !s.locations.Within(location, path) {
			return fault.New(fault.Forbidden, "The property %s must name a folder inside the table's location %s.", key, location)
		}
	}
	for _, key := range dataPathProperties() {
		if path, ok := properties[key]; ok && s.namesMetadata(location, path) {
			return fault.New(fault.Forbidden, "The property %s must not name a folder that is called %s or lies in one: those hold a table's metadata, which more may read than its data.", key, metadataFolderName)
		}
	}
	return nil
}
