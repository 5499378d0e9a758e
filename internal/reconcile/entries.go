package reconcile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"

	"github.com/apache/iceberg-go"
)

// decodeEntries calls visit with every whole entry of a manifest that was scanned, deleted ones too. stats asks for the
// column metrics. It never panics, whatever the bytes; an error of visit ends it.
func decodeEntries(raw []byte, m *manifest, stats bool, visit func(iceberg.ManifestEntry) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: decoder panic: %v", errDecode, p)
		}
	}()
	reader, err := iceberg.NewManifestReaderWithProjection(m.file(), bytes.NewReader(raw),
		iceberg.ManifestEntryProjection{IncludePruningStats: stats})
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it reads memory
	for {
		entry, err := reader.ReadEntry()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(entry); err != nil {
			return err
		}
	}
}

// eachEntry fetches a manifest and visits its entries as scan does. Errors are of package fault.
func (s source) eachEntry(ctx context.Context, m *manifest, visit func(entry) error) error {
	return s.eachWanted(ctx, m, nil, visit)
}

// eachWanted is eachEntry, with the details that are wanted.
func (s source) eachWanted(ctx context.Context, m *manifest, want *wanted, visit func(entry) error) error {
	return s.open(ctx, m, func(raw []byte) error {
		size, err := s.schemas.scan(raw, m, want, visit)
		if err == nil {
			err = s.meter.spend(size.total)
		}
		return err
	})
}

// scan is that of the schema cache, on the account of the commit.
func (s source) scan(raw []byte, m *manifest, visit func(entry) error) (extent, error) {
	size, err := s.schemas.scan(raw, m, nil, visit)
	if err == nil {
		err = s.meter.spend(size.total)
	}
	return size, err
}

// eachWholeEntry fetches a manifest and visits its entries as decodeEntries does. Errors are of package fault.
func (s source) eachWholeEntry(ctx context.Context, m *manifest, stats bool, visit func(iceberg.ManifestEntry) error) error {
	return s.open(ctx, m, func(raw []byte) error {
		size, err := s.scan(raw, m, func(entry) error { return nil })
		if err != nil {
			return err
		}
		return s.decode(ctx, raw, m, size, stats, visit)
	})
}

// decode is decodeEntries on a manifest that was scanned: iceberg-go unpacks whole blocks, which are found to be harmless
// and for which the memory is set aside.
func (s source) decode(
	ctx context.Context, raw []byte, m *manifest, size extent, stats bool, visit func(iceberg.ManifestEntry) error,
) error {
	if size.largest > maxBlock {
		return fmt.Errorf("%w: a block is too large", errDecode)
	}
	const whileGrowing = 3
	release, err := hold(ctx, s.budget.unpacked, whileGrowing*size.largest)
	if err != nil {
		return err
	}
	defer release()
	return decodeEntries(raw, m, stats, visit)
}

// open reads a manifest into memory for as long as decode takes.
func (s source) open(ctx context.Context, m *manifest, decode func(raw []byte) error) error {
	raw, release, err := s.read(ctx, "manifest", m.path, m.length)
	if err != nil {
		return err
	}
	defer release()
	if err := decode(raw); err != nil {
		return malformed(err, "manifest", m.path)
	}
	return nil
}

// liveFile is what must stay the same of a file when its entry moves to another manifest: whatever decides which rows
// readers see. Hashes stand for the parts that are long; their seed is the process's, so nobody can aim for a collision.
type liveFile struct {
	spec          int64
	snapshot      int64 // that added it; -1 unknown
	sequence      int64 // -1 unknown
	fileSequence  int64 // -1 unknown
	records, size int64
	firstRow      int64 // -1 none
	identity      uint64
	splits        uint64    // where engines may start to read; 0 absent
	metrics       [5]uint64 // value, null and NaN counts, lower and upper bounds; 0 absent
}

// fileKey tells live files apart: deletion vectors share a path.
type fileKey struct {
	path   string
	offset int64
}

