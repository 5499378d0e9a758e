package tableio_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/tableio"
)

// entryOf writes rows into one file and gives its entry.
func (s *site) entryOf(batches ...arrow.RecordBatch) iceberg.DataFile {
	s.t.Helper()
	written := s.write(tableio.FileOptions{}, batches...)
	require.Len(s.t, written.DataFiles, 1)
	s.commit(tableio.Delta{Adds: []*tableio.Written{written}})
	return s.files().data[0].DataFile()
}

func TestStatisticsOfTypes(t *testing.T) {
	for i, c := range []struct {
		kind, rows string
		low, high  []byte
		nulls      int64
	}{
		{"boolean", `[{"c":true},{"c":false},{}]`, []byte{0}, []byte{1}, 1},
		{"boolean", `[{"c":true}]`, []byte{1}, []byte{1}, 0},
		{"int", `[{"c":3},{"c":-5},{},{"c":9}]`, []byte{0xfb, 0xff, 0xff, 0xff}, []byte{9, 0, 0, 0}, 1},
		{"long", `[{"c":3},{"c":-5},{"c":9}]`, []byte{0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, []byte{9, 0, 0, 0, 0, 0, 0, 0}, 0},
		{"long", `[{},{}]`, nil, nil, 2},
		{"float", `[{"c":1.5},{"c":-2}]`, []byte{0, 0, 0, 0xc0}, []byte{0, 0, 0xc0, 0x3f}, 0},
		{"double", `[{"c":0}]`, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, []byte{0, 0, 0, 0, 0, 0, 0, 0}, 0},
		{"decimal(9,2)", `[{"c":"-1.28"},{"c":"1.28"}]`, []byte{0x80}, []byte{0, 0x80}, 0},
		{"date", `[{"c":"1969-12-31"},{"c":"1970-01-02"}]`, []byte{0xff, 0xff, 0xff, 0xff}, []byte{1, 0, 0, 0}, 0},
		{"time", `[{"c":"00:00:01"}]`, []byte{0x40, 0x42, 0x0f, 0, 0, 0, 0, 0}, []byte{0x40, 0x42, 0x0f, 0, 0, 0, 0, 0}, 0},
		{"timestamptz", `[{"c":"1970-01-01T00:00:00.000001Z"}]`, []byte{1, 0, 0, 0, 0, 0, 0, 0}, []byte{1, 0, 0, 0, 0, 0, 0, 0}, 0},
		{"string", `[{"c":"a long text that is cut"},{"c":"b long text that is cut"},{}]`, []byte("a long text that"), []byte("b long text thau"), 1},
		{"string", `[{"c":""}]`, []byte{}, []byte{}, 0},
		{"binary", `[{"c":"//////////////////////////8="}]`, []byte(strings.Repeat("\xff", 16)), nil, 0},
		{"fixed[2]", `[{"c":"AAE="},{"c":"/wE="}]`, []byte{0, 1}, []byte{0xff, 1}, 0},
		{"uuid", `[{"c":"00000000-0000-4000-8000-000000000001"},{"c":"f0000000-0000-4000-8000-000000000002"}]`, []byte("\x00\x00\x00\x00\x00\x00\x40\x00\x80\x00\x00\x00\x00\x00\x00\x01"), []byte("\xf0\x00\x00\x00\x00\x00\x40\x00\x80\x00\x00\x00\x00\x00\x00\x02"), 0},
	} {
		t.Run(fmt.Sprintf("%s %d", c.kind, i), func(t *testing.T) {
			s := newSite(t, 2, `{"id":1,"name":"c","required":false,"type":"`+c.kind+`"}`, "")
			all := s.batch(c.rows)
			f := s.entryOf(all.NewSlice(0, 1), all.NewSlice(1, all.NumRows()))
			require.Equal(t, map[int]int64{1: all.NumRows()}, f.ValueCounts())
			require.Equal(t, map[int]int64{1: c.nulls}, f.NullValueCounts())
			require.Equal(t, string(c.low), string(f.LowerBoundValues()[1]))
			require.Equal(t, string(c.high), string(f.UpperBoundValues()[1]))
			_, bounded := f.UpperBoundValues()[1]
			require.Equal(t, c.high != nil, bounded)
			require.Positive(t, f.ColumnSizes()[1])
			require.Less(t, f.ColumnSizes()[1], f.FileSizeBytes())
			require.Equal(t, []int64{4}, f.SplitOffsets())
		})
	}
}

func TestStatisticsOfNaN(t *testing.T) {
	s := newSite(t, 2, `{"id":1,"name":"c","required":false,"type":"double"},{"id":2,"name":"d","required":false,"type":"double"}`, "")
	schema, err := tableio.Schema(s.doc)
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Float64Builder).AppendValues([]float64{1, math.NaN(), -1}, nil)
	b.Field(1).(*array.Float64Builder).AppendValues([]float64{math.NaN(), math.NaN(), 0}, []bool{true, true, false})
	f := s.entryOf(b.NewRecordBatch())
	require.Equal(t, map[int]int64{1: 1, 2: 2}, f.NaNValueCounts())
	require.Equal(t, map[int]int64{1: 0, 2: 1}, f.NullValueCounts())
	low, err := iceberg.LiteralFromBytes(iceberg.PrimitiveTypes.Float64, f.LowerBoundValues()[1])
	require.NoError(t, err)
	require.EqualValues(t, -1, low.Any())
	require.NotContains(t, f.LowerBoundValues(), 2)
	require.NotContains(t, f.UpperBoundValues(), 2)
}

