package management

import (
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// maxPlaces bounds the locations of a catalog: each is compared with all that there are.
const maxPlaces = 100

// place sets where a catalog's files may lie and how they are reached: the base location first, each in its one
// spelling and once, all within the warehouses and of the storage's type.
func (s *Service) place(cat *models.Catalog, base string, allowed []string, storage models.StorageConfig) error {
	if base == "" {
		return fault.New(fault.Invalid, "The catalog needs the property %s: the location where its tables go.", baseLocationKey)
	}
	if len(allowed) > maxPlaces {
		return fault.New(fault.Invalid, "A catalog has at most %d allowed locations.", maxPlaces)
	}
	var places []string
	var outside string
	for i, location := range append([]string{base}, allowed...) {
		normal, inside, err := s.placeOf(location)
		if err != nil {
			return err
		}
		if i > 0 && inside == (outside != "") {
			return fault.New(fault.Invalid, "The locations %s and %s are not both in this installation's warehouses. A catalog is reached in one way: choose locations that all are, or none.", base, location)
		}
		if !inside {
			outside = normal
		}
		if err := expressible(normal); err != nil && !slices.Contains(placesOf(*cat), normal) {
			return err
		}
		if err := fitStorage(&storage, normal); err != nil {
			return err
		}
		if !slices.Contains(places, normal) {
			places = append(places, normal)
		}
	}
	cat.BaseLocation = places[0]
	cat.AllowedLocations = models.JSON[[]string]{V: places[1:]}
	cat.Storage = models.JSON[models.StorageConfig]{V: storage}
	return nil
}

// expressible refuses what the session policies that engines' keys are narrowed by would read as a pattern, not as itself.
func expressible(location string) error {
	for _, pattern := range []string{"*", "?", "${"} {
		if strings.Contains(location, pattern) {
			return fault.New(fault.Invalid, "The location %s has %q, by which engines' storage keys could not be narrowed to it. Choose one without *, ? and ${.", location, pattern)
		}
	}
	return nil
}

// placeOf gives a location's one spelling, and whether it is in a warehouse. Outside of them there are none in local folders
// ever, and others where the installation lets catalogs have storage of their own.
func (s *Service) placeOf(location string) (normal string, inside bool, err error) {
	if normal, err = s.locations.Normalize(location); err != nil {
		return "", false, err
	}
	for _, warehouse := range s.warehouses {
		if s.locations.Within(warehouse, normal) {
			return normal, true, nil
		}
	}
	if s.other && !isLocal(normal) {
		return normal, false, nil
	}
	hint := ""
	if !isLocal(normal) {
		hint = ", or ask its operators to set allow-other-storage"
	}
	return "", false, fault.New(fault.Invalid, "The location %s is in none of this installation's warehouses. Choose one within %s%s.",
		normal, strings.Join(s.warehouses, " or "), hint)
}

func isLocal(location string) bool { return strings.HasPrefix(location, "file:") }

// fitStorage holds a storage's type against the scheme of a location; where none is given, it is the scheme's.
func fitStorage(storage *models.StorageConfig, location string) error {
	scheme, _, _ := strings.Cut(location, ":")
	var fits models.StorageType
	switch scheme {
	case "file":
		fits = models.FileStorage
	case "s3", "s3a", "s3n":
		fits = models.S3Storage
	case "gs":
		fits = models.GCSStorage
	case "abfs", "abfss", "wasb", "wasbs":
		fits = models.AzureStorage
	}
	if storage.Type == "" {
		storage.Type = fits
	}
	if fits == "" {
		return fault.New(fault.Invalid, "The location %s is of no storage type that catalogs have. Choose another.", location)
	}
	if storage.Type != fits {
		return fault.New(fault.Invalid, "The location %s does not fit the storage type %s: that of %s locations is %s. A catalog has one.",
			location, storage.Type, scheme, fits)
	}
	return nil
}

func placesOf(cat models.Catalog) []string {
	return append([]string{cat.BaseLocation}, cat.AllowedLocations.V...)
}

// spelled gives locations in their one spelling, each once; what is none stays as it is. The locations of the first
// catalog are as the operator wrote them.
func (s *Service) spelled(places []string) []string {
	var out []string
	for _, place := range places {
		if normal, err := s.locations.Normalize(place); err == nil {
			place = normal
		}
		if !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return out
}

// added gives the locations of a changed catalog that reach where it did not reach before.
func (s *Service) added(before, after models.Catalog) []string {
	return slices.DeleteFunc(placesOf(after), func(place string) bool {
		return slices.ContainsFunc(placesOf(before), func(old string) bool { return s.locations.Within(old, place) })
	})
}

// checkApart keeps catalogs apart: a location may lie below another catalog's where nothing is yet, but not be it or
// be above it.
func (s *Service) checkApart(at Places, cat models.Catalog, places []string) error {
	if len(places) == 0 {
		return nil
	}
	all, err := at.Catalogs()
	if err != nil {
		return err
	}
	for _, place := range places {
		for _, other := range all {
			reaches := func(theirs string) bool { return s.locations.Within(place, theirs) }
			if other.ID != cat.ID && slices.ContainsFunc(placesOf(other), reaches) {
				return fault.New(fault.Invalid, "The location %s is a location of catalog %s or lies above one. Choose another.", place, other.Name)
			}
		}
		table, err := at.TableWithin(place, cat.ID) // a catalog that widens its location keeps its own tables
		if err != nil {
			return err
		}
		if table != "" {
			return fault.New(fault.Invalid, "The location %s overlaps that of %s. Choose one without tables.", place, table)
		}
	}
	return nil
}
