package scan

import (
	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/cache"
)

// manifestCache keeps what was read of manifests, which never change: whoever pages through a table plans each page anew.
// Entries are shared between plans and not to be changed.
type manifestCache = cache.Cache[readKey, readManifest]

func newManifestCache(bytes int64) *manifestCache { return cache.New[readKey, readManifest](bytes) }

// readKey is a manifest with all that its entries have from the list that names it.
type readKey struct {
	path        string
	version     int
	bare        bool
	specID      int
	content     iceberg.ManifestContent
	snapshot    int64
	sequence    int64
	firstRow    int64
	hasFirstRow bool
	detail      detail
}

type readManifest struct {
	entries []entry
	specID  int
}

func readKeyOf(m manifest, d detail) readKey {
	key := readKey{
		path: m.FilePath(), version: m.Version(), bare: m.bare, specID: m.specID(), content: m.ManifestContent(),
		snapshot: m.SnapshotID(), sequence: m.SequenceNum(), detail: d,
	}
	if first := m.FirstRowID(); first != nil {
		key.firstRow, key.hasFirstRow = *first, true
	}
	return key
}

// size is about what entries take in memory, in bytes.
func (m readManifest) size() int64 {
	const fixed, each, statistic, number, value = 1 << 10, 1500, 70, 8, 150
	size := int64(fixed)
	for _, e := range m.entries {
		f := e.file
		lower, upper, partition := f.LowerBoundValues(), f.UpperBoundValues(), f.Partition()
		statistics := len(f.ValueCounts()) + len(f.NullValueCounts()) + len(f.NaNValueCounts()) + len(f.DistinctValueCounts()) +
			len(f.ColumnSizes()) + len(lower) + len(upper)
		numbers := len(f.SplitOffsets()) + len(f.EqualityFieldIDs())
		size += each + int64(statistics)*statistic + int64(numbers)*number + int64(len(partition))*value +
			bytesIn(lower) + bytesIn(upper) + textIn(partition) + int64(len(f.FilePath())+len(f.KeyMetadata()))
		if of := f.ReferencedDataFile(); of != nil {
			size += int64(len(*of))
		}
	}
	return size
}

func textIn(partition map[int]any) (n int64) {
	for _, v := range partition {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		}
	}
	return n
}

func bytesIn(bounds map[int][]byte) (n int64) {
	for _, b := range bounds {
		n += int64(len(b))
	}
	return n
}
