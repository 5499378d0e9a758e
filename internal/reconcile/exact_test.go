package reconcile_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/reconcile"
)

const (
	idField   = `{"id": 1, "name": "id", "required": false, "type": "long"}`
	nameField = `{"id": 2, "name": "name", "required": false, "type": "string"}`
)

func idColumn() *arrow.Schema { return columns(nullable("id:1", arrow.PrimitiveTypes.Int64)) }

func idAndName() *arrow.Schema {
	return columns(nullable("id:1", arrow.PrimitiveTypes.Int64), nullable("name:2", arrow.BinaryTypes.String))
}

// An equality delete removes the rows of older files alone, each once.
func TestCountAppliesEqualityDeletes(t *testing.T) {
	for _, version := range []int{2, 3} {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			l := newTableLake(t, version, idField)
			first := l.commit(l.data("a.parquet", idColumn(), ids(0, 10)...))
			require.Equal(t, int64(10), l.rowsLeft(first))
			upsert := l.commit(
				l.data("b.parquet", idColumn(), ids(5, 12)...),
				l.equality("eq1.parquet", []int{1}, idColumn(), ids(5, 12)...))
			require.Equal(t, int64(5+7), l.rowsLeft(upsert), "the new file has the keys of its own delete")
			again := l.commit(l.equality("eq2.parquet", []int{1}, idColumn(), `{"id": 5}`, `{"id": 5}`, `{"id": 0}`))
			require.Equal(t, int64(5+7-2), l.rowsLeft(again), "5 was removed from the first file before")
			counts := l.count(again)
			require.Equal(t, int64(2), counts.LiveEqualityDeletes)
			require.Equal(t, [4]int64{17, 2, 1, 0}, [4]int64{counts.LiveRows, counts.LiveFiles, counts.AddedDeleteFiles, counts.RemovedRows})
		})
	}
}

func TestCountAppliesEqualityDeletesOfSeveralColumns(t *testing.T) {
	l := newTableLake(t, 2, idField+","+nameField)
	l.commit(l.data("a.parquet", idAndName(),
		object("id", 1, "name", "ab"), object("id", 1, "name", "c"), object("id", 2, "name", nil), object("id", nil, "name", "c"), object("id", nil, "name", nil)))
	for _, c := range []struct {
		name string
		ids  []int
		rows []string
		left int64
	}{
		{"both", []int{1, 2}, []string{object("id", 1, "name", "c")}, 4},
		{"both, in the other order", []int{2, 1}, []string{object("id", 1, "name", "ab")}, 4},
		{"null equals null", []int{1, 2}, []string{object("id", nil, "name", nil)}, 4},
		{"null is a value of its own", []int{1, 2}, []string{object("id", nil, "name", "ab"), object("id", 1, "name", nil)}, 5},
		{"one column", []int{2}, []string{object("id", 99, "name", "c")}, 3},
		{"null in one column", []int{1}, []string{object("id", nil, "name", "zzz")}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := *l
			require.Equal(t, c.left, l.rowsLeft(l.commit(l.equality("eq.parquet", c.ids, idAndName(), c.rows...))))
		})
	}
	t.Run("two deletes of different columns", func(t *testing.T) {
		l := *l
		require.Equal(t, int64(2), l.rowsLeft(l.commit(
			l.equality("eq1.parquet", []int{1}, idColumn(), `{"id": 1}`),
			l.equality("eq2.parquet", []int{2}, idAndName(), object("id", 7, "name", "c")))))
	})
}

// A row that is removed in two ways is removed once.
func TestCountAppliesAllKindsOfDeletesTogether(t *testing.T) {
	for _, version := range []int{2, 3} {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			l := newTableLake(t, version, idField)
			l.commit(l.data("a.parquet", idColumn(), ids(0, 100)...), l.data("b.parquet", idColumn(), ids(100, 200)...))
			positional := l.positions("p.parquet", []string{"a.parquet", "a.parquet", "b.parquet", "a.parquet"}, []int64{0, 1, 5, 100})
			if version == 3 {
				positional = l.vector("v.puffin", "a.parquet", 0, 1)
			}
			both := l.commit(positional, l.equality("eq.parquet", []int{1}, idColumn(), ids(1, 4)...))
			want := int64(200 - 4)
			if version == 2 {
				want-- // position 5 of b
			}
			require.Equal(t, want, l.rowsLeft(both))
			old := l.commit(l.data("c.parquet", idColumn(), ids(0, 4)...))
			require.Equal(t, want+4, l.rowsLeft(old), "younger than all deletes")
		})
	}
}

