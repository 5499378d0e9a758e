package reconcile

import (
	"context"
	"math"
	"sync"

	"github.com/apache/iceberg-go"
)

// tally is the sums of one manifest.
type tally struct {
	liveRows, liveFiles int64
	all                 ownTally           // whatever snapshots its entries name
	own                 map[int64]ownTally // by the snapshot that added or removed; one, most often
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
	addedRows, addedFiles, addedBytes int64
	removedFiles                      int64
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
		addedBytes: addRows(o.addedBytes, p.addedBytes), removedFiles: o.removedFiles + p.removedFiles,
	}
}

func readTally(ctx context.Context, from source, m *manifest) (tally, error) {
	t := tally{own: make(map[int64]ownTally)}
	err := from.eachEntry(ctx, m, func(e entry) error {
		var one ownTally
		switch e.status {
		case iceberg.EntryStatusDELETED:
			one.removedFiles = 1
		case iceberg.EntryStatusADDED:
			one = ownTally{addedRows: e.records, addedFiles: 1, addedBytes: e.bytes}
		}
		if one != (ownTally{}) {
			t.all = t.all.add(one)
			if own, ok := t.own[e.snapshot]; ok || len(t.own) < maxOwners {
				t.own[e.snapshot] = own.add(one)
			}
		}
		if e.status != iceberg.EntryStatusDELETED {
			t.liveRows = addRows(t.liveRows, e.records)
			t.liveFiles++
		}
		return nil
	})
	return t, err
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
