package reconcile

import (
	"context"
	"math"
	"sync"

	"github.com/apache/iceberg-go"
)

// tally is the sums of one manifest.
type tally struct {
	liveRows, liveFiles           int64
	equality, positional, vectors int64              // live delete files by kind
	all                           ownTally           // whatever snapshots its entries name
	own                           map[int64]ownTally // by the snapshot that added or removed; one, most often
}

// of gives what a snapshot did in the manifest: everything that is new in it if the snapshot wrote it, whatever its
// entries say, and else what they say.
func (t tally) of(snapshot int64, m *manifest) ownTally {
	if m.snapshot == snapshot && !m.bare {
		return t.all
	}
	return t.own[snapshot]
}

// ownTally is what one snapshot added to and removed from a manifest.
type ownTally struct {
	addedRows, addedFiles, addedBytes       int64
	removedRows, removedFiles, removedBytes int64
}

// overflowed is a sum of rows or bytes that is too large to be true. It stays what it is.
const overflowed = math.MaxInt64

// addRows adds counts that are not negative.
func addRows(a, b int64) int64 {
	if a > overflowed-b {
		return overflowed
	}
	return a + b
}

// add gives the sums of both.
func (o ownTally) add(p ownTally) ownTally {
	return ownTally{
		addedRows: addRows(o.addedRows, p.addedRows), addedFiles: o.addedFiles + p.addedFiles,
		addedBytes:  addRows(o.addedBytes, p.addedBytes),
		removedRows: addRows(o.removedRows, p.removedRows), removedFiles: o.removedFiles + p.removedFiles,
		removedBytes: addRows(o.removedBytes, p.removedBytes),
	}
}

// readTally reads a manifest's sums. touched, which may be nil, is told what its snapshot did in it.
func readTally(ctx context.Context, from source, m *manifest, touched *touched) (tally, error) {
	t := tally{own: make(map[int64]ownTally)}
	var want *wanted
	if touched != nil {
		want = &wanted{partition: true}
	}
	err := from.eachWanted(ctx, m, want, func(e entry) error {
		one := ownOf(e)
		if one != (ownTally{}) {
			t.all = t.all.add(one)
			if own, ok := t.own[e.snapshot]; ok || len(t.own) < maxOwners {
				t.own[e.snapshot] = own.add(one)
			}
			touched.note(m, e, one)
		}
		t.live(e)
		return nil
	})
	return t, err
}

// ownOf is what the snapshot of an entry did by it.
func ownOf(e entry) ownTally {
	switch e.status {
	case iceberg.EntryStatusDELETED:
		return ownTally{removedRows: e.records, removedFiles: 1, removedBytes: e.bytes}
	case iceberg.EntryStatusADDED:
		return ownTally{addedRows: e.records, addedFiles: 1, addedBytes: e.bytes}
	}
	return ownTally{}
}

// live counts an entry that readers see.
func (t *tally) live(e entry) {
	if e.status == iceberg.EntryStatusDELETED {
		return
	}
	t.liveRows = addRows(t.liveRows, e.records)
	t.liveFiles++
	switch {
	case e.isVector():
		t.vectors++
	case iceberg.ManifestEntryContent(e.content) == iceberg.EntryContentPosDeletes:
		t.positional++
	case iceberg.ManifestEntryContent(e.content) == iceberg.EntryContentEqDeletes:
		t.equality++
	}
}

// tallyCache remembers the sums of manifests by path; at its limit any one gives way.
type tallyCache struct {
	mu      sync.Mutex
	limit   int
	entries map[string]tally
}

// mostOwners is how many snapshots' sums a remembered tally may hold: more would make the cache's size unknown.
const mostOwners = 4

func newTallyCache(limit int) *tallyCache {
	return &tallyCache{limit: limit, entries: make(map[string]tally)}
}

func (c *tallyCache) get(path string) (tally, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.entries[path]
	return t, ok
}

func (c *tallyCache) put(path string, t tally) {
	if len(t.own) > mostOwners {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for old := range c.entries {
		if len(c.entries) < c.limit {
			break
		}
		delete(c.entries, old)
	}
	c.entries[path] = t
}
