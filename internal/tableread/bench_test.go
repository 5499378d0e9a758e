package tableread_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/tableread"
)

const benchFields = idField + `,{"id": 2, "name": "country", "required": false, "type": "string"}, {"id": 3, "name": "price", "required": false, "type": "double"},
	{"id": 4, "name": "email", "required": false, "type": "string"}`

// benchLake is a table of files with 100,000 rows each.
func benchLake(b *testing.B, files int) *lake {
	const rows = 100_000
	schema := arrow.NewSchema([]arrow.Field{
		required(col(1, "id", arrow.PrimitiveTypes.Int64)), col(2, "country", arrow.BinaryTypes.String),
		col(3, "price", arrow.PrimitiveTypes.Float64), col(4, "email", arrow.BinaryTypes.String),
	}, nil)
	l := newLake(b, 2, benchFields)
	for n := range files {
		builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range rows {
			id := n*rows + i
			builder.Field(0).(*array.Int64Builder).Append(int64(id))
			builder.Field(1).(*array.StringBuilder).Append([]string{"DE", "FR", "IT", "CH"}[id%4])
			builder.Field(2).(*array.Float64Builder).Append(float64(id*7919%10007) / 7)
			builder.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("user%d@example.com", id))
		}
		l.commit(l.data(fmt.Sprintf("f%03d.parquet", n), builder.NewRecordBatch(), parquet.WithCompression(compress.Codecs.Zstd)))
	}
	return l
}

func BenchmarkScan(b *testing.B) {
	l := benchLake(b, 10)
	r := l.reader(tableread.Options{})
	for _, c := range []struct {
		name, filter string
		columns      []string
	}{{"all", "", nil}, {"numbers", "", []string{"id", "price"}}, {"filtered", "price < 20 AND country = 'DE'", []string{"id", "email"}}} {
		b.Run(c.name, func(b *testing.B) {
			s := l.where(l.scan(c.columns...), c.filter)
			for b.Loop() {
				stats, err := r.Scan(b.Context(), s, func(arrow.RecordBatch) error { return nil })
				require.NoError(b, err)
				b.SetBytes(stats.Bytes)
			}
			b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkDecimals reads decimals as engines write them: in bytes, by a dictionary or without.
func BenchmarkDecimals(b *testing.B) {
	const rows = 1_000_000
	kind := &arrow.Decimal128Type{Precision: 15, Scale: 2}
	schema := arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64)), col(2, "price", kind)}, nil)
	for _, distinct := range []int{1000, rows} {
		l := newLake(b, 2, idField+`,{"id": 2, "name": "price", "required": false, "type": "decimal(15, 2)"}`)
		builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range rows {
			builder.Field(0).(*array.Int64Builder).Append(int64(i))
			builder.Field(1).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i*7919%distinct) - 300))
		}
		l.commit(l.data("f.parquet", builder.NewRecordBatch(), parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(distinct < rows)))
		r := l.reader(tableread.Options{Workers: 1})
		for _, filter := range []string{"", "price < 1.00", "price > 0.00 AND price < 0.10"} {
			b.Run(fmt.Sprint(distinct, " distinct ", filter), func(b *testing.B) {
				s := l.where(l.scan("id", "price"), filter)
				for b.Loop() {
					_, err := r.Scan(b.Context(), s, func(arrow.RecordBatch) error { return nil })
					require.NoError(b, err)
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// A late page costs what an early one costs.
func BenchmarkPage(b *testing.B) {
	l := benchLake(b, 10)
	r := l.reader(tableread.Options{})
	for _, number := range []int{1, 10, 990} {
		b.Run(fmt.Sprint(number), func(b *testing.B) {
			var after *tableread.Position
			if number > 1 {
				s := l.where(l.scan("id"), fmt.Sprintf("id >= %d", (number-1)*1000-1))
				page, err := r.Page(b.Context(), s, []int{1}, nil, 1)
				require.NoError(b, err)
				after = &page.Last
			}
			for b.Loop() {
				page, err := r.Page(b.Context(), l.scan(), []int{1}, after, 1000)
				require.NoError(b, err)
				require.EqualValues(b, 1000, page.Rows.NumRows())
				b.ReportMetric(float64(page.Stats.RowGroups), "groups")
			}
		})
	}
}
