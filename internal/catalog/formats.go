package catalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// formatsProperty of a catalog lists the format versions that its tables may have, such as "1,2".
	formatsProperty = "allowed-format-versions"
	// versionProperty of a create request chooses the table's format version.
	versionProperty = "format-version"

	defaultFormatVersion = 2
)

// ParseFormatVersions reads a list of format versions such as "1,2,3".
func ParseFormatVersions(list string) ([]int, error) {
	var versions []int
	for item := range strings.SplitSeq(list, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || v < 1 || v > 3 {
			return nil, fault.New(fault.Invalid, "%q is not a list of format versions such as 1,2,3.", list)
		}
		versions = append(versions, v)
	}
	slices.Sort(versions)
	return slices.Compact(versions), nil
}

// formats gives the versions that tables of a catalog may have: its own list, else that of the configuration. A list
// that cannot be read allows nothing, rather than what it meant to forbid.
func (s *Service) formats(cat models.Catalog) []int {
	list, own := cat.Properties.V[formatsProperty]
	if !own {
		return s.formatVersions
	}
	versions, err := ParseFormatVersions(list)
	if err != nil {
		s.log.Error("a catalog's list of format versions cannot be read, so that none is allowed", "catalog", cat.Name, "list", list)
	}
	return versions
}

// checkFormat refuses a format version that the catalog does not allow: an upgrade cannot be taken back, and locks out
// engines that do not read it.
func (s *Service) checkFormat(cat models.Catalog, version int) error {
	allowed := s.formats(cat)
	if slices.Contains(allowed, version) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, v := range allowed {
		names[i] = strconv.Itoa(v)
	}
	return fault.New(fault.Forbidden, "Catalog %s does not allow tables of format version %d, only of %s. Ask its administrator to change its property %s.",
		cat.Name, version, strings.Join(names, ", "), formatsProperty)
}

// withFormat chooses the format version of a create request that names none: the usual one if the catalog allows it,
// else the highest it allows.
func (s *Service) withFormat(cat models.Catalog, properties map[string]string) map[string]string {
	allowed := s.formats(cat)
	if properties[versionProperty] != "" || len(allowed) == 0 || slices.Contains(allowed, defaultFormatVersion) {
		return properties
	}
	chosen := map[string]string{versionProperty: strconv.Itoa(allowed[len(allowed)-1])}
	for key, value := range properties {
		if key != versionProperty {
			chosen[key] = value
		}
	}
	return chosen
}
