package tableread_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/tableread"
)

// compareValues orders as pages do: NULL first.
func compareValues(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	switch a := a.(type) {
	case int:
		return a - b.(int)
	case string:
		return strings.Compare(a, b.(string))
	case []byte:
		return bytes.Compare(a, b.([]byte))
	}
	panic(fmt.Sprintf("%T", a))
}

var orders = map[string][]int{
	"text": {2}, "number": {3}, "number,text": {3, 2}, "id": {1}, "since,raw": {24, 9}, "day": {8}, "": nil,
}

// Pages, one after the other, are the whole scan in order, with rows of equal keys in it.
func TestPagesAreTheWholeScan(t *testing.T) {
	for seed := range worlds(4) {
		w := newWorld(t, 100+seed, 2+int(seed%2))
		n := int(seed)
		for name, order := range orders {
			n++
			c := conditions()[n%len(conditions())]
			t.Run(fmt.Sprint(seed, " ", name, " ", c.text), func(t *testing.T) {
				s := w.where(w.scan("id", "place", "text", "list"), c.text)
				r := w.reader(tableread.Options{Workers: 1 + n%3})
				schema, err := r.Schema(s)
				require.NoError(t, err)
				want := w.expected(schema, c, func(a, b *modelRow) int {
					for column := range strings.SplitSeq(name, ",") {
						if name == "" {
							break
						}
						if c := compareValues(a.values[column], b.values[column]); c != 0 {
							return c
						}
					}
					return byPlace(a, b)
				})
				var got []string
				var after *tableread.Position
				for {
					page, err := r.Page(t.Context(), s, order, after, w.g.IntN(60)+1)
					require.NoError(t, err)
					if page.Rows != nil {
						got = append(got, rowsOf(t, page.Rows)...)
					}
					page.Release()
					require.Equal(t, page.More, len(got) < len(want), "%d of %d rows", len(got), len(want))
					if !page.More {
						break
					}
					after = &page.Last
				}
				require.Equal(t, want, got)
			})
		}
	}
}

// Keys are found where the live rows with them are, and nowhere else.
func TestLocateEqualsModel(t *testing.T) {
	for seed := range worlds(6) {
		w := newWorld(t, 200+seed, 2+int(seed%2))
		for _, ids := range [][]int{{1}, {2}, {3, 2}, {8}} {
			full := generatedSchema(false)
			var fields []arrow.Field
			for _, id := range ids {
				at := slices.IndexFunc(full.Fields(), func(f arrow.Field) bool { got, _ := columnar.FieldID(f); return got == id })
				fields = append(fields, full.Field(at))
			}
			keys := map[string]bool{}
			var lines []string
			for range w.g.IntN(400) + 1 {
				row := w.g.row(5000)
				if w.g.IntN(4) > 0 {
					row = w.rows[w.g.IntN(len(w.rows))].values
				}
				key := keyOf(t, row, fields)
				if !strings.Contains(key, "null") && !keys[key] {
					keys[key] = true
					lines = append(lines, key)
				}
			}
			want := map[string][]int64{}
			for _, r := range w.rows {
				if !r.dead && keys[keyOf(t, r.values, fields)] {
					want[r.file] = append(want[r.file], r.position)
				}
			}
			found, err := w.reader(tableread.Options{}).Locate(t.Context(), tableread.Lookup{
				Document: w.doc, SchemaID: 0, Key: ids, Keys: []arrow.RecordBatch{batchOf(t, arrow.NewSchema(fields, nil), lines...)},
			})
			require.NoError(t, err)
			got := map[string][]int64{}
			for _, f := range found {
				got[f.File.Path] = f.Positions
				for _, at := range f.Positions {
					require.False(t, f.Deleted != nil && f.Deleted.Contains(uint64(at)))
				}
			}
			require.Equal(t, want, got)
		}
	}
}

