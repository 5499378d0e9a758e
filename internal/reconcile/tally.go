package reconcile

import (
	"context"
	"sync"

	"github.com/apache/iceberg-go"
)

// tally is the sums of one manifest.
type tally struct {
	liveRows, liveFiles int64
	own                 map[int64]ownTally // by the snapshot that added or removed; one, most often
}

// ownTally is what one snapshot added to and removed from a manifest.
type ownTally struct {
	addedRows, addedFiles, addedBytes int64
	removedFiles                      int64
}

func readTally(ctx context.Context, from source, m *manifest) (tally, error) {
	t := tally{own: make(map[int64]ownTally)}
	err := from.eachEntry(ctx, m, func(e entry) error {
		own := t.own[e.snapshot]
		switch e.status {
		case iceberg.EntryStatusDELETED:
			own.removedFiles++
			t.own[e.snapshot] = own
			return nil
		case iceberg.EntryStatusADDED:
			own.addedRows += e.records
			own.addedFiles++
			own.addedBytes += e.bytes
			t.own[e.snapshot] = own
		}
		t.liveRows += e.records
		t.liveFiles++
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
