package reconcile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
)

func count(t *testing.T, snap metadata.Snapshot) reconcile.Counts {
	t.Helper()
	counts, err := reconcile.NewCounter(&folder{}).Count(t.Context(), nil, snap)
	require.NoError(t, err)
	require.Equal(t, counts.Exact, counts.Why == "")
	return counts
}

func TestCountWithoutDeletes(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, carried := l.parent()
		parent.Summary = map[string]string{"total-records": "1000000", "added-records": "999999"}
		require.Equal(t, reconcile.Counts{
			AddedRows: 30, AddedFiles: 1, AddedBytes: 3000, LiveRows: 60, LiveFiles: 3, TotalRows: 60, Exact: true,
			Partitions: []models.PartitionChange{{Partition: "city=Zug", AddedRows: 30, AddedFiles: 1}},
		}, count(t, parent))

		replaced := l.manifest("m3.avro", 3,
			row{status: deleted, path: "a.parquet", records: 10, sequence: 1, snapshot: 3},
			row{status: existing, path: "b.parquet", records: 20, sequence: 1, snapshot: 1},
			row{status: added, path: "d.parquet", records: 5}, row{status: added, path: "e.parquet", records: 7})
		snap := l.snapshot(3, &parent, carried[1], replaced)
		require.Equal(t, reconcile.Counts{
			AddedRows: 12, AddedFiles: 2, AddedBytes: 1200, RemovedRows: 10, RemovedFiles: 1, RemovedBytes: 1000,
			LiveRows: 62, LiveFiles: 4, TotalRows: 62, Exact: true,
			Partitions: []models.PartitionChange{{Partition: "city=Bern", AddedRows: 12, AddedFiles: 2, RemovedRows: 10, RemovedFiles: 1}},
		}, count(t, snap))
	})
}

func TestCountOfAnEmptyTable(t *testing.T) {
	l := newLake(t, 2)
	require.Equal(t, reconcile.Counts{Exact: true}, count(t, l.snapshot(1, nil)))
	inline := metadata.Snapshot{ID: 1, Manifests: []string{newLake(t, 1).manifest("m.avro", 1,
		row{status: added, path: "a", records: 3}).FilePath()}}
	require.Equal(t, int64(3), count(t, inline).TotalRows)
}

// What a snapshot's own manifests add is its own, whatever their entries say.
func TestCountOfEntriesThatNameAnotherSnapshot(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, carried := l.parent()
		snap := l.snapshot(3, &parent, append(carried, l.manifest("m3.avro", 3,
			row{status: added, path: "d.parquet", records: 1000}, row{status: added, path: "e.parquet", records: 1}))...)
		l.rename(l.path("m3.avro"), 3, 12345)
		require.Equal(t, reconcile.Counts{
			AddedRows: 1001, AddedFiles: 2, AddedBytes: 100_100, LiveRows: 1061, LiveFiles: 5, TotalRows: 1061, Exact: true,
			Partitions: []models.PartitionChange{{Partition: "city=Bern", AddedRows: 1001, AddedFiles: 2}},
		}, count(t, snap))
	})
}

// Sums that cannot be are said to be inexact, and never negative.
func TestCountOfRowsBeyondCounting(t *testing.T) {
	l := newLake(t, 2)
	huge := int64(1) << 62
	first := l.snapshot(1, nil, l.manifest("m1.avro", 1, row{status: added, path: "a.parquet", records: huge / 100}))
	require.True(t, count(t, first).Exact)
	for name, rows := range map[string][]row{
		"one manifest":   {{status: added, path: "b.parquet", records: huge / 50}, {status: added, path: "c.parquet", records: huge / 50}},
		"both snapshots": {{status: added, path: "b.parquet", records: huge/50 - 1}},
	} {
		t.Run(name, func(t *testing.T) {
			snaps := l.listed(first)
			for n := range 60 {
				snaps = append(snaps, l.manifest(fmt.Sprintf("m2-%d.avro", n), 2, rows...))
			}
			counts := count(t, l.snapshot(2, &first, snaps...))
			require.False(t, counts.Exact)
			require.Contains(t, counts.Why, "more rows or bytes than can be counted")
			require.Positive(t, counts.AddedRows)
			require.Positive(t, counts.TotalRows)
			require.Positive(t, counts.AddedBytes)
		})
	}
}

