package reconcile

import (
	"context"
	"errors"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// Counts is what a snapshot did and what the table holds after it, in rows, files and bytes.
type Counts struct {
	AddedRows, AddedFiles, AddedBytes       int64 // of data files
	RemovedRows, RemovedFiles, RemovedBytes int64 // of data files; rows that deletes had removed before are among them

	AddedDeleteFiles int64 // delete files that it added
	DeleteFiles      int64 // delete files that it added or removed

	LiveRows, LiveFiles                                   int64 // of data files, whatever deletes remove
	LiveEqualityDeletes, LivePositionDeletes, LiveVectors int64 // delete files

	// Partitions are those that it touched, the most rows first, models.MostPartitions at most.
	Partitions []models.PartitionChange

	TotalRows int64  // of the table at the snapshot; meaningful when Exact
	Exact     bool   // TotalRows is the number of rows a reader would get
	Why       string // why it is not exact, "" if it is
}

// Counter counts a snapshot's rows: from its manifests, and where deletes are live from what they delete. It is safe for
// concurrent use.
type Counter struct {
	source source
	cache  *tallyCache
	exact  *exactness
}

// CounterOption changes a Counter.
type CounterOption func(*exactLimits)

// WithScanLimit bounds the bytes that one count reads of delete files, and of the data files that equality deletes reach.
// What would take more is not exact. The default is 4 GiB.
func WithScanLimit(bytes int64) CounterOption {
	return func(l *exactLimits) { l.scan = bytes }
}

// WithKeyMemory bounds what is remembered of counted data files, in bytes: while the keys of a table's rows are among it,
// the next commit's equality deletes are held against them, and the data files are not read again. A row takes 16. The
// default is 128 MiB.
func WithKeyMemory(bytes int64) CounterOption {
	return func(l *exactLimits) { l.memory = bytes }
}

// NewCounter makes a Counter. It remembers the sums of up to 50,000 manifests, about 10 MB: manifests are immutable, so
// that counting the next snapshot reads the new ones alone.
func NewCounter(files Files, options ...CounterOption) *Counter {
	limits := defaultExactLimits()
	for _, o := range options {
		o(&limits)
	}
	return &Counter{source: newSource(files), cache: newTallyCache(50_000), exact: newExactness(limits)}
}

// Count reads the snapshot's manifests. The sums are of the entries themselves, never of what the summary or the
// manifest list says. Deletes of every kind are applied as readers apply them; doc, the metadata that has the snapshot,
// says what columns and partitions mean. Where a delete file cannot be understood, applying it would take reading too
// much, or the files claim more rows than can be counted, Exact is false and Why says so; sums that would overflow are
// the largest number there is. Errors are fault.Invalid for files that are missing or malformed and fault.Unavailable
// when the store fails.
func (c *Counter) Count(ctx context.Context, doc *metadata.Document, snap metadata.Snapshot) (Counts, error) {
	var counts Counts
	manifests, _, err := c.source.manifestsOf(ctx, snap)
	if err != nil {
		return counts, err
	}
	columns := newColumnTypes(doc)
	layout := newLayout(doc, columns)
	touched := newTouched(snap.ID, layout)
	for n := range manifests {
		t, err := c.tally(ctx, &manifests[n], touched)
		if err != nil {
			return counts, err
		}
		counts.add(t, &manifests[n], snap.ID)
	}
	counts.Partitions, counts.TotalRows = touched.most(models.MostPartitions), counts.LiveRows
	if counts.overflowed() {
		counts.Why = "its files claim more rows or bytes than can be counted"
		return counts, nil
	}
	if counts.Exact = counts.LiveEqualityDeletes+counts.LivePositionDeletes+counts.LiveVectors == 0; counts.Exact {
		return counts, nil
	}
	removed, err := c.deletedRows(ctx, manifests, layout)
	if inexact, ok := errors.AsType[inexactError](err); ok {
		counts.Why = string(inexact)
		return counts, nil
	}
	counts.Exact, counts.TotalRows = err == nil, counts.LiveRows-removed
	return counts, err
}

// add counts a manifest.
func (c *Counts) add(t tally, m *manifest, snapshot int64) {
	own := t.of(snapshot, m)
	if m.content == deletesContent {
		c.AddedDeleteFiles += own.addedFiles
		c.DeleteFiles += own.addedFiles + own.removedFiles
		c.LiveEqualityDeletes += t.equality
		c.LivePositionDeletes += t.positional
		c.LiveVectors += t.vectors
		return
	}
	c.LiveRows, c.LiveFiles = addRows(c.LiveRows, t.liveRows), c.LiveFiles+t.liveFiles
	c.AddedRows, c.AddedFiles = addRows(c.AddedRows, own.addedRows), c.AddedFiles+own.addedFiles
	c.RemovedRows, c.RemovedFiles = addRows(c.RemovedRows, own.removedRows), c.RemovedFiles+own.removedFiles
	c.AddedBytes, c.RemovedBytes = addRows(c.AddedBytes, own.addedBytes), addRows(c.RemovedBytes, own.removedBytes)
}

func (c *Counts) overflowed() bool {
	return max(c.LiveRows, c.AddedRows, c.RemovedRows, c.AddedBytes, c.RemovedBytes) == overflowed
}

// tally reads a manifest's sums, or remembers them. One that the snapshot changed something in is read in any case, for
// the partitions.
func (c *Counter) tally(ctx context.Context, m *manifest, touched *touched) (tally, error) {
	if !touched.mayHave(m) {
		touched = nil
	}
	if t, ok := c.cache.get(m.path); ok && (touched == nil || t.of(touched.snapshot, m) == (ownTally{})) {
		return t, nil
	}
	t, err := readTally(ctx, c.source, m, touched)
	if err == nil {
		c.cache.put(m.path, t)
	}
	return t, err
}
