package tableread_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/tableread"
)

// The fields of generated tables: the older schema lacks some, and has others narrower or by another name.
const (
	generatedFields = `{"id": 1, "name": "id", "required": true, "type": "long"},
		{"id": 2, "name": "text", "required": false, "type": "string"},
		{"id": 3, "name": "number", "required": false, "type": "long"},
		{"id": 4, "name": "money", "required": false, "type": "decimal(20,2)"},
		{"id": 5, "name": "ratio", "required": false, "type": "double"},
		{"id": 6, "name": "at", "required": false, "type": "timestamptz"},
		{"id": 7, "name": "flag", "required": false, "type": "boolean"},
		{"id": 8, "name": "day", "required": false, "type": "date"},
		{"id": 9, "name": "raw", "required": false, "type": "binary"},
		{"id": 10, "name": "code", "required": false, "type": "fixed[3]"},
		{"id": 11, "name": "list", "required": false, "type": {"type": "list", "element-id": 12, "element-required": false, "element": "long"}},
		{"id": 13, "name": "map", "required": false, "type": {"type": "map", "key-id": 14, "key": "string", "value-id": 15, "value-required": false, "value": "int"}},
		{"id": 16, "name": "place", "required": false, "type": {"type": "struct", "fields": [
			{"id": 17, "name": "city", "required": false, "type": "string"},
			{"id": 18, "name": "zip", "required": false, "type": "long"},
			{"id": 19, "name": "tags", "required": false, "type": {"type": "list", "element-id": 20, "element-required": false, "element": {"type": "struct", "fields": [
				{"id": 21, "name": "k", "required": false, "type": "string"}, {"id": 22, "name": "v", "required": false, "type": "int"}]}}},
			{"id": 23, "name": "added", "required": false, "type": "string"}]}},
		{"id": 24, "name": "since", "required": false, "type": "int", "initial-default": 7}`
)

// generatedSchema gives the Arrow schema of a file; old ones are of before the table evolved.
func generatedSchema(old bool) *arrow.Schema {
	str, i32, i64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	number, ratio, money, zip := arrow.DataType(i64), arrow.DataType(arrow.PrimitiveTypes.Float64), int32(20), arrow.DataType(i64)
	name := "text"
	if old {
		number, ratio, money, zip, name = i32, arrow.PrimitiveTypes.Float32, 9, i32, "words"
	}
	tag := arrow.StructOf(col(21, "k", str), col(22, "v", i32))
	place := []arrow.Field{col(17, "city", str), col(18, "zip", zip), col(19, "tags", arrow.ListOfField(col(20, "element", tag)))}
	fields := []arrow.Field{
		required(col(1, "id", i64)), col(2, name, str), col(3, "number", number), col(4, "money", &arrow.Decimal128Type{Precision: money, Scale: 2}),
		col(5, "ratio", ratio), col(6, "at", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}), col(7, "flag", arrow.FixedWidthTypes.Boolean),
		col(8, "day", arrow.FixedWidthTypes.Date32), col(9, "raw", arrow.BinaryTypes.Binary), col(10, "code", &arrow.FixedSizeBinaryType{ByteWidth: 3}),
		col(11, "list", arrow.ListOfField(col(12, "element", number))),
		col(13, "map", arrow.MapOfFields(required(col(14, "key", str)), col(15, "value", i32))),
	}
	if !old {
		place = append(place, col(23, "added", str))
		fields = append(fields, col(24, "since", i32))
	}
	fields = append(fields, col(16, "place", arrow.StructOf(place...)))
	return arrow.NewSchema(fields, nil)
}

// generator makes rows as the current schema has them, as JSON by column.
type generator struct{ *rand.Rand }

func (g generator) maybe(make func() any) any {
	if g.IntN(5) == 0 {
		return nil
	}
	return make()
}

func (g generator) text() any {
	return g.maybe(func() any { return []string{"", "a", "b", "Zürich", "x\x00y", strings.Repeat("long ", 40)}[g.IntN(6)] })
}

