package reconcile_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/metadata"
)

// null is a count that is not there.
const null = int64(-1 << 40)

// counts are the six counts of a list entry: added, existing and deleted files, then rows.
type counts [6]int64

// counted gives the counts of a manifest as its writer made them.
func counted(m iceberg.ManifestFile) counts {
	return counts{
		int64(m.AddedDataFiles()), int64(m.ExistingDataFiles()), int64(m.DeletedDataFiles()),
		m.AddedRows(), m.ExistingRows(), m.DeletedRows(),
	}
}

// with gives the counts with one changed.
func (c counts) with(n int, to int64) counts {
	c[n] = to
	return c
}

// recount writes the snapshot's list anew with counts of the caller's making, which iceberg-go would not write: each is
// an optional number, in every version.
func (l *lake) recount(snap metadata.Snapshot, manifests []iceberg.ManifestFile, as []counts) {
	fields := `{"name":"manifest_path","type":"string","field-id":500},{"name":"manifest_length","type":"long","field-id":501},` +
		`{"name":"partition_spec_id","type":"int","field-id":502},{"name":"added_snapshot_id","type":"long","field-id":503}`
	if l.version > 1 {
		fields += `,{"name":"content","type":"int","field-id":517},{"name":"sequence_number","type":"long","field-id":515}` +
			`,{"name":"min_sequence_number","type":"long","field-id":516}`
	}
	for n, name := range []string{"added_files", "existing_files", "deleted_files", "added_rows", "existing_rows", "deleted_rows"} {
		kind, id := "int", 504+n
		if n > 2 {
			kind, id = "long", 509+n
		}
		fields += fmt.Sprintf(`,{"name":"%s_count","type":["null","%s"],"field-id":%d}`, name, kind, id)
	}
	text := func(out []byte, s string) []byte { return append(binary.AppendVarint(out, int64(len(s))), s...) }
	var block []byte
	for n, m := range manifests {
		block = text(block, m.FilePath())
		for _, v := range []int64{m.Length(), int64(m.PartitionSpecID()), m.SnapshotID()} {
			block = binary.AppendVarint(block, v)
		}
		if l.version > 1 {
			// A new manifest's numbers are those of the snapshot.
			sequence, least := m.SequenceNum(), m.MinSequenceNum()
			if sequence < 0 {
				sequence, least = snap.SequenceNumber, max(least, 1)
			}
			for _, v := range []int64{int64(m.ManifestContent()), sequence, least} {
				block = binary.AppendVarint(block, v)
			}
		}
		for _, v := range as[n] {
			if v == null {
				block = binary.AppendVarint(block, 0)
			} else {
				block = binary.AppendVarint(binary.AppendVarint(block, 1), v)
			}
		}
	}
	out := binary.AppendVarint([]byte("Obj\x01"), 2)
	out = text(text(out, "avro.schema"), `{"type":"record","name":"manifest_file","fields":[`+fields+`]}`)
	out = append(text(text(out, "format-version"), strconv.Itoa(l.version)), 0)
	const sync = "0123456789abcdef"
	out = binary.AppendVarint(append(out, sync...), int64(len(manifests)))
	out = append(text(out, string(block)), sync...)
	require.NoError(l.t, os.WriteFile(snap.ManifestList, out, 0o600))
}

// recounted is verdict on a list with counts of the caller's making.
func (l *lake) recounted(t *testing.T, parent metadata.Snapshot, manifests []iceberg.ManifestFile, as ...counts) (bool, string) {
	t.Helper()
	snap := l.snapshot(3, &parent, manifests...)
	l.recount(snap, manifests, as)
	facts, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
	require.NoError(t, err)
	return facts.Append, facts.NotAppend
}

