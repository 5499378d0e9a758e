package reconcile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// exactScene is a table with deletes of all kinds that its version has, in memory, and how many rows it has.
func exactScene(t testing.TB, version int) (memory, *metadata.Document, metadata.Snapshot, int64) {
	l := newTableLake(t, version, idField+","+nameField)
	var rows []string
	for n := range 60 {
		rows = append(rows, object("id", n, "name", fmt.Sprint("n", n%5)))
	}
	l.write("a.parquet", parquetOf(t, idAndName(), rows, parquet.WithMaxRowGroupLength(25)))
	l.commit(row{status: added, path: "a.parquet", records: 60})
	positional := l.positions("p.parquet", []string{"a.parquet", "a.parquet"}, []int64{3, 7})
	if version == 3 {
		positional = l.vector("v.puffin", "a.parquet", 3, 7)
	}
	snap := l.commit(positional, l.equality("eq.parquet", []int{1, 2}, idAndName(), object("id", 3, "name", "n3"), object("id", 4, "name", "n4")))
	files := memory{}
	entries, err := os.ReadDir(l.root)
	require.NoError(t, err)
	for _, e := range entries {
		files[e.Name()], err = os.ReadFile(l.path(e.Name()))
		require.NoError(t, err)
	}
	return files, l.doc, snap, 60 - 3
}

// FuzzCount changes any of the files that a count reads. It must end in an answer, exact or not, or the client's error.
func FuzzCount(f *testing.F) {
	type scene struct {
		files memory
		doc   *metadata.Document
		snap  metadata.Snapshot
		names []string
	}
	var scenes []scene
	for version, positional := range map[int]string{2: "p.parquet", 3: "v.puffin"} {
		s := scene{names: []string{positional, "eq.parquet", "a.parquet", "m2-0.avro", "m2-1.avro"}}
		s.files, s.doc, s.snap, _ = exactScene(f, version)
		scenes = append(scenes, s)
		for n, name := range s.names {
			f.Add(version == 3, n, s.files[name])
			f.Add(version == 3, n, s.files[name][:len(s.files[name])/2])
		}
	}
	f.Fuzz(func(t *testing.T, third bool, n int, raw []byte) {
		s := scenes[0]
		if third != (s.names[0] == "v.puffin") {
			s = scenes[1]
		}
		mutated := memory{s.names[uint(n)%uint(len(s.names))]: raw}
		for name, content := range s.files {
			if _, ok := mutated[name]; !ok {
				mutated[name] = content
			}
		}
		counts, err := reconcile.NewCounter(mutated).Count(t.Context(), s.doc, s.snap)
		if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.TooLarge) {
			t.Fatalf("not the client's error: %v", err)
		}
		if err == nil && counts.Exact && (counts.TotalRows < 0 || counts.TotalRows > counts.LiveRows) {
			t.Fatalf("%d of %d rows", counts.TotalRows, counts.LiveRows)
		}
	})
}

// A damaged byte anywhere ends in an answer.
func TestDamagedBytesOfDeletesAndData(t *testing.T) {
	for version, positional := range map[int]string{2: "p.parquet", 3: "v.puffin"} {
		files, doc, snap, rows := exactScene(t, version)
		counts, err := reconcile.NewCounter(files).Count(t.Context(), doc, snap)
		require.NoError(t, err)
		require.Equal(t, rows, counts.TotalRows, counts.Why)
		for _, name := range []string{positional, "eq.parquet", "a.parquet"} {
			good := files[name]
			for at := version; at < len(good); at += 19 {
				bad := bytes.Clone(good)
				bad[at] ^= byte(1 + at%255)
				files[name] = bad
				counts, err := reconcile.NewCounter(files).Count(t.Context(), doc, snap)
				require.NoError(t, err, "v%d %s byte %d", version, name, at)
				require.Equal(t, counts.Exact, counts.Why == "")
				require.True(t, !counts.Exact || counts.TotalRows >= 0 && counts.TotalRows <= 60)
			}
			files[name] = good
		}
	}
}

// A vector that removes other rows than its manifest says is refused by readers: nothing is counted by it.
func TestVectorsAreHeldAgainstTheirManifest(t *testing.T) {
	l := newTableLake(t, 3, idField)
	l.commit(l.data("a.parquet", idColumn(), ids(0, 10)...))
	for name, change := range map[string]func(*row){
		"another number of rows": func(r *row) { r.records = 3 },
		"beyond its file": func(r *row) {
			r.change = func(b *iceberg.DataFileBuilder) { b.ContentOffset(4).ContentSizeInBytes(1 << 40) }
		},
		"another place": func(r *row) {
			r.change = func(b *iceberg.DataFileBuilder) { b.ContentOffset(5).ContentSizeInBytes(30) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := *l
			v := l.vector("v.puffin", "a.parquet", 1, 2)
			change(&v)
			counts := l.count(l.commit(v, l.equality("eq.parquet", []int{1}, idColumn(), ids(0, 2)...)))
			require.Contains(t, counts.Why, "v.puffin cannot be read")
		})
	}
}

// A file that claims billions of rows costs neither the memory nor the time for them.
func TestClaimsOfRowsCostNothing(t *testing.T) {
	l := newTableLake(t, 2, idField)
	a := l.data("a.parquet", idColumn(), ids(0, 10)...)
	a.records = 1 << 38
	l.commit(a)
	d := l.equality("eq.parquet", []int{1}, idColumn(), ids(0, 2)...)
	p := l.positions("p.parquet", []string{"a.parquet"}, []int64{1 << 37})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.Contains(t, l.count(l.commit(d)).Why, "reach more than")
	require.Contains(t, l.count(l.commit(p)).Why, "reach more than")
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

// stopping is files whose reader gives up while they are read.
type stopping struct {
	*folder
	stop context.CancelFunc
	at   string
}

func (s *stopping) ReadFile(ctx context.Context, location string) ([]byte, error) {
	raw, err := s.folder.ReadFile(ctx, location)
	if bytes.HasSuffix([]byte(location), []byte(s.at)) {
		s.stop()
	}
	return raw, err
}

func TestACountEndsWithItsContext(t *testing.T) {
	l := newTableLake(t, 2, idField)
	l.commit(l.data("a.parquet", idColumn(), ids(0, 10)...))
	snap := l.commit(l.equality("eq.parquet", []int{1}, idColumn(), ids(0, 2)...))
	for _, at := range []string{"m1-0.avro", "eq.parquet", "a.parquet"} {
		ctx, stop := context.WithCancel(t.Context())
		counter := reconcile.NewCounter(&stopping{l.files, stop, at})
		_, err := counter.Count(ctx, l.doc, snap)
		require.True(t, errors.Is(err, context.Canceled), "%s: %v", at, err)
		counts, err := counter.Count(t.Context(), l.doc, snap)
		require.NoError(t, err)
		require.Equal(t, int64(8), counts.TotalRows, "another may count all the same")
	}
}