func TestLocateWithoutKeysFindsNothing(t *testing.T) {
	w := newWorld(t, 1, 2)
	schema := arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64))}, nil)
	empty := array.NewRecordBatch(schema, []arrow.Array{array.MakeArrayOfNull(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64, 0)}, 0)
	found, err := w.reader(tableread.Options{}).Locate(t.Context(), tableread.Lookup{Document: w.doc, Key: []int{1}, Keys: []arrow.RecordBatch{empty}})
	require.NoError(t, err)
	require.Empty(t, found)
}

// A column with many different values is read as any other: dictionaries are unpacked at once.
func TestDictionariesOfManyValues(t *testing.T) {
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Zstd, compress.Codecs.Snappy} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			l := newLake(t, 2, idField+","+optional("2", "text", "string")+","+optional("3", "money", "decimal(20,2)")+`,
				{"id": 4, "name": "s", "required": false, "type": {"type": "struct", "fields": [`+optional("5", "x", "long")+`]}}`)
			schema := arrow.NewSchema([]arrow.Field{
				required(col(1, "id", arrow.PrimitiveTypes.Int64)), col(2, "text", arrow.BinaryTypes.String), col(3, "money", &arrow.Decimal128Type{Precision: 20, Scale: 2}),
				col(4, "s", arrow.StructOf(col(5, "x", arrow.PrimitiveTypes.Int64))),
			}, nil)
			rows := make([]string, 6000)
			for i := range rows {
				text := fmt.Sprintf(`"row %d"`, i*7919%6000)
				if i%5 == 0 {
					text = "null"
				}
				rows[i] = fmt.Sprintf(`{"id": %d, "money": "%d.00", "s": {"x": %d}, "text": %s}`, i, i, i*3, text)
			}
			batch := batchOf(t, schema, rows...)
			l.commit(l.data("a.parquet", batch, parquet.WithCompression(codec), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(3000), parquet.WithBatchSize(500)))
			want := rowsOf(t, batch)
			require.Equal(t, want, l.rows(l.scan()))

			some := l.rows(l.where(l.scan(), "id = 4100 OR id = 17 OR id >= 5990"))
			require.Equal(t, append([]string{want[17], want[4100]}, want[5990:]...), some)

			page, err := l.reader(tableread.Options{}).Page(t.Context(), l.scan(), []int{3}, &tableread.Position{Key: nil}, 5)
			require.NoError(t, err)
			require.Equal(t, want[:5], rowsOf(t, page.Rows))
			page, err = l.reader(tableread.Options{}).Page(t.Context(), l.scan(), nil, &tableread.Position{Path: l.at("a.parquet"), Row: 5000}, 5)
			require.NoError(t, err)
			require.Equal(t, want[5001:5006], rowsOf(t, page.Rows))
			require.True(t, page.More)
		}
	}
}

// Reads that together want more memory than there is take turns.
func TestReadsShareMemory(t *testing.T) {
	l := longLake(t)
	for n := range 4 {
		l.commit(l.data(fmt.Sprintf("f%d.parquet", n), longs(t, n*3000, (n+1)*3000), parquet.WithMaxRowGroupLength(500)))
	}
	r := l.reader(tableread.Options{Memory: 1, Workers: 4})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			rows := int64(0)
			_, err := r.Scan(t.Context(), l.scan(), func(b arrow.RecordBatch) error {
				rows += b.NumRows()
				return nil
			})
			assert.NoError(t, err)
			assert.EqualValues(t, 12000, rows)
		})
	}
	all.Wait()
}

// Deletes that take more memory than there is for them are refused before they are read.
func TestDeletesThatAreTooMany(t *testing.T) {
	l := longLake(t)
	l.commit(l.data("a.parquet", longs(t, 0, 10)))
	e := l.equality("eq.parquet", []int{1}, longs(t, 0, 3))
	e.records = 1 << 40
	l.commit(e)
	require.True(t, fault.Is(l.fails(l.scan()), fault.TooLarge))
}
