package reconcile

import (
	"cmp"
	"slices"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/models"
)

// mostTouched bounds the partitions of a commit that are told apart; what touches more of them is counted by its sums
// alone.
const mostTouched = 10_000

// touched is what one snapshot did to each partition. A nil one notes nothing.
type touched struct {
	snapshot int64
	layout   *layout
	changes  map[string]*models.PartitionChange // by text
}

func newTouched(snapshot int64, l *layout) *touched {
	return &touched{snapshot: snapshot, layout: l, changes: make(map[string]*models.PartitionChange)}
}

// mayHave tells whether the manifest can have anything that the snapshot did: it wrote it, or nobody knows who did.
func (t *touched) mayHave(m *manifest) bool {
	return m.bare || m.snapshot == unknown || m.snapshot == t.snapshot
}

// note adds what an entry of the manifest did, if the snapshot did it.
func (t *touched) note(m *manifest, e entry, did ownTally) {
	if t == nil || (m.bare || m.snapshot != t.snapshot) && e.snapshot != t.snapshot {
		return
	}
	text := t.layout.text(m.spec, e.details.partition)
	change := t.changes[text]
	if change == nil {
		if len(t.changes) == mostTouched {
			return
		}
		change = &models.PartitionChange{Partition: text}
		t.changes[text] = change
	}
	if iceberg.ManifestEntryContent(e.content) != iceberg.EntryContentData {
		change.DeleteFiles += did.addedFiles
		return
	}
	change.AddedRows, change.AddedFiles = addRows(change.AddedRows, did.addedRows), change.AddedFiles+did.addedFiles
	change.RemovedRows, change.RemovedFiles = addRows(change.RemovedRows, did.removedRows), change.RemovedFiles+did.removedFiles
}

// most gives those with the most rows, in an order that is always the same.
func (t *touched) most(limit int) []models.PartitionChange {
	out := make([]models.PartitionChange, 0, len(t.changes))
	for _, c := range t.changes {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b models.PartitionChange) int {
		return cmp.Or(
			cmp.Compare(addRows(b.AddedRows, b.RemovedRows), addRows(a.AddedRows, a.RemovedRows)),
			cmp.Compare(b.DeleteFiles, a.DeleteFiles), cmp.Compare(a.Partition, b.Partition))
	})
	if len(out) == 0 {
		return nil
	}
	return slices.Clip(out[:min(limit, len(out))])
}
