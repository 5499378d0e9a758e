package tableread_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/tableread"
)

// A scan makes little garbage besides the rows that it gives: collecting it took more time than all reading.
func TestScanAllocatesLittleMoreThanItGives(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		required(col(1, "id", arrow.PrimitiveTypes.Int64)), col(2, "text", arrow.BinaryTypes.String), col(3, "amount", arrow.PrimitiveTypes.Float64),
	}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 100_000 {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		builder.Field(0).(*array.Int64Builder).Append(int64(i))
		builder.Field(1).(*array.StringBuilder).Append(hex.EncodeToString(sum[:16]))
		builder.Field(2).(*array.Float64Builder).Append(float64(i) / 7)
	}
	l := newLake(t, 2, idField+","+optional("2", "text", "string")+","+optional("3", "amount", "double"))
	l.commit(l.data("a.parquet", builder.NewRecordBatch(), parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(false), parquet.WithMaxRowGroupLength(50_000)))
	r := l.reader(tableread.Options{Workers: 1})
	for _, c := range []struct {
		name, filter string
		times        float64 // what is allocated, to what is given
	}{{"all rows", "", 2.5}, {"three in four", "amount < 7142.8 OR id >= 75000", 4}} {
		t.Run(c.name, func(t *testing.T) {
			var given uint64
			read := func() {
				given = 0
				_, err := r.Scan(t.Context(), l.where(l.scan(), c.filter), func(b arrow.RecordBatch) error {
					for _, column := range b.Columns() {
						given += column.Data().SizeInBytes()
					}
					return nil
				})
				require.NoError(t, err)
			}
			least := uint64(1 << 60)
			for range 4 { // the first has no memory to use again, nor may one that the garbage was collected in
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				read()
				runtime.ReadMemStats(&after)
				least = min(least, after.TotalAlloc-before.TotalAlloc)
			}
			require.Less(t, float64(least), c.times*float64(given), "of %d bytes", given)
		})
	}
}

// Memory that is used again has nothing of what it was used for, and is used for one thing at a time.
func TestWorkspace(t *testing.T) {
	r := longLake(t).reader(tableread.Options{})
	w := r.NewWorkspace()
	var _ memory.Allocator = w
	for _, size := range []int{0, 1, 1 << 10, 1<<10 + 1, 100_000, 1<<20 + 1, 4 << 20, 4<<20 + 1} {
		for range 3 {
			b := w.Allocate(size)
			require.Len(t, b, size)
			require.Equal(t, make([]byte, size), b)
			for i := range b {
				b[i] = 0xff
			}
			larger := w.Reallocate(size+size/2, b)
			require.Equal(t, bytes.Repeat([]byte{0xff}, size), larger[:size])
			require.Equal(t, make([]byte, size/2), larger[size:])
			w.Free(larger)
		}
	}
	first := w.Allocate(5000)
	w.Free(first)
	w.Free(first)
	w.Free(make([]byte, 5120)) // of somebody else
	one, two := w.Allocate(5000), w.Allocate(5000)
	one[0] = 1
	require.Zero(t, two[0], "the same was given twice")
	w.Close()
	w.Free(one)
	other := r.NewWorkspace()
	three, four, five := other.Allocate(5000), other.Allocate(5000), other.Allocate(5000)
	three[0], four[0] = 1, 2
	require.Equal(t, []byte{1, 2, 0}, []byte{three[0], four[0], five[0]})
	other.Close()
}
