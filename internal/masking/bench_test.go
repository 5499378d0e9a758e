package masking

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/policy"
)

func BenchmarkMasks(b *testing.B) {
	const rows = 65_536
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	numbers := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range rows {
		texts.Append(fmt.Sprintf("customer-%d@example.com", i%(rows/4)))
		numbers.Append(int64(i) * 7919)
	}
	columns := map[string]arrow.Array{"text": texts.NewArray(), "long": numbers.NewArray()}
	for _, kind := range []string{"null", "redact", "partial", "hash", "truncate"} {
		for name, column := range columns {
			b.Run(kind+"/"+name, func(b *testing.B) {
				in := batchOf(arrow.Field{Name: "c", Type: column.DataType()}, column)
				m, err := New(testKey(), in.Schema(), map[string]policy.Mask{"c": {Kind: kind, Tag: "email"}})
				require.NoError(b, err)
				for b.Loop() {
					out, err := m.Apply(in)
					require.NoError(b, err)
					out.Release()
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
	}
}
