package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/iceberg-go"
)

// mostPositions bounds the deleted positions that are held at once: 16 bytes each.
const mostPositions = 20_000_000

// inexactError ends a count that cannot be exact; its text says why.
type inexactError string

func (e inexactError) Error() string { return string(e) }

// liveData is a live data file as deletes see it.
type liveData struct {
	sequence, records int64
	partition         string // spec and values
	vector            int64  // rows that a deletion vector removes, -1 without one
	positions         []int64
}

// deletedRows counts the rows of live data files that live deletes remove. why is not empty when that cannot be known.
func (c *Counter) deletedRows(ctx context.Context, manifests []manifest) (rows int64, why string, err error) {
	data, err := c.liveDataFiles(ctx, manifests)
	if err == nil {
		err = c.applyDeletes(ctx, manifests, data)
	}
	if inexact, ok := errors.AsType[inexactError](err); ok {
		return 0, string(inexact), nil
	}
	if err != nil {
		return 0, "", err
	}
	for _, f := range data {
		removed, why := f.removed()
		if why != "" {
			return 0, why, nil
		}
		rows += removed
	}
	return rows, "", nil
}

func (c *Counter) liveDataFiles(ctx context.Context, manifests []manifest) (map[string]*liveData, error) {
	data := make(map[string]*liveData)
	for n := range manifests {
		m := &manifests[n]
		if m.content != dataContent {
			continue
		}
		var twice string
		err := c.source.eachWholeEntry(ctx, m, false, func(e iceberg.ManifestEntry) error {
			if e.Status() == iceberg.EntryStatusDELETED {
				return nil
			}
			f := e.DataFile()
			if data[f.FilePath()] != nil {
				twice = f.FilePath()
			}
			data[f.FilePath()] = &liveData{sequence: e.SequenceNum(), records: f.Count(), partition: partitionOf(m, f), vector: -1}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if twice != "" {
			return nil, inexactError(fmt.Sprintf("the data file %s is listed twice", twice))
		}
	}
	return data, nil
}

// partitionOf is a text for the partition a file is in; "" for an unpartitioned one, whose equality deletes reach all.
func partitionOf(m *manifest, f iceberg.DataFile) string {
	partition := f.Partition()
	if len(partition) == 0 {
		return ""
	}
	out := fmt.Sprint(m.spec)
	for _, id := range slices.Sorted(maps.Keys(partition)) {
		out += fmt.Sprintf("|%d=%q", id, fmt.Sprint(partition[id]))
	}
	return out
}

// applyDeletes reads the delete manifests first and the position delete files after, since a deletion vector replaces
// the position deletes of its file.
func (c *Counter) applyDeletes(ctx context.Context, manifests []manifest, data map[string]*liveData) error {
	var positional []deleteFile
	for n := range manifests {
		m := &manifests[n]
		if m.content != deletesContent {
			continue
		}
		var inexact error
		err := c.source.eachWholeEntry(ctx, m, false, func(e iceberg.ManifestEntry) error {
			if e.Status() == iceberg.EntryStatusDELETED || inexact != nil {
				return nil
			}
			f := e.DataFile()
			switch {
			case f.ContentType() == iceberg.EntryContentEqDeletes:
				inexact = equalityReaches(data, e, partitionOf(m, f))
			case f.FileFormat() == iceberg.PuffinFile:
				inexact = applyVector(data, e)
			default:
				positional = append(positional, deleteFile{f.FilePath(), f.FileFormat(), e.SequenceNum(), f.Count()})
			}
			return nil
		})
		if err == nil {
			err = inexact
		}
		if err != nil {
			return err
		}
	}
	return c.applyPositions(ctx, positional, data)
}

// equalityReaches is nil when an equality delete can remove no row: it reaches data files of its own partition (all when
// it has none) with a lower sequence number. What it would remove of others takes reading them, which a count does not.
func equalityReaches(data map[string]*liveData, e iceberg.ManifestEntry, partition string) error {
	for _, f := range data {
		if f.sequence < e.SequenceNum() && (partition == "" || partition == f.partition) {
			return inexactError(fmt.Sprintf("the equality delete file %s applies to live data files", e.DataFile().FilePath()))
		}
	}
	return nil
}

// applyVector notes the cardinality of a deletion vector, which the specification makes its record count.
func applyVector(data map[string]*liveData, e iceberg.ManifestEntry) error {
	path := e.DataFile().ReferencedDataFile()
	if path == nil {
		return inexactError(fmt.Sprintf("the deletion vector in %s names no data file", e.DataFile().FilePath()))
	}
	f, ok := data[*path]
	if !ok || f.sequence > e.SequenceNum() {
		return nil
	}
	if f.vector >= 0 {
		return inexactError(fmt.Sprintf("the data file %s has two deletion vectors", *path))
	}
	f.vector = e.DataFile().Count()
	return nil
}

// removed counts the rows that a vector or else positions remove, each once and only such as the file has.
func (f *liveData) removed() (int64, string) {
	if f.vector >= 0 {
		if f.vector > f.records {
			return 0, "a deletion vector removes more rows than its data file has"
		}
		return f.vector, ""
	}
	slices.Sort(f.positions)
	var n int64
	for i, p := range f.positions {
		if p >= 0 && p < f.records && (i == 0 || f.positions[i-1] != p) {
			n++
		}
	}
	return n, ""
}
