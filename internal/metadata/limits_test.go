package metadata_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

func snapshotAt(id, parent, sequence, ms int64) string {
	return strings.Replace(snapshotUpdate(id, parent, sequence, ""), `"timestamp-ms":1702638600000`, fmt.Sprintf(`"timestamp-ms":%d`, ms), 1)
}

// allocated gives the bytes that f allocates, freed ones too, and how long it takes.
func allocated(f func()) (uint64, time.Duration) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if testing.Short() { // the race detector, which -short runs with, allocates for itself
		return 0, took
	}
	return after.TotalAlloc - before.TotalAlloc, took
}

// One commit must not keep the next ones out: not by its time, nor by using up the numbers that count on.
func TestNoCommitIsTheLast(t *testing.T) {
	const minute, most = 60_000, int64(9223372036854775807)
	v2, v3, ms := golden(t, "v2"), golden(t, "v3"), now().UnixMilli()
	refuse(t, v2, fault.Invalid, "ahead of the catalog's clock", snapshotAt(7, newID, 35, ms+11*minute), setRef("main", 7))
	refuse(t, v2, fault.Invalid, "ahead of the catalog's clock", snapshotAt(7, newID, 35, most), setRef("main", 7))
	refuse(t, v2, fault.Invalid, "last sequence number is 34", snapshotUpdate(7, newID, most, ""))
	refuse(t, v2, fault.Invalid, "last sequence number is 34", snapshotUpdate(7, newID, 35+1000, ""))
	refuse(t, v2, fault.Invalid, "last sequence number is 35", snapshotUpdate(7, newID, 35, ""), snapshotUpdate(8, 7, most, ""))
	refuse(t, v3, fault.Invalid, "ahead of table next-row-id", snapshotUpdate(30, 20, 3, fmt.Sprintf(`,"first-row-id":%d,"added-rows":3`, most-10)))
	refuse(t, v3, fault.Invalid, "ahead of table next-row-id", snapshotUpdate(30, 20, 3, `,"first-row-id":101,"added-rows":3`))
	refuse(t, v3, fault.Invalid, "added-rows", snapshotUpdate(30, 20, 3, fmt.Sprintf(`,"first-row-id":100,"added-rows":%d`, most-100)))
	refuse(t, v3, fault.Invalid, "added-rows", snapshotUpdate(30, 20, 3, fmt.Sprintf(`,"first-row-id":100,"added-rows":%d`, most)))
	refuse(t, v2, fault.Invalid, "too far beyond the last column id",
		`{"action":"add-schema","schema":{"type":"struct","fields":[{"id":2147483000,"name":"n","required":false,"type":"int"}]}}`)
	refuse(t, v2, fault.Invalid, "too far beyond the last partition field id",
		`{"action":"add-spec","spec":{"fields":[{"source-id":1,"transform":"bucket[2]","name":"p","field-id":2147483647}]}}`)
	require.True(t, apply(t, v2, snapshotUpdate(7, newID, 34+1000, "")).Changed, "a small gap is of no harm")
}

// A writer whose clock is ahead is taken, and those whose clocks are right go on: engines compare theirs with the table's.
func TestClocksThatAreAhead(t *testing.T) {
	const minute = 60_000
	ms := now().UnixMilli()
	ahead := apply(t, golden(t, "v2"), snapshotAt(7, newID, 35, ms+9*minute), setRef("main", 7)).Document
	require.Equal(t, ms, ahead.LastUpdatedMs())
	require.Contains(t, sectionOf(t, ahead, "snapshot-log"), fmt.Sprintf(`{"timestamp-ms":%d,"snapshot-id":7}`, ms))
	s, _ := ahead.Snapshot(7)
	require.Equal(t, ms+9*minute, s.TimestampMs, "the snapshot is the writer's")
	honest := apply(t, ahead, snapshotAt(8, 7, 36, ms-1000), setRef("main", 8)).Document
	require.Equal(t, ms, honest.LastUpdatedMs())
	refuse(t, honest, fault.Invalid, "before last updated", snapshotAt(9, 8, 37, ms-2*minute))
}

