package tableread_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
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
	for range 40 { // without giving any back, as some decoders do
		require.Len(t, other.Allocate(3<<20), 3<<20)
	}
	require.LessOrEqual(t, other.Used(), 64<<20)
	other.Close()
}

// Pages that were read are given back when others are passed over, not at the end of the row group.
func TestPagesAreGivenBack(t *testing.T) {
	const pages, rowsOfPage, size = 90, 1024, 256
	schema := arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64)), col(2, "text", arrow.BinaryTypes.String)}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	var pass []string
	for row := range pages * rowsOfPage {
		sum := sha256.Sum256([]byte(strconv.Itoa(row)))
		builder.Field(0).(*array.Int64Builder).Append(int64(row))
		builder.Field(1).(*array.StringBuilder).Append(hex.EncodeToString(sum[:]) + strings.Repeat("x", size-64))
		if row%(3*rowsOfPage) == 0 {
			pass = append(pass, "id = "+strconv.Itoa(row))
		}
	}
	l := newLake(t, 2, idField+","+optional("2", "text", "string"))
	l.commit(l.data("a.parquet", builder.NewRecordBatch(), parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(size*rowsOfPage)))
	builder.Release()
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	r, most, before := l.reader(tableread.Options{Workers: 1}), int64(0), heap()
	_, err := r.Scan(t.Context(), l.where(l.scan(), strings.Join(pass, " OR ")), func(b arrow.RecordBatch) error {
		require.EqualValues(t, len(pass), b.NumRows())
		most = heap() - before
		return nil
	})
	require.NoError(t, err)
	require.Less(t, most, int64(8<<20), "the file takes 4 MB, and all pages that were read 8 MB")
}

// No room is made for rows that are refused.
func TestNoRoomIsMadeForRowsThatAreTooLarge(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64)), col(2, "wide", arrow.BinaryTypes.Binary)}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for row := range 40_000 {
		builder.Field(0).(*array.Int64Builder).Append(int64(row))
		builder.Field(1).AppendNull()
	}
	l := newLake(t, 2, idField+","+optional("2", "wide", "fixed[1048576]"))
	l.commit(l.data("a.parquet", builder.NewRecordBatch()))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	// So many rows do not pass that many are read at a time when the first does.
	_, err := l.reader(tableread.Options{Workers: 1}).Scan(t.Context(), l.where(l.scan(), "id >= 17000"), func(arrow.RecordBatch) error { return nil })
	require.True(t, fault.Is(err, fault.TooLarge), "%v", err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<30))
}