// A negative count of rows or bytes is no manifest at all.
func TestNegativeCountsAreMalformed(t *testing.T) {
	l := newLake(t, 2)
	m := l.manifest("m1.avro", 1, row{status: added, path: "a.parquet", records: 77})
	recode(t, m.FilePath(), "null", func(plain []byte) []byte {
		forged := bytes.Replace(plain, binary.AppendVarint(nil, 77), binary.AppendVarint(nil, -77), 1)
		require.NotEqual(t, plain, forged)
		return forged
	})
	snap := l.snapshot(1, nil, m)
	_, err := reconcile.NewCounter(&folder{}).Count(t.Context(), nil, snap)
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
	_, err = inspector().Inspect(t.Context(), l.inspection(snap, nil))
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
}

// Manifests are read once: the next snapshot's count reads the new ones, and sees the old ones as not its own.
func TestCountRemembersManifests(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	files := &folder{reads: map[string]int{}}
	counter := reconcile.NewCounter(files)
	snap := l.snapshot(3, &parent, append(carried, l.manifest("m3.avro", 3, row{status: added, path: "d", records: 4}))...)
	for _, want := range []struct {
		snap         metadata.Snapshot
		added, total int64
	}{{parent, 30, 60}, {snap, 4, 64}, {parent, 30, 60}} {
		counts, err := counter.Count(t.Context(), nil, want.snap)
		require.NoError(t, err)
		require.Equal(t, want.added, counts.AddedRows)
		require.Equal(t, want.total, counts.TotalRows)
	}
	require.Equal(t, 1, files.reads["m1.avro"])
	require.Equal(t, 1, files.reads["m3.avro"])
}

