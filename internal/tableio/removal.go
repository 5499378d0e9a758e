package tableio

import (
	"cmp"
	"maps"
	"slices"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/fault"
)

// removed writes the deletes of the rows that go. It gives the manifests that it made, and what of the head's stays.
func (s *staging) removed(kept []iceberg.ManifestFile) (made, rest []iceberg.ManifestFile, err error) {
	removes := make([]Removal, 0, len(s.d.Removes))
	for _, r := range s.d.Removes {
		if len(r.Positions) == 0 {
			continue
		}
		if err := r.check(); err != nil {
			return nil, nil, err
		}
		removes = append(removes, r)
	}
	if len(removes) == 0 {
		return nil, kept, nil
	}
	slices.SortFunc(removes, func(a, b Removal) int { return cmp.Compare(a.File.Path, b.File.Path) })
	var deletes []iceberg.DataFile
	if s.layout.version < 3 {
		deletes, err = s.positionDeletes(removes)
	} else {
		if made, kept, err = s.replaceDeletes(removes, kept); err != nil {
			return nil, nil, err
		}
		deletes, err = s.vectors(removes)
	}
	if err != nil {
		return nil, nil, err
	}
	added, err := s.deleteManifests(deletes)
	return append(added, made...), kept, err
}

// check refuses positions that are not of the file or not in order.
func (r Removal) check() error {
	last := int64(-1)
	for _, p := range r.Positions {
		if p <= last || p >= r.File.Records {
			return fault.New(fault.Internal, "The rows to remove of %s are not places in it, in order.", r.File.Path)
		}
		last = p
	}
	return nil
}

// deleteManifests writes a manifest of delete files for each spec.
func (s *staging) deleteManifests(files []iceberg.DataFile) ([]iceberg.ManifestFile, error) {
	bySpec := map[int][]iceberg.DataFile{}
	for _, f := range files {
		bySpec[int(f.SpecID())] = append(bySpec[int(f.SpecID())], f)
	}
	var out []iceberg.ManifestFile
	for _, id := range slices.Sorted(maps.Keys(bySpec)) {
		spec, err := specOf(s.d.Base, id)
		if err != nil {
			return nil, err
		}
		m, err := s.manifest(spec, s.layout.schema, iceberg.ManifestContentDeletes, addAll(s.id, bySpec[id]))
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