// A field of a struct is null where the struct is, and elements of lists and maps have no statistics.
func TestStatisticsOfNestedColumns(t *testing.T) {
	s := newSite(t, 2, `{"id":1,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":4,"name":"a","required":false,"type":"int"},{"id":5,"name":"t","required":true,"type":{"type":"struct","fields":[{"id":6,"name":"b","required":true,"type":"string"}]}}]}},`+
		`{"id":2,"name":"l","required":false,"type":{"type":"list","element-id":7,"element":"int","element-required":false}},`+
		`{"id":3,"name":"m","required":false,"type":{"type":"map","key-id":8,"key":"string","value-id":9,"value":"long","value-required":false}}`, "")
	f := s.entryOf(s.batch(`[{"s":{"a":5,"t":{"b":"y"}},"l":[1,2]},{"s":null,"m":[{"key":"k","value":1}]},{"s":{"a":null,"t":{"b":"x"}}}]`))
	require.Equal(t, map[int]int64{4: 3, 6: 3}, f.ValueCounts())
	require.Equal(t, map[int]int64{4: 2, 6: 1}, f.NullValueCounts())
	require.Equal(t, map[int][]byte{4: {5, 0, 0, 0}, 6: []byte("x")}, f.LowerBoundValues())
	require.Equal(t, map[int][]byte{4: {5, 0, 0, 0}, 6: []byte("y")}, f.UpperBoundValues())
}

func TestMetricsModes(t *testing.T) {
	long := strings.Repeat("x", 40)
	for name, c := range map[string]struct {
		set    map[string]string
		counts bool
		low    string
	}{
		"by default":              {nil, true, long[:16]},
		"none":                    {map[string]string{"write.metadata.metrics.column.c": "none"}, false, ""},
		"counts":                  {map[string]string{"write.metadata.metrics.column.c": "counts"}, true, ""},
		"full":                    {map[string]string{"write.metadata.metrics.column.c": "full"}, true, long},
		"truncated":               {map[string]string{"write.metadata.metrics.column.c": "truncate(3)"}, true, "xxx"},
		"for all columns":         {map[string]string{"write.metadata.metrics.default": "none"}, false, ""},
		"a column before all":     {map[string]string{"write.metadata.metrics.default": "none", "write.metadata.metrics.column.c": "truncate(2)"}, true, "xx"},
		"odd":                     {map[string]string{"write.metadata.metrics.column.c": "truncate(0)"}, true, long[:16]},
		"beyond the most columns": {map[string]string{"write.metadata.metrics.max-inferred-column-defaults": "1"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, 2, `{"id":1,"name":"first","required":false,"type":"int"},{"id":2,"name":"c","required":false,"type":"string"}`, "")
			for key, value := range c.set {
				s.set(key, value)
			}
			f := s.entryOf(s.batch(`[{"c":"` + long + `"}]`))
			_, counted := f.ValueCounts()[2]
			require.Equal(t, c.counts, counted)
			_, sized := f.ColumnSizes()[2]
			require.Equal(t, c.counts, sized)
			require.Equal(t, c.low, string(f.LowerBoundValues()[2]))
		})
	}
}
