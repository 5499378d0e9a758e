package tableio

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestBoundsOfTexts(t *testing.T) {
	const last = "\U0010FFFF"
	for name, c := range map[string]struct{ text, low, high string }{
		"empty":                        {"", "", ""},
		"short":                        {"orders", "orders", "orders"},
		"as long as a bound":           {"0123456789abcdef", "0123456789abcdef", "0123456789abcdef"},
		"longer":                       {"0123456789abcdefg", "0123456789abcdef", "0123456789abcdeg"},
		"characters and not bytes":     {strings.Repeat("ü", 17), strings.Repeat("ü", 16), strings.Repeat("ü", 15) + "ý"},
		"the last character is raised": {"0123456789abcde" + last + "z", "0123456789abcde" + last, "0123456789abcdf"},
		"before the surrogates":        {"0123456789abcde\uD7FFz", "0123456789abcde\uD7FF", "0123456789abcde\uE000"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.low, cut(c.text))
			high, ok := cutUp(c.text)
			require.True(t, ok)
			require.Equal(t, c.high, high)
			require.GreaterOrEqual(t, high, c.text)
			require.LessOrEqual(t, c.low, c.text)
		})
	}
	_, ok := cutUp(strings.Repeat(last, 17))
	require.False(t, ok, "nothing is greater")
}

// layoutWith is a table of one column.
func layoutWith(kind iceberg.Type, required bool) *layout {
	return &layout{schema: iceberg.NewSchema(0, iceberg.NestedField{ID: 7, Name: "c", Type: kind, Required: required})}
}

func numbers(values []int64, valid []bool) arrow.RecordBatch {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(values, valid)
	column := b.NewArray()
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil), []arrow.Array{column}, int64(len(values)))
}

func TestStatisticsOfNumbers(t *testing.T) {
	s, err := statisticsOf(layoutWith(iceberg.PrimitiveTypes.Int64, false), numbers([]int64{3, -5, 9, 0}, []bool{true, true, true, false}))
	require.NoError(t, err)
	require.Equal(t, map[int]int64{7: 4}, s.values)
	require.Equal(t, map[int]int64{7: 1}, s.nulls)
	require.Equal(t, []byte{0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, s.lower[7], "little-endian, as manifests have them")
	require.Equal(t, []byte{9, 0, 0, 0, 0, 0, 0, 0}, s.upper[7])

	s, err = statisticsOf(layoutWith(iceberg.PrimitiveTypes.Int64, false), numbers([]int64{0, 0}, []bool{false, false}))
	require.NoError(t, err)
	require.Empty(t, s.lower)
	require.Empty(t, s.upper)
}

func TestANullInARequiredColumnIsRefused(t *testing.T) {
	_, err := statisticsOf(layoutWith(iceberg.PrimitiveTypes.Int64, true), numbers([]int64{1, 0}, []bool{true, false}))
	require.True(t, fault.Is(err, fault.Invalid))
	require.ErrorContains(t, err, "Column c")
}