func TestEqualityDeletesKeepToTheirPartition(t *testing.T) {
	l := newTableLake(t, 2, idField+","+nameField).partitioned(2, idField+","+nameField)
	in := func(r row, city string) row {
		r.city = city
		return r
	}
	l.commit(in(l.data("a.parquet", idColumn(), ids(0, 10)...), "Bern"), in(l.data("b.parquet", idColumn(), ids(0, 10)...), "Zug"))
	one := l.commit(in(l.equality("eq.parquet", []int{1}, idColumn(), ids(0, 3)...), "Zug"))
	counts := l.count(one)
	require.Equal(t, int64(17), counts.TotalRows)
	require.Equal(t, "p=Zug", counts.Partitions[0].Partition)
	require.Equal(t, int64(1), counts.Partitions[0].DeleteFiles)

	l.spec = *iceberg.UnpartitionedSpec
	all := l.commit(l.equality("eq2.parquet", []int{1}, idColumn(), ids(2, 4)...))
	require.Equal(t, int64(20-3-1-2), l.rowsLeft(all), "a delete in no partition reaches all")
}

func TestPositionDeletesKeepToTheirPartition(t *testing.T) {
	l := newTableLake(t, 2, idField+","+nameField).partitioned(2, idField+","+nameField)
	a, b := l.data("a.parquet", idColumn(), ids(0, 10)...), l.data("b.parquet", idColumn(), ids(0, 10)...)
	a.city, b.city = "Bern", "Zug"
	l.commit(a, b)
	p := l.positions("p.parquet", []string{"a.parquet", "b.parquet"}, []int64{1, 1})
	p.city = "Bern"
	require.Equal(t, int64(19), l.rowsLeft(l.commit(p)))
	named := l.positions("q.parquet", []string{"b.parquet"}, []int64{2})
	named.city = "Bern"
	path := map[int][]byte{2147483546: []byte(l.path("b.parquet"))}
	named.change = func(x *iceberg.DataFileBuilder) { x.LowerBoundValues(path).UpperBoundValues(path) }
	require.Equal(t, int64(18), l.rowsLeft(l.commit(named)), "one of a single file goes by its name")
}

// What cannot be known is said, and never guessed.
func TestCountsThatCannotBeExactSayWhy(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(l *tableLake, d *row)
		why    string
	}{
		{"a delete without its column", func(l *tableLake, d *row) {
			*d = l.equality("eq.parquet", []int{1}, columns(nullable("other:9", arrow.PrimitiveTypes.Int64)), `{"other": 1}`)
		}, "eq.parquet, is missing"},
		{"an Avro delete", func(_ *tableLake, d *row) { d.format = iceberg.AvroFile }, "is AVRO, not Parquet"},
		{"nonsense", func(l *tableLake, _ *row) { l.write("eq.parquet", []byte("PAR1 nonsense PAR1")) }, "eq.parquet cannot be read"},
		{"nothing", func(l *tableLake, _ *row) { l.write("eq.parquet", nil) }, "eq.parquet cannot be read"},
		{"other rows than claimed", func(_ *tableLake, d *row) { d.records = 7 }, "has not the number of rows"},
		{"a column of no schema", func(l *tableLake, d *row) {
			*d = l.equality("eq.parquet", []int{77}, columns(nullable("x:77", arrow.PrimitiveTypes.Int64)), `{"x": 1}`)
		}, "is in no schema"},
		{"files without ids", func(l *tableLake, d *row) {
			*d = l.equality("eq.parquet", []int{1}, columns(nullable("id", arrow.PrimitiveTypes.Int64)), `{"id": 1}`)
		}, "the file has none"},
		{"another type", func(l *tableLake, d *row) {
			*d = l.equality("eq.parquet", []int{1}, columns(nullable("id:1", arrow.BinaryTypes.String)), `{"id": "1"}`)
		}, "cannot be compared"},
		{"an encrypted one", func(_ *tableLake, d *row) {
			d.change = func(b *iceberg.DataFileBuilder) { b.EqualityFieldIDs([]int{1}).KeyMetadata([]byte{1}) }
		}, "is encrypted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newTableLake(t, 2, idField)
			l.commit(l.data("a.parquet", idColumn(), ids(0, 10)...))
			d := l.equality("eq.parquet", []int{1}, idColumn(), `{"id": 1}`)
			c.change(l, &d)
			counts := l.count(l.commit(d))
			require.False(t, counts.Exact)
			require.Contains(t, counts.Why, c.why)
			require.Equal(t, int64(1), counts.LiveEqualityDeletes, "what the manifests say is known all the same")
		})
	}
}

