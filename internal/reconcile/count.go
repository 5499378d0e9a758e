package reconcile

import (
	"context"

	"github.com/sluice-data/sluice/internal/metadata"
)

// Counts is what a snapshot added and what the table holds after it, in rows, files and bytes of data files.
type Counts struct {
	AddedRows, AddedFiles, AddedBytes int64
	RemovedFiles                      int64
	DeleteFiles                       int64  // delete files that were added or removed
	TotalRows                         int64  // of the table at the snapshot; meaningful when Exact
	Exact                             bool   // TotalRows is the number of rows a reader would get
	Why                               string // why it is not exact, "" if it is
}

// Counter counts a snapshot's rows from its manifests. It is safe for concurrent use.
type Counter struct {
	source source
	cache  *tallyCache
}

// NewCounter makes a Counter. It remembers the sums of up to 50,000 manifests, about 10 MB: manifests are immutable, so
// that counting the next snapshot reads the new ones alone.
func NewCounter(files Files) *Counter {
	return &Counter{source: newSource(files), cache: newTallyCache(50_000)}
}

// Count reads the snapshot's manifests. The sums are of the entries themselves, never of what the summary or the
// manifest list says. Position deletes and deletion vectors that are live are applied; where an equality delete could
// apply, a delete file cannot be understood, or the files claim more rows than can be counted, Exact is false and Why
// says so; sums that would overflow are the largest number there is. Errors are fault.Invalid for files that
// are missing or malformed and fault.Unavailable when the store fails.
func (c *Counter) Count(ctx context.Context, _ *metadata.Document, snap metadata.Snapshot) (Counts, error) {
	var counts Counts
	manifests, _, err := c.source.manifestsOf(ctx, snap)
	if err != nil {
		return counts, err
	}
	deletes := false
	var own ownTally
	for n := range manifests {
		m := &manifests[n]
		t, err := c.tally(ctx, m)
		if err != nil {
			return counts, err
		}
		if m.content == deletesContent {
			deletes = deletes || t.liveFiles > 0
			by := t.of(snap.ID, m)
			counts.DeleteFiles += by.addedFiles + by.removedFiles
			continue
		}
		counts.TotalRows = addRows(counts.TotalRows, t.liveRows)
		own = own.add(t.of(snap.ID, m))
	}
	counts.AddedRows, counts.AddedFiles, counts.AddedBytes = own.addedRows, own.addedFiles, own.addedBytes
	counts.RemovedFiles = own.removedFiles
	if counts.TotalRows == overflowed || counts.AddedRows == overflowed || counts.AddedBytes == overflowed {
		counts.Why = "its files claim more rows or bytes than can be counted"
		return counts, nil
	}
	if counts.Exact = !deletes; counts.Exact {
		return counts, nil
	}
	removed, why, err := c.deletedRows(ctx, manifests)
	if err != nil {
		return counts, err
	}
	if counts.Exact, counts.Why = why == "", why; counts.Exact {
		counts.TotalRows -= removed
	}
	return counts, nil
}

// tally reads a manifest's sums, or remembers them.
func (c *Counter) tally(ctx context.Context, m *manifest) (tally, error) {
	if t, ok := c.cache.get(m.path); ok {
		return t, nil
	}
	t, err := readTally(ctx, c.source, m)
	if err == nil {
		c.cache.put(m.path, t)
	}
	return t, err
}