// Engines take null alone for a count that is not known: a negative one hides the manifest's files from some of them.
func TestNegativeCountsAreNotUnknown(t *testing.T) {
	for version := 1; version <= 2; version++ {
		for n := range 6 {
			t.Run(fmt.Sprintf("v%d count %d", version, n), func(t *testing.T) {
				l := newLake(t, version)
				parent, carried := l.parent()
				fresh := l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4})
				list := []iceberg.ManifestFile{carried[0], carried[1], fresh}
				a, b, c := counted(carried[0]), counted(carried[1]), counted(fresh)
				ok, why := l.recounted(t, parent, list, a, b, c)
				require.True(t, ok, why)
				for _, value := range []int64{-1, -2, -1 << 31} {
					ok, why = l.recounted(t, parent, list, a.with(n, value), b, c)
					require.False(t, ok, "carried over: %d", value)
					require.Contains(t, why, "its manifest list miscounts the files or rows of "+carried[0].FilePath())
					ok, why = l.recounted(t, parent, list, a, b, c.with(n, value))
					require.False(t, ok, "new: %d", value)
					require.Contains(t, why, "its manifest list miscounts the files or rows of "+fresh.FilePath())
				}
				ok, why = l.recounted(t, parent, list, a.with(n, null), b, c)
				require.False(t, ok, "a known count is left out")
				require.Contains(t, why, "another file or row count")
				ok, why = l.recounted(t, parent, list, a, b, c.with(n, null))
				require.True(t, ok, "an unknown count of a new manifest hides nothing: %s", why)

				merged := l.manifest("merged.avro", 3, append(l.kept(), row{status: added, path: "d.parquet", records: 4})...)
				ok, why = l.recounted(t, parent, []iceberg.ManifestFile{merged}, counted(merged))
				require.True(t, ok, why)
				ok, why = l.recounted(t, parent, []iceberg.ManifestFile{merged}, counted(merged).with(n, -1))
				require.False(t, ok, "merged")
				require.Contains(t, why, "miscounts")
				ok, why = l.recounted(t, parent, []iceberg.ManifestFile{merged}, counted(merged).with(n, null))
				require.True(t, ok, why)
			})
		}
	}
}

// Counts that the parent does not know may stay unknown or be filled in. Negative ones stay wrong until an overwrite.
func TestCountsThatTheParentDoesNotHave(t *testing.T) {
	for version := 1; version <= 2; version++ {
		l := newLake(t, version)
		parent, carried := l.parent()
		a, b := counted(carried[0]), counted(carried[1])
		none := counts{null, null, null, null, null, null}
		l.recount(parent, carried, []counts{none, b})
		for _, c := range []struct {
			as counts
			ok bool
		}{{none, true}, {a, true}, {a.with(3, null), true}, {a.with(0, 0), false}, {a.with(0, -1), false}} {
			ok, why := l.recounted(t, parent, carried, c.as, b)
			require.Equal(t, c.ok, ok, "%v: %s", c.as, why)
		}
		l.recount(parent, carried, []counts{a.with(0, -1), b})
		for _, as := range []counts{a.with(0, -1), a, a.with(0, -2), a.with(0, null)} {
			ok, _ := l.recounted(t, parent, carried, as, b)
			require.False(t, ok, "%v", as)
		}
	}
}