func keyOf(f iceberg.DataFile) fileKey {
	key := fileKey{path: f.FilePath()}
	if offset := f.ContentOffset(); offset != nil {
		key.offset = *offset
	}
	return key
}

func liveFileOf(e iceberg.ManifestEntry, m *manifest, seed maphash.Seed) liveFile {
	f := e.DataFile()
	return liveFile{
		spec: m.spec, snapshot: e.SnapshotID(), sequence: e.SequenceNum(), fileSequence: valueOr(e.FileSequenceNum(), unknown),
		records: f.Count(), size: f.FileSizeBytes(), firstRow: valueOr(f.FirstRowID(), unknown), identity: identityOf(f, seed),
		splits: splitsOf(f, seed),
		metrics: [5]uint64{
			hashMap(seed, f.ValueCounts()), hashMap(seed, f.NullValueCounts()), hashMap(seed, f.NaNValueCounts()),
			hashMap(seed, f.LowerBoundValues()), hashMap(seed, f.UpperBoundValues()),
		},
	}
}

// sameAs gives what differs of the file in its new entry, "" if nothing that matters does. Metrics and split
// offsets may be left out: readers then read more, never less.
func (f liveFile) sameAs(now liveFile) string {
	switch {
	case now.spec != f.spec:
		return "another partition spec"
	case now.records != f.records || now.size != f.size:
		return "another size"
	case now.identity != f.identity:
		return "another partition or content"
	case now.splits != 0 && now.splits != f.splits:
		return "other split offsets"
	}
	for i, metric := range now.metrics {
		if metric != 0 && metric != f.metrics[i] {
			return "other column metrics"
		}
	}
	return f.sameNumbers(now)
}

// sameNumbers is the part of sameAs that tells when the file came. A first row id may be given where there was none, as
// an upgrade to v3 does.
func (f liveFile) sameNumbers(now liveFile) string {
	switch {
	case f.snapshot != unknown && now.snapshot != f.snapshot:
		return "another snapshot"
	case now.sequence != f.sequence || now.fileSequence != unknown && now.fileSequence != f.fileSequence:
		return "another sequence number"
	case f.firstRow >= 0 && now.firstRow != f.firstRow:
		return "other row ids"
	}
	return ""
}

// identityOf hashes what must not change. What is absent differs from what is empty: a delete file that refers to no
// file applies to all, one that refers to "" to none.
func identityOf(f iceberg.DataFile, seed maphash.Seed) uint64 {
	text := fmt.Sprintf("%d|%s|%#v|%v|%s|%s|%s|", f.ContentType(), f.FileFormat(), f.KeyMetadata(), f.EqualityFieldIDs(),
		optional(f.ReferencedDataFile()), optional(f.ContentOffset()), optional(f.ContentSizeInBytes()))
	partition := f.Partition()
	for _, id := range slices.Sorted(maps.Keys(partition)) {
		text += fmt.Sprintf("%d=%T:%q|", id, partition[id], fmt.Sprint(partition[id]))
	}
	return maphash.String(seed, text)
}

// optional tells an absent value from any other.
func optional[T any](p *T) string {
	if p == nil {
		return "absent"
	}
	return fmt.Sprintf("%#v", *p)
}

// splitsOf is 0 for absent offsets alone: engines may take an empty list for a file with nothing to read.
func splitsOf(f iceberg.DataFile, seed maphash.Seed) uint64 {
	offsets := f.SplitOffsets()
	if offsets == nil {
		return 0
	}
	return max(maphash.String(seed, fmt.Sprint(offsets)), 1)
}

// hashMap is 0 for an absent or empty map alone.
func hashMap[V int64 | []byte](seed maphash.Seed, m map[int]V) uint64 {
	if len(m) == 0 {
		return 0
	}
	var text []byte
	for _, id := range slices.Sorted(maps.Keys(m)) {
		text = fmt.Appendf(text, "%d=%x|", id, m[id])
	}
	return max(maphash.Bytes(seed, text), 1)
}

func valueOr[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