// A table that got a time in the future elsewhere takes commits of the present, and stays one that engines can open.
func TestTableWithATimeInTheFuture(t *testing.T) {
	future := now().UnixMilli() + 1_000_000_000
	raw := string(golden(t, "v2").Bytes())
	for old, fresh := range map[string]string{
		`"last-updated-ms" : 1602638573590`:                                   fmt.Sprintf(`"last-updated-ms":%d`, future),
		fmt.Sprintf(`{"snapshot-id":%d,"timestamp-ms":1555100955770}`, newID): fmt.Sprintf(`{"snapshot-id":%d,"timestamp-ms":%d}`, newID, future),
	} {
		require.Contains(t, raw, old)
		raw = strings.Replace(raw, old, fresh, 1)
	}
	doc, err := metadata.Parse([]byte(raw))
	require.NoError(t, err)
	require.Equal(t, future, doc.LastUpdatedMs())
	next := apply(t, doc, snapshotAt(7, newID, 35, now().UnixMilli()), setRef("main", 7)).Document
	require.Equal(t, future, next.LastUpdatedMs())
	require.Contains(t, sectionOf(t, next, "snapshot-log"), fmt.Sprintf(`{"timestamp-ms":%d,"snapshot-id":7}`, future), "a log does not go back")
}

func repeated(n int, format func(i int) string) []string {
	updates := make([]string, n)
	for i := range updates {
		updates[i] = format(i)
	}
	return updates
}

func addSpecOf(i int) string {
	return fmt.Sprintf(`{"action":"add-spec","spec":{"fields":[{"name":"b%d","transform":"bucket[%d]","source-id":1}]}}`, i, i+1)
}

func TestCommitLimits(t *testing.T) {
	doc := golden(t, "v2")
	refuse(t, doc, fault.TooLarge, "at most 10000 updates", repeated(10_001, func(int) string { return `{"action":"remove-properties","removals":[]}` })...)
	refuse(t, doc, fault.TooLarge, "at most 1000 updates of schemas", repeated(1001, addSpecOf)...)
	require.True(t, apply(t, doc, repeated(1000, addSpecOf)...).Changed)
	expire := repeated(10_000, func(i int) string { return fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, i) })
	require.False(t, apply(t, doc, expire...).Changed, "older engines send one update for each snapshot")

	column := func(i int) string { return fmt.Sprintf(`{"id":%d,"name":"c%d","required":false,"type":"int"}`, i+1, i) }
	wide := func(n int) string {
		return `{"action":"add-schema","schema":{"type":"struct","fields":[` + strings.Join(repeated(n, column), ",") + `]}}`
	}
	refuse(t, doc, fault.TooLarge, "more than 10000 fields", wide(10_001))
	require.True(t, apply(t, doc, wide(10_000)).Changed)
	nested := func(n int) string {
		typ := `"int"`
		for i := range n {
			typ = fmt.Sprintf(`{"type":"list","element-id":%d,"element-required":false,"element":%s}`, 100+i, typ)
		}
		return `{"action":"add-schema","schema":{"type":"struct","fields":[{"id":10,"name":"n","required":false,"type":` + typ + `}]}}`
	}
	refuse(t, doc, fault.Invalid, "nest deeper", nested(64))
	require.True(t, apply(t, doc, nested(63)).Changed)
	toggle := func(i int) string { return fmt.Sprintf(`{"action":"set-current-schema","schema-id":%d}`, i%2+1) }
	refuse(t, apply(t, doc, wide(10_000)).Document, fault.TooLarge, "larger than 64 MB together", repeated(999, toggle)...)
}

// Every field repeats the names of those it is nested in: a long name over many fields must not fill the memory.
func TestLongNamesOverManyFields(t *testing.T) {
	inner := strings.Join(repeated(5000, func(i int) string { return fmt.Sprintf(`{"id":%d,"name":"c","required":false,"type":"int"}`, i+10) }), ",")
	bomb := `{"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"` + strings.Repeat("n", 1<<20) +
		`","required":false,"type":{"type":"struct","fields":[` + inner + `]}}]}}`
	bytes, _ := allocated(func() { refuse(t, golden(t, "v2"), fault.Invalid, "longer than 8192 bytes", bomb) })
	require.Less(t, bytes, uint64(64<<20))
}