func (g generator) number() any { return g.maybe(func() any { return g.IntN(40) - 20 }) }

func (g generator) row(id int) map[string]any {
	row := map[string]any{
		"id": id, "text": g.text(), "number": g.number(),
		"money": g.maybe(func() any { return fmt.Sprintf("%d.%02d", g.IntN(200)-100, g.IntN(100)) }),
		"ratio": g.maybe(func() any { return float64(g.IntN(64)-32) / 4 }),
		"at":    g.maybe(func() any { return fmt.Sprintf("2026-01-%02dT10:00:00.%06dZ", g.IntN(27)+1, g.IntN(1000000)) }),
		"flag":  g.maybe(func() any { return g.IntN(2) == 0 }),
		"day":   g.maybe(func() any { return fmt.Sprintf("19%02d-03-04", g.IntN(99)) }),
		"raw":   g.maybe(func() any { return []byte{byte(g.IntN(3)), 0}[:g.IntN(3)] }),
		"code":  g.maybe(func() any { return []byte{1, byte(g.IntN(3)), 255} }),
		"list": g.maybe(func() any {
			list := make([]any, g.IntN(4))
			for i := range list {
				list[i] = g.number()
			}
			return list
		}),
		"map": g.maybe(func() any {
			pairs := make([]any, g.IntN(3))
			for i := range pairs {
				pairs[i] = map[string]any{"key": fmt.Sprint("k", i), "value": g.number()}
			}
			return pairs
		}),
		"since": g.number(),
	}
	row["place"] = g.maybe(func() any {
		return map[string]any{"city": g.text(), "zip": g.number(), "added": g.text(), "tags": g.maybe(func() any {
			tags := make([]any, g.IntN(3))
			for i := range tags {
				tags[i] = g.maybe(func() any { return map[string]any{"k": g.text(), "v": g.number()} })
			}
			return tags
		})}
	})
	return row
}

// modelRow is a row with where it is.
type modelRow struct {
	values   map[string]any
	file     string
	position int64
	dead     bool
}

// world is a generated table with what it holds.
type world struct {
	*lake
	g     generator
	rows  []*modelRow
	files []string
}

func newWorld(t testing.TB, seed uint64, version int) *world {
	w := &world{lake: newLake(t, version, generatedFields), g: generator{rand.New(rand.NewPCG(seed, 1))}}
	id := 0
	vectored := map[string][]int64{}
	for n := range 6 {
		w.addFile(fmt.Sprintf("f%d.parquet", w.g.IntN(1000)*10+n), w.g.IntN(3) == 0, &id)
		switch w.g.IntN(4) {
		case 0:
			w.removeByKey(fmt.Sprintf("eq%d.parquet", n))
		case 1, 2:
			w.removeByPlace(fmt.Sprintf("pos%d", n), vectored)
		}
	}
	return w
}

// addFile writes a data file in one of the ways that files are written.
func (w *world) addFile(name string, old bool, id *int) {
	schema := generatedSchema(old)
	count := w.g.IntN(300)
	var lines []string
	for n := range count {
		values := w.g.row(*id)
		*id++
		written := values
		if old {
			written = map[string]any{"words": values["text"]}
			for k, v := range values {
				written[k] = v
			}
			delete(written, "text")
			delete(written, "since")
			values["since"] = 7
			if place, ok := values["place"].(map[string]any); ok {
				narrow := map[string]any{"city": place["city"], "zip": place["zip"], "tags": place["tags"]}
				place["added"] = nil
				written["place"] = narrow
			}
		}
		raw, err := json.Marshal(written)
		require.NoError(w.t, err)
		lines = append(lines, string(raw))
		w.rows = append(w.rows, &modelRow{values: values, file: w.at(name), position: int64(n)})
	}
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip}
	options := []parquet.WriterProperty{
		parquet.WithMaxRowGroupLength(int64(w.g.IntN(120) + 20)), parquet.WithDataPageSize(int64(w.g.IntN(2000) + 50)),
		parquet.WithDictionaryDefault(w.g.IntN(2) == 0), parquet.WithCompression(codecs[w.g.IntN(len(codecs))]), parquet.WithBatchSize(int64(w.g.IntN(60) + 5)),
	}
	if w.g.IntN(3) == 0 {
		options = append(options, parquet.WithEncodingFor("id", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("flag", parquet.Encodings.RLE), parquet.WithEncodingFor("ratio", parquet.Encodings.ByteStreamSplit), parquet.WithDictionaryDefault(false))
	}
	if w.g.IntN(2) == 0 {
		options = append(options, parquet.WithDataPageVersion(parquet.DataPageV2))
	}
	w.files = append(w.files, name)
	w.commit(w.data(name, batchOf(w.t, schema, lines...), options...))
}

