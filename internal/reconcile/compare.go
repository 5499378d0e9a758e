package reconcile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/metadata"
)

// listStep is how one manifest list follows from another.
type listStep struct {
	fresh   []manifest // not in the parent's list
	dropped []manifest // in the parent's list alone, and with files that may be live
	altered []manifest // of the parent, that this list describes otherwise
	wrong   string     // why the list can be of no append, whatever the manifests hold

	unnumbered int64 // rows of the parent's manifests that had no row ids yet; overflowed when that is not known
}

// compareLists finds what a snapshot added and left out. A manifest that both have must be described alike: counts of
// zero or forged bounds would make readers skip it, another sequence number would change which deletes apply.
func compareLists(before, now []manifest) listStep {
	var step listStep
	known := make(map[string]*manifest, len(before))
	for n := range before {
		known[before[n].path] = &before[n]
	}
	seen := make(map[string]bool, len(now))
	for n := range now {
		m, path := &now[n], now[n].path
		if seen[path] {
			step.blame("it lists the manifest %s twice", path)
			continue
		}
		seen[path] = true
		if m.miscounts() {
			step.blame("its manifest list miscounts the files or rows of %s", path)
		}
		if parent, ok := known[path]; !ok {
			step.fresh = append(step.fresh, *m)
		} else if what := sameDescription(parent, m); what != "" {
			step.blame("it gives the manifest %s of its parent another %s", path, what)
			step.altered = append(step.altered, *parent)
		} else if m.content == dataContent && parent.firstRow < 0 {
			step.unnumbered = addRows(step.unnumbered, parent.liveRows())
		}
	}
	for n := range before {
		if !seen[before[n].path] && before[n].mayLive() {
			step.dropped = append(step.dropped, before[n])
		}
	}
	return step
}

// liveRows is the number of rows of live files as the list states it; overflowed when it does not.
func (m *manifest) liveRows() int64 {
	if m.rows[0] < 0 || m.rows[1] < 0 {
		return overflowed
	}
	return addRows(m.rows[0], m.rows[1])
}

// misnumbered gives why the row ids that a v3 snapshot takes are not those of its new rows, "" if they are or there are
// none. A snapshot numbers the rows of manifests that have no row ids yet, those that it keeps of before included.
func misnumbered(snap metadata.Snapshot, step listStep, found []contents) string {
	if snap.AddedRows == nil {
		return ""
	}
	var least int64
	most := step.unnumbered
	for n := range step.fresh {
		if step.fresh[n].content == dataContent {
			least = addRows(least, found[n].addedRows)
			most = addRows(most, addRows(found[n].addedRows, found[n].existingRows))
		}
	}
	if *snap.AddedRows < least || *snap.AddedRows > most {
		return fmt.Sprintf("its added-rows says %d, and its manifests add %d rows", *snap.AddedRows, least)
	}
	return ""
}

// blame keeps the first thing that is wrong.
func (s *listStep) blame(format string, args ...any) {
	if s.wrong == "" {
		s.wrong = fmt.Sprintf(format, args...)
	}
}

// sameDescription gives what differs between two list entries of one manifest, "" if nothing that matters does. Counts
// that the parent does not know may be filled in, but not with zero files; those that it knows may not be left out.
// Bounds may be left out. A first row id may be given where there was none.
func sameDescription(was, is *manifest) string {
	switch {
	case was.content != is.content:
		return "content"
	case was.sequence != is.sequence || was.low != is.low:
		return "sequence number"
	case was.firstRow >= 0 && was.firstRow != is.firstRow:
		return "first row id"
	case !bytes.Equal(was.key, is.key):
		return "encryption key"
	case !sameCounts(was, is):
		return "file or row count"
	case !sameBounds(was.partitions, is.partitions):
		return "partition range"
	case was.bare:
		return ""
	}
	return sameOrigin(was, is)
}

// sameOrigin compares what a bare path does not tell.
func sameOrigin(was, is *manifest) string {
	switch {
	case was.length != is.length:
		return "length"
	case was.spec != is.spec:
		return "partition spec"
	case was.snapshot != unknown && was.snapshot != is.snapshot:
		return "snapshot"
	}
	return ""
}

func sameCounts(was, is *manifest) bool {
	for n := range was.files {
		if !sameCount(was.files[n], is.files[n]) || !sameCount(was.rows[n], is.rows[n]) {
			return false
		}
	}
	return is.mayLive() || !was.mayLive()
}

// sameCount holds a count against the one that is known, if any.
func sameCount(known, is int64) bool { return known == unknown || known == is }

func sameBounds(was, is []iceberg.FieldSummary) bool {
	return len(is) == 0 || slices.EqualFunc(was, is, func(a, b iceberg.FieldSummary) bool {
		return a.ContainsNull == b.ContainsNull && valueOr(a.ContainsNaN, true) == valueOr(b.ContainsNaN, true) &&
			sameBytes(a.LowerBound, b.LowerBound) && sameBytes(a.UpperBound, b.UpperBound)
	})
}

func sameBytes(a, b *[]byte) bool {
	return (a == nil) == (b == nil) && (a == nil || bytes.Equal(*a, *b))
}