// What an entry says of a file that it keeps decides which of its rows engines read, and what deletes do.
func TestKeptFilesMustStayWhatTheyWere(t *testing.T) {
	file := iceberg.EntryContentData
	deletes, equality := iceberg.EntryContentPosDeletes, iceberg.EntryContentEqDeletes
	type build = func(*iceberg.DataFileBuilder)
	splits := func(offsets ...int64) build {
		return func(b *iceberg.DataFileBuilder) { b.SplitOffsets(append([]int64{}, offsets...)) }
	}
	key := func(k string) build { return func(b *iceberg.DataFileBuilder) { b.KeyMetadata([]byte(k)) } }
	refers := func(path string) build { return func(b *iceberg.DataFileBuilder) { b.ReferencedDataFile(path) } }
	blob := func(offset, size int64) build {
		return func(b *iceberg.DataFileBuilder) { b.ContentOffset(offset).ContentSizeInBytes(size) }
	}
	ids := func(ids ...int) build { return func(b *iceberg.DataFileBuilder) { b.EqualityFieldIDs(ids) } }
	order := func(id int) build { return func(b *iceberg.DataFileBuilder) { b.SortOrderID(id) } }
	for _, c := range []struct {
		name    string
		content iceberg.ManifestEntryContent
		was, is build
		says    string
	}{
		{"same offsets", file, splits(4, 5326), splits(4, 5326), ""},
		{"no offsets any more", file, splits(4, 5326), nil, ""},
		{"an offset left out", file, splits(4, 5326), splits(5326), "other split offsets"},
		{"other offsets", file, splits(4, 5326), splits(4, 6000), "other split offsets"},
		{"offsets in another order", file, splits(4, 5326), splits(5326, 4), "other split offsets"},
		{"empty offsets", file, splits(4, 5326), splits(), "other split offsets"},
		{"offsets where none were", file, nil, splits(5326), "other split offsets"},
		{"empty offsets where none were", file, nil, splits(), "other split offsets"},
		{"same key", file, key("k"), key("k"), ""},
		{"another key", file, key("k"), key("l"), "content"},
		{"no key any more", file, key("k"), nil, "content"},
		{"a key where none was", file, nil, key("k"), "content"},
		{"another sort order", file, order(1), order(2), ""},
		{"same reference", deletes, refers("a"), refers("a"), ""},
		{"another reference", deletes, refers("a"), refers("b"), "content"},
		{"no reference any more", deletes, refers("a"), nil, "content"},
		{"an empty reference where none was", deletes, nil, refers(""), "content"},
		{"another offset of the content", deletes, blob(4, 40), blob(5, 40), "d1.parquet"},
		{"another size of the content", deletes, blob(4, 40), blob(4, 41), "content"},
		{"an offset where none was", deletes, nil, blob(0, 0), "content"},
		{"other equality columns", equality, ids(1), ids(1, 2), "content"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLake(t, 3) // iceberg-go writes no references in v2
			data := l.manifest("m1.avro", 1, row{status: added, path: "a.parquet", records: 10})
			r := row{status: added, path: "d1.parquet", records: 1, content: c.content, change: c.was}
			first := l.snapshot(1, nil, data, l.manifest("m2.avro", 1, r))
			r.status, r.snapshot, r.sequence, r.change = existing, 1, 1, c.is
			if c.content == file {
				r.firstRow = 1010
			}
			ok, why := l.verdict(t, first, l.listed(first)[0], l.manifest("kept.avro", 3, r))
			require.Equal(t, c.says == "", ok, why)
			require.Contains(t, why, c.says)
		})
	}
}

// Engines that read what a snapshot added find it by the snapshot that an entry names.
func TestKeptFilesStayOfTheirSnapshot(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, _ := l.parent()
		for _, other := range []int64{2, 3, -1, -2} {
			rows := l.kept()
			rows[0].snapshot = other
			ok, why := l.verdict(t, parent, l.manifest("merged.avro", 3, rows...))
			require.False(t, ok, "snapshot %d", other)
			require.Contains(t, why, "another snapshot")
		}
	})
}

// A negative number is not one that may be inherited.
func TestAddedUnderNegativeNumbers(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, carried := l.parent()
		m := l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4})
		l.rename(m.FilePath(), 3, -1)
		ok, why := l.verdict(t, parent, append(carried, m)...)
		require.False(t, ok)
		require.Contains(t, why, "under a snapshot id that is not its own")
		if l.version == 1 {
			return
		}
		m = l.manifest("m4.avro", 3, row{status: added, path: "d.parquet", records: 4, sequence: -2})
		ok, why = l.verdict(t, parent, append(carried, m)...)
		require.False(t, ok)
		require.Contains(t, why, "under a sequence number that is not its own")
	})
}