func TestACountReadsNoMoreThanItMay(t *testing.T) {
	l := newTableLake(t, 2, idField)
	l.commit(l.data("a.parquet", idColumn(), ids(0, 1000)...))
	snap := l.commit(l.equality("eq.parquet", []int{1}, idColumn(), `{"id": 1}`))
	counts := l.count(snap, reconcile.WithScanLimit(100))
	require.Contains(t, counts.Why, "would read more than")
	require.Equal(t, int64(999), l.rowsLeft(snap))
}

func TestAFileThatIsGoneOrUnreachableIsAnError(t *testing.T) {
	l := newTableLake(t, 2, idField)
	l.commit(l.data("a.parquet", idColumn(), ids(0, 10)...))
	snap := l.commit(l.equality("eq.parquet", []int{1}, idColumn(), `{"id": 1}`))
	require.NoError(t, os.Remove(l.path("a.parquet")))
	_, err := l.counter().Count(t.Context(), l.doc, snap)
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
	require.Contains(t, fault.PublicMessage(err), "a.parquet does not exist")

	l.files.broken = true
	_, err = l.counter().Count(t.Context(), l.doc, snap)
	require.Equal(t, fault.Unavailable, fault.CodeOf(err))
}

// A data file whose bounds leave out all keys of a delete is not read.
func TestDataFilesAreLeftOutByTheirBounds(t *testing.T) {
	l := newTableLake(t, 2, idField)
	bounds := func(r row, low, high byte) row {
		change := r.change
		r.change = func(b *iceberg.DataFileBuilder) {
			if change != nil {
				change(b)
			}
			b.LowerBoundValues(map[int][]byte{1: {low, 0, 0, 0, 0, 0, 0, 0}}).
				UpperBoundValues(map[int][]byte{1: {high, 0, 0, 0, 0, 0, 0, 0}}).NullValueCounts(map[int]int64{1: 0})
		}
		return r
	}
	l.commit(bounds(l.data("a.parquet", idColumn(), ids(0, 10)...), 0, 9), bounds(l.data("b.parquet", idColumn(), ids(10, 20)...), 10, 19))
	snap := l.commit(bounds(l.equality("eq.parquet", []int{1}, idColumn(), ids(12, 14)...), 12, 13))
	require.Equal(t, int64(18), l.rowsLeft(snap))
	require.Zero(t, l.files.reads["a.parquet"])
	require.Equal(t, 1, l.files.reads["b.parquet"])
}

// An upsert stream costs what is new: files that were counted are not read again, whatever keys are removed from them.
func TestCountedFilesAreNotReadAgain(t *testing.T) {
	l := newTableLake(t, 2, idField)
	counter := l.counter()
	want := int64(0)
	for n := range 10 {
		l.commit(
			l.data(fmt.Sprintf("d%d.parquet", n), idColumn(), ids(n*10, n*10+20)...),
			l.equality(fmt.Sprintf("eq%d.parquet", n), []int{1}, idColumn(), ids(n*10, n*10+20)...))
		want = int64(n*10 + 20)
		counts, err := counter.Count(t.Context(), l.doc, *l.head)
		require.NoError(t, err)
		require.Equal(t, want, counts.TotalRows, counts.Why)
	}
	for n := range 9 {
		require.Equal(t, 1, l.files.reads[fmt.Sprintf("d%d.parquet", n)], n)
	}
	for n := 1; n < 10; n++ {
		require.LessOrEqual(t, l.files.reads[fmt.Sprintf("eq%d.parquet", n)], 1, n)
	}
	require.Equal(t, want, l.rowsLeft(*l.head), "counted anew")
}
