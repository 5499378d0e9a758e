package reconcile

import (
	"github.com/apache/iceberg-go"
)

// reach is which data files the deletes of a snapshot can remove rows from, as the specification says.
type reach struct {
	layout     *layout
	size       int                     // delete files
	everything bool                    // an equality delete is in no partition
	partitions map[string]bool         // of equality deletes
	paths      map[string]bool         // of deletion vectors and of position deletes that name one data file
	named      map[string][]pathBounds // position deletes of several data files, by partition
}

// pathBounds are the least and the greatest path that a position delete file names, nil unknown.
type pathBounds struct{ lower, upper []byte }

func newReach(l *layout) *reach {
	return &reach{layout: l, partitions: make(map[string]bool), paths: make(map[string]bool), named: make(map[string][]pathBounds)}
}

// add adds a delete file with its details.
func (r *reach) add(m *manifest, e entry) {
	r.size++
	d := e.details
	lower, upper := d.lower[pathColumnID], d.upper[pathColumnID]
	partition := partitionKey(m.spec, d.partition)
	switch {
	case iceberg.ManifestEntryContent(e.content) == iceberg.EntryContentEqDeletes:
		r.everything = r.everything || r.layout.global(m.spec, d.partition)
		r.partitions[partition] = true
	case d.refers != "":
		r.paths[d.refers] = true
	case lower != nil && string(lower) == string(upper):
		r.paths[string(lower)] = true
	default:
		r.named[partition] = append(r.named[partition], pathBounds{lower, upper})
	}
}

// has tells whether a data file is reached. Every file that was there before is older than the deletes.
func (r *reach) has(m *manifest, e entry) bool {
	if r.everything || r.paths[e.path] {
		return true
	}
	if len(r.partitions) == 0 && len(r.named) == 0 {
		return false
	}
	partition := partitionKey(m.spec, e.details.partition)
	if r.partitions[partition] {
		return true
	}
	for _, b := range r.named[partition] {
		if (b.lower == nil || string(b.lower) <= e.path) && (b.upper == nil || e.path <= string(b.upper)) {
			return true
		}
	}
	return false
}
