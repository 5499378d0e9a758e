package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/reconcile"
)

// BenchmarkUpsertStream counts the commits of an upsert stream: each brings a thousand keys of a million, and their
// equality delete, which reaches all files of before.
func BenchmarkUpsertStream(b *testing.B) {
	const files, perFile, perCommit = 50, 20_000, 1000
	for _, c := range []struct {
		name    string
		options []reconcile.CounterOption
	}{{"remembering", nil}, {"forgetting", []reconcile.CounterOption{reconcile.WithKeyMemory(0)}}} {
		b.Run(c.name, func(b *testing.B) {
			l := newTableLake(b, 2, idField)
			random := rand.New(rand.NewPCG(1, 2))
			write := func(name string, next func() int64, rows int) row {
				builder := array.NewInt64Builder(arrowmemory.DefaultAllocator)
				for range rows {
					builder.Append(next())
				}
				l.write(name, parquetOfRecord(b, array.NewRecordBatch(columns(nullable("id:1", arrow.PrimitiveTypes.Int64)), []arrow.Array{builder.NewArray()}, int64(rows))))
				return row{status: added, path: name, records: int64(rows)}
			}
			var first []row
			id := int64(0)
			for n := range files {
				first = append(first, write(fmt.Sprintf("d%d.parquet", n), func() int64 { id++; return id }, perFile))
			}
			l.commit(first...)
			upsert := func(n int) {
				var keys []int64
				take := func() int64 { keys = append(keys, random.Int64N(files*perFile)); return keys[len(keys)-1] }
				data := write(fmt.Sprintf("u%d.parquet", n), take, perCommit)
				at := 0
				deletes := write(fmt.Sprintf("e%d.parquet", n), func() int64 { at++; return keys[at-1] }, perCommit)
				deletes.content, deletes.change = iceberg.EntryContentEqDeletes, func(d *iceberg.DataFileBuilder) { d.EqualityFieldIDs([]int{1}) }
				l.commit(data, deletes)
			}
			counter := l.counter(c.options...)
			upsert(-1)
			_, err := counter.Count(b.Context(), l.doc, *l.head)
			require.NoError(b, err)
			clear(l.files.reads)
			n := 0
			for b.Loop() {
				b.StopTimer()
				upsert(n)
				n++
				b.StartTimer()
				counts, err := counter.Count(b.Context(), l.doc, *l.head)
				require.NoError(b, err)
				require.Empty(b, counts.Why)
			}
			reads := 0
			for _, r := range l.files.reads {
				reads += r
			}
			b.ReportMetric(float64(reads)/float64(n), "objects/op")
		})
	}
}