// removeByKey deletes by the values of one or two columns.
func (w *world) removeByKey(name string) {
	schema := generatedSchema(false)
	sets := [][]int{{2}, {3}, {2, 3}, {4, 8}, {24}, {9, 10}, {5}}
	ids := sets[w.g.IntN(len(sets))]
	var fields []arrow.Field
	for _, id := range ids {
		at := slices.IndexFunc(schema.Fields(), func(f arrow.Field) bool { got, _ := columnar.FieldID(f); return got == id })
		fields = append(fields, schema.Field(at))
	}
	keys := map[string]bool{}
	var lines []string
	for range w.g.IntN(4) + 1 {
		row := w.g.row(0)
		if len(w.rows) > 0 && w.g.IntN(3) > 0 {
			row = w.rows[w.g.IntN(len(w.rows))].values
		}
		key := keyOf(w.t, row, fields)
		if !keys[key] {
			keys[key] = true
			lines = append(lines, key)
		}
	}
	for _, r := range w.rows {
		if keys[keyOf(w.t, r.values, fields)] {
			r.dead = true
		}
	}
	w.commit(w.equality(name, ids, batchOf(w.t, arrow.NewSchema(fields, nil), lines...)))
}

func keyOf(t testing.TB, row map[string]any, fields []arrow.Field) string {
	key := map[string]any{}
	for _, f := range fields {
		key[f.Name] = row[f.Name]
	}
	raw, err := json.Marshal(key)
	require.NoError(t, err)
	return string(raw)
}

// removeByPlace deletes rows of a file by their positions.
func (w *world) removeByPlace(name string, vectored map[string][]int64) {
	file := w.files[w.g.IntN(len(w.files))]
	var rows []int64
	for _, r := range w.rows {
		if r.file == w.at(file) && w.g.IntN(3) == 0 {
			r.dead = true
			rows = append(rows, r.position)
		}
	}
	if len(rows) == 0 {
		return
	}
	if w.version < 3 {
		paths := make([]string, len(rows))
		for i := range paths {
			paths[i] = file
		}
		w.commit(w.positions(name+".parquet", paths, rows))
		return
	}
	if vectored[file] != nil {
		for _, r := range w.rows { // a file has one vector: those of another are not added
			if r.file == w.at(file) && slices.Contains(rows, r.position) && !slices.Contains(vectored[file], r.position) {
				rows = append(rows, r.position)
			}
		}
		rows = append(rows, vectored[file]...)
		slices.Sort(rows)
		rows = slices.Compact(rows)
	}
	vectored[file] = rows
	w.commit(w.vector(name+".puffin", file, rows...))
}

// condition is a filter, and the same in Go.
type condition struct {
	text   string
	passes func(map[string]any) bool
}

func number(v any) (int, bool) {
	n, ok := v.(int)
	return n, ok
}

func zipOf(row map[string]any) (int, bool) {
	place, ok := row["place"].(map[string]any)
	if !ok {
		return 0, false
	}
	return number(place["zip"])
}