// Twice the updates cost about twice as much, whatever they do.
func TestCommitsCostInProportion(t *testing.T) {
	version := func(i int) string {
		return fmt.Sprintf(`{"action":"set-statistics","statistics":{"snapshot-id":%d,"statistics-path":"p%d","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`, newID, i)
	}
	for name, c := range map[string]struct {
		n    int
		make func(i int) string
	}{
		"specs": {500, addSpecOf},
		"orders": {500, func(i int) string {
			return fmt.Sprintf(`{"action":"add-sort-order","sort-order":{"fields":[{"transform":"bucket[%d]","source-id":1,"direction":"asc","null-order":"nulls-first"}]}}`, i+1)
		}},
		"schemas": {500, func(i int) string {
			return fmt.Sprintf(`{"action":"add-schema","schema":{"type":"struct","fields":[{"id":1,"name":"c%d","required":false,"type":"int"}]}}`, i)
		}},
		"specs in turn with their removal": {500, func(i int) string {
			if i%2 == 1 {
				return `{"action":"remove-partition-specs","spec-ids":[1]}`
			}
			return addSpecOf(i)
		}},
		"refs": {5000, func(i int) string {
			return fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"r%d","type":"tag","snapshot-id":%d}`, i, newID)
		}},
		"refs in turn with their removal": {5000, func(i int) string {
			if i%2 == 1 {
				return fmt.Sprintf(`{"action":"remove-snapshot-ref","ref-name":"r%d"}`, i-1)
			}
			return setRef(fmt.Sprintf("r%d", i), newID)
		}},
		"statistics": {5000, version},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) (uint64, time.Duration) {
				updates := decode(t, repeated(n, c.make)...)
				return allocated(func() {
					_, err := metadata.Apply(golden(t, "v2"), updates, metadata.ApplyOptions{Now: now()})
					require.NoError(t, err)
				})
			}
			half, _ := cost(c.n)
			whole, took := cost(2 * c.n)
			require.Less(t, whole, 3*half+1<<20, "bytes allocated")
			require.Less(t, took, 5*time.Second)
		})
	}
}

func gzipped(t *testing.T, parts ...[]byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&packed)
		_, err := w.Write(part)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return packed.Bytes()
}

func TestDecompressionBombs(t *testing.T) {
	zeros := make([]byte, 64<<20)
	var many bytes.Buffer
	w, err := gzip.NewWriterLevel(&many, gzip.BestSpeed)
	require.NoError(t, err)
	for range 8 {
		_, err = w.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	for name, c := range map[string]struct {
		raw  []byte
		most uint64
	}{
		"larger than a document may be": {many.Bytes(), 1 << 20},
		"smaller than metadata can be":  {gzipped(t, zeros), 1 << 20},
		"several files in one":          {gzipped(t, zeros, []byte("{}")), 64 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			bytes, _ := allocated(func() {
				_, err := metadata.Decompress("a.gz.metadata.json", c.raw)
				require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
				require.Contains(t, fault.PublicMessage(err), "expands to more than")
			})
			require.Less(t, bytes, c.most)
		})
	}
	document := []byte(`{"a":"` + strings.Repeat("abcdefgh", 1<<20) + `"}`)
	bytes, _ := allocated(func() {
		out, err := metadata.Decompress("a.gz.metadata.json", gzipped(t, document))
		require.NoError(t, err)
		require.Equal(t, len(document), len(out))
	})
	require.Less(t, bytes, uint64(2*len(document)+4<<20), "no more than the document and what packing it takes")
	out, err := metadata.Decompress("a.gz.metadata.json", gzipped(t, []byte(`{"a":`), []byte(`1}`)))
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, string(out))
}

// A view's commits are bounded and cost in proportion too.
func TestViewCommitLimits(t *testing.T) {
	update := func(i int) string {
		return fmt.Sprintf(`{"action":"add-view-version","view-version":{"version-id":%d,"schema-id":1,"timestamp-ms":1,"summary":{},"default-namespace":["a"],`+
			`"representations":[{"type":"sql","sql":"select %d","dialect":"spark"}]}}`, i+2, i)
	}
	_, err := metadata.DecodeViewUpdates(messages(repeated(1001, update)...))
	require.Equal(t, fault.TooLarge, fault.CodeOf(err))
	cost := func(n int) uint64 {
		doc := goldenView(t)
		updates, err := metadata.DecodeViewUpdates(messages(repeated(n, update)...))
		require.NoError(t, err)
		bytes, _ := allocated(func() {
			_, err = metadata.ApplyView(doc, updates, now())
			require.NoError(t, err)
		})
		return bytes
	}
	require.Less(t, cost(1000), 3*cost(500)+1<<20)
}