// positionFile writes a position delete file of paths in the lake and positions.
func (l *lake) positionFile(name string, paths []string, positions []int64) {
	root, err := schema.NewGroupNode("table", parquet.Repetitions.Required, schema.FieldList{
		schema.NewByteArrayNode("file_path", parquet.Repetitions.Required, 2147483546),
		schema.NewInt64Node("pos", parquet.Repetitions.Required, 2147483545),
	}, -1)
	require.NoError(l.t, err)
	values := make([]parquet.ByteArray, len(paths))
	for i, path := range paths {
		values[i] = parquet.ByteArray(l.path(path))
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	group, err := w.AppendRowGroupChecked()
	require.NoError(l.t, err)
	column, err := group.NextColumn()
	require.NoError(l.t, err)
	_, err = column.(*file.ByteArrayColumnChunkWriter).WriteBatch(values, nil, nil)
	require.NoError(l.t, err)
	require.NoError(l.t, column.Close())
	column, err = group.NextColumn()
	require.NoError(l.t, err)
	_, err = column.(*file.Int64ColumnChunkWriter).WriteBatch(positions, nil, nil)
	require.NoError(l.t, err)
	require.NoError(l.t, column.Close())
	require.NoError(l.t, w.Close())
	require.NoError(l.t, os.WriteFile(l.path(name), out.Bytes(), 0o600))
}

func TestCountAppliesPositionDeletes(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	l.positionFile("p1.parquet",
		[]string{"a.parquet", "a.parquet", "a.parquet", "gone.parquet", "later.parquet", "a.parquet"},
		[]int64{0, 3, 10, 1, 0, -1}) // a has 10 rows: position 10 is none
	l.positionFile("p2.parquet", []string{"a.parquet", "a.parquet"}, []int64{3, 4}) // 3 again
	first := l.manifest("del1.avro", 3,
		row{status: added, path: "p1.parquet", records: 6, content: iceberg.EntryContentPosDeletes},
		row{status: added, path: "p2.parquet", records: 2, content: iceberg.EntryContentPosDeletes})
	third := l.snapshot(3, &parent, append(carried, first)...)
	require.Equal(t, reconcile.Counts{
		LiveRows: 60, LiveFiles: 3, TotalRows: 60 - 3, AddedDeleteFiles: 2, DeleteFiles: 2, LivePositionDeletes: 2, Exact: true,
		Partitions: []models.PartitionChange{{Partition: "city=Bern", DeleteFiles: 2}},
	}, count(t, third))

	later := l.manifest("m4.avro", 4, row{status: added, path: "later.parquet", records: 1})
	fourth := l.snapshot(4, &third, append(l.listed(third), later)...)
	counts := count(t, fourth)
	require.Equal(t, int64(60-3+1), counts.TotalRows, "a file that is younger than the delete keeps its rows")
	require.Equal(t, int64(1), counts.AddedRows)

	require.NoError(t, os.WriteFile(l.path("p2.parquet"), []byte("PAR1 this is not it PAR1"), 0o600))
	require.Contains(t, count(t, fourth).Why, "p2.parquet")
	require.NoError(t, os.Remove(l.path("p2.parquet")))
	_, err := reconcile.NewCounter(&folder{}).Count(t.Context(), nil, fourth)
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
}

func TestCountAppliesDeletionVectors(t *testing.T) {
	l := newLake(t, 3)
	parent, carried := l.parent()
	vector := func(data string, rows int64) row {
		return row{status: added, path: "dv-" + data + ".puffin", records: rows, content: iceberg.EntryContentPosDeletes,
			format: iceberg.PuffinFile, refers: data}
	}
	third := l.snapshot(3, &parent, append(carried, l.manifest("dv.avro", 3, vector("a.parquet", 3), vector("gone.parquet", 9)))...)
	require.Equal(t, reconcile.Counts{
		LiveRows: 60, LiveFiles: 3, TotalRows: 57, AddedDeleteFiles: 2, DeleteFiles: 2, LiveVectors: 2, Exact: true,
		Partitions: []models.PartitionChange{{Partition: "city=Bern", DeleteFiles: 2}},
	}, count(t, third))

	l.positionFile("old.parquet", []string{"a.parquet", "b.parquet"}, []int64{1, 1})
	old := l.manifest("old.avro", 4,
		row{status: added, path: "old.parquet", records: 2, sequence: 2, city: "Genf", content: iceberg.EntryContentPosDeletes},
		row{status: added, path: "old.parquet", records: 2, sequence: 2, content: iceberg.EntryContentPosDeletes})
	mixed := l.snapshot(4, &third, append(l.listed(third), old)...)
	require.Equal(t, int64(60-3-1), count(t, mixed).TotalRows, "the vector replaces the positions of its file")

	twice := l.snapshot(5, &third, append(l.listed(third), l.manifest("dv2.avro", 5, vector("a.parquet", 1)))...)
	require.Contains(t, count(t, twice).Why, "two deletion vectors")
	more := l.snapshot(6, &parent, append(carried, l.manifest("dv3.avro", 6, vector("a.parquet", 11)))...)
	require.Contains(t, count(t, more).Why, "more rows")
}

// An equality delete that reaches no file is not read.
func TestCountAndEqualityDeletes(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	equality := func(name string, snapshot int64, city string) iceberg.ManifestFile {
		return l.manifest(name, snapshot, row{status: added, path: "eq.parquet", records: 1, city: city, content: iceberg.EntryContentEqDeletes})
	}
	other := l.snapshot(3, &parent, append(carried, equality("eq1.avro", 3, "Chur"))...)
	require.Equal(t, int64(60), count(t, other).TotalRows, "nothing is in its partition")

	reaches := l.snapshot(4, &parent, append(carried, equality("eq2.avro", 4, "Bern"))...)
	_, err := reconcile.NewCounter(&folder{}).Count(t.Context(), nil, reaches)
	require.Contains(t, fault.PublicMessage(err), "eq.parquet does not exist")

	young := l.snapshot(5, nil, l.manifest("m5.avro", 5, row{status: added, path: "y.parquet", records: 8}), l.listed(reaches)[2])
	require.Equal(t, int64(8), count(t, young).TotalRows, "all that is left is younger")
	same := l.snapshot(3, nil, l.manifest("m3.avro", 3, row{status: added, path: "s.parquet", records: 8}), l.listed(other)[2])
	require.True(t, count(t, same).Exact, "an upsert's own rows are as old as its deletes")
}

func TestCountErrors(t *testing.T) {
	l := newLake(t, 2)
	snap, _ := l.parent()
	require.NoError(t, os.WriteFile(l.path("m1.avro"), []byte("nonsense"), 0o600))
	_, err := reconcile.NewCounter(&folder{}).Count(t.Context(), nil, snap)
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
	require.Contains(t, fault.PublicMessage(err), "m1.avro")
	_, err = reconcile.NewCounter(&folder{broken: true}).Count(t.Context(), nil, snap)
	require.Equal(t, fault.Unavailable, fault.CodeOf(err))
}