func conditions() []condition {
	return []condition{
		{"", func(map[string]any) bool { return true }},
		{"number < 3", func(r map[string]any) bool { n, ok := number(r["number"]); return ok && n < 3 }},
		{"text = 'a' OR number IS NULL", func(r map[string]any) bool { return r["text"] == "a" || r["number"] == nil }},
		{"NOT (number > 0) AND text IS NOT NULL", func(r map[string]any) bool { n, ok := number(r["number"]); return ok && n <= 0 && r["text"] != nil }},
		{"place.zip >= 5", func(r map[string]any) bool { n, ok := zipOf(r); return ok && n >= 5 }},
		{"place IS NULL AND flag = TRUE", func(r map[string]any) bool { return r["place"] == nil && r["flag"] == true }},
		{"id >= 200 AND id < 260", func(r map[string]any) bool { return r["id"].(int) >= 200 && r["id"].(int) < 260 }},
		{"since = 7", func(r map[string]any) bool { return r["since"] == 7 }},
		{"text LIKE 'Z%' OR ratio <= -2", func(r map[string]any) bool {
			text, _ := r["text"].(string)
			ratio, ok := r["ratio"].(float64)
			return strings.HasPrefix(text, "Z") || ok && ratio <= -2
		}},
		{"list IS NULL", func(r map[string]any) bool { return r["list"] == nil }},
		{"id < 0", func(map[string]any) bool { return false }},
	}
}

// expected gives the live rows that pass, as a scan of those columns gives them.
func (w *world) expected(schema *arrow.Schema, c condition, sorted func(a, b *modelRow) int) []string {
	var live []*modelRow
	for _, r := range w.rows {
		if !r.dead && c.passes(r.values) {
			live = append(live, r)
		}
	}
	slices.SortFunc(live, sorted)
	var lines []string
	for _, r := range live {
		raw, err := json.Marshal(narrowed(r.values, schema.Fields()))
		require.NoError(w.t, err)
		lines = append(lines, string(raw))
	}
	if len(lines) == 0 {
		return nil
	}
	return rowsOf(w.t, batchOf(w.t, schema, lines...))
}

func narrowed(values map[string]any, fields []arrow.Field) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		v := values[f.Name]
		if s, ok := f.Type.(*arrow.StructType); ok && v != nil {
			v = narrowed(v.(map[string]any), s.Fields())
		}
		out[f.Name] = v
	}
	return out
}

func byPlace(a, b *modelRow) int {
	if c := strings.Compare(a.file, b.file); c != 0 {
		return c
	}
	return int(a.position - b.position)
}

var projections = [][]string{
	nil, {"id"}, {"id", "text", "number"}, {"money", "ratio", "at", "flag", "day"}, {"place.zip", "id"}, {"place.added"},
	{"place.tags", "list", "map"}, {"raw", "code", "since"}, {"place.tags.element.v", "id"}, {"text"},
}

// A scan gives what a slow model says, in whatever way files were written and rows deleted.
// worlds is how many worlds a test looks at: without much time one of each format version.
func worlds(most uint64) uint64 {
	if testing.Short() {
		return 2
	}
	return most
}

func TestScanEqualsModel(t *testing.T) {
	for seed := range worlds(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, seed, 2+int(seed%2))
			for n, c := range conditions() {
				s := w.where(w.scan(projections[(n+int(seed))%len(projections)]...), c.text)
				schema, err := w.reader(tableread.Options{}).Schema(s)
				require.NoError(t, err)
				want := w.expected(schema, c, byPlace)
				require.Equal(t, want, w.rows2(s, 1), "%s of %v", c.text, s.Columns)
				got := w.rows2(s, 3)
				slices.Sort(got)
				slices.Sort(want)
				require.Equal(t, want, got, "%s of %v, in parallel", c.text, s.Columns)
			}
		})
	}
}

// rows2 gives the rows of a scan with some workers.
func (l *lake) rows2(s tableread.Scan, workers int) []string {
	var out []string
	_, err := l.reader(tableread.Options{Workers: workers}).Scan(l.t.Context(), s, func(b arrow.RecordBatch) error {
		out = append(out, rowsOf(l.t, b)...)
		return nil
	})
	require.NoError(l.t, err)
	return out
}
