package rows_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
)

// streamOf writes batches as an engine would, in a schema of its own.
func streamOf(t testing.TB, batches []arrow.RecordBatch, o ...ipc.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(o, ipc.WithSchema(batches[0].Schema()))...)
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fromJSON makes a batch of a type from values in arrow-go's own JSON.
func fromJSON(t testing.TB, of arrow.DataType, values string) arrow.RecordBatch {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, of, strings.NewReader(values))
	if err != nil {
		t.Fatal(err)
	}
	return array.NewRecordBatch(schemaOf(arrow.Field{Name: "v", Type: of, Nullable: true}), []arrow.Array{a}, int64(a.Len()))
}

// TestTypesOfStreams: what engines keep in other types than the table's lands when it is the same value.
func TestTypesOfStreams(t *testing.T) {
	t.Parallel()
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	stamp := func(u arrow.TimeUnit, zone string) arrow.DataType {
		return &arrow.TimestampType{Unit: u, TimeZone: zone}
	}
	list := func(of arrow.DataType) arrow.DataType { return arrow.ListOfField(field(9, "element", of, false)) }
	for _, c := range []struct {
		from   arrow.DataType
		values string
		to     arrow.DataType
		want   string // each value, a part of the message after !, ! alone when the types do not go together
	}{
		{arrow.PrimitiveTypes.Int8, `[-1, null]`, arrow.PrimitiveTypes.Int64, `"-1" null`},
		{arrow.PrimitiveTypes.Uint64, `[7]`, arrow.PrimitiveTypes.Int32, `7`},
		{arrow.PrimitiveTypes.Uint64, `[18446744073709551615]`, arrow.PrimitiveTypes.Int64, `!outside of what a long`},
		{arrow.PrimitiveTypes.Int64, `[2147483648]`, arrow.PrimitiveTypes.Int32, `!outside of what an int`},
		{arrow.PrimitiveTypes.Float64, `[3.0, null]`, arrow.PrimitiveTypes.Int32, `3 null`},
		{arrow.PrimitiveTypes.Float64, `[3.5]`, arrow.PrimitiveTypes.Int64, `!has a fraction`},
		{arrow.PrimitiveTypes.Float32, `[0.5]`, arrow.PrimitiveTypes.Float64, `0.5`},
		{arrow.PrimitiveTypes.Float64, `[0.5]`, arrow.PrimitiveTypes.Float32, `0.5`},
		{arrow.PrimitiveTypes.Float64, `[0.1]`, arrow.PrimitiveTypes.Float32, `!is no float of 32 bits exactly`},
		{arrow.PrimitiveTypes.Int64, `[9007199254740993]`, arrow.PrimitiveTypes.Float64, `!more digits than the column keeps`},
		{arrow.PrimitiveTypes.Float64, `[0.5]`, decimal(5, 2), `!`},
		{arrow.PrimitiveTypes.Int32, `[12]`, decimal(5, 2), `"12.00"`},
		{decimal(10, 4), `["1.2300"]`, decimal(5, 2), `"1.23"`},
		{decimal(10, 4), `["1.2301"]`, decimal(5, 2), `!finer than the column`},
		{decimal(10, 2), `["1234.00"]`, decimal(5, 2), `!more digits than the column`},
		{&arrow.Decimal256Type{Precision: 50, Scale: 3}, `["-1.230"]`, decimal(5, 2), `"-1.23"`},
		{arrow.FixedWidthTypes.Date64, `["2026-01-31"]`, arrow.FixedWidthTypes.Date32, `"2026-01-31"`},
		{arrow.FixedWidthTypes.Time32ms, `["12:34:56.789"]`, arrow.FixedWidthTypes.Time64us, `"12:34:56.789000"`},
		{arrow.FixedWidthTypes.Time64ns, `["12:34:56.000000001"]`, arrow.FixedWidthTypes.Time64us, `!finer than the column`},
		{stamp(arrow.Second, ""), `["2026-01-31 12:34:56"]`, stamp(arrow.Microsecond, ""), `"2026-01-31T12:34:56.000000"`},
		{stamp(arrow.Nanosecond, "Europe/Rome"), `["2026-01-31 13:34:56.000001+0100"]`, stamp(arrow.Microsecond, "UTC"), `"2026-01-31T12:34:56.000001Z"`},
		{stamp(arrow.Nanosecond, ""), `["2026-01-31 12:34:56.000000001"]`, stamp(arrow.Microsecond, ""), `!finer than the column`},
		{stamp(arrow.Microsecond, ""), `["2026-01-31 12:34:56"]`, stamp(arrow.Microsecond, "UTC"), `!`},
		{stamp(arrow.Second, ""), `["2300-01-31 12:34:56"]`, stamp(arrow.Nanosecond, ""), `!outside of what`},
		{arrow.BinaryTypes.LargeString, `["a", null]`, arrow.BinaryTypes.String, `"a" null`},
		{arrow.BinaryTypes.StringView, `["a", "longer than twelve bytes"]`, arrow.BinaryTypes.String, `"a" "longer than twelve bytes"`},
		{dictionary, `["a", "b", null, "a"]`, arrow.BinaryTypes.String, `"a" "b" null "a"`},
		{arrow.BinaryTypes.LargeBinary, `["AAE="]`, arrow.BinaryTypes.Binary, `"AAE="`},
		{arrow.BinaryTypes.String, `["a"]`, arrow.BinaryTypes.Binary, `!`},
		{arrow.BinaryTypes.String, `["01234567-89ab-cdef-0123-456789abcdef"]`, extensions.NewUUIDType(), `"01234567-89ab-cdef-0123-456789abcdef"`},
		{&arrow.FixedSizeBinaryType{ByteWidth: 16}, `["ASNFZ4mrze8BI0VniavN7w=="]`, extensions.NewUUIDType(), `"01234567-89ab-cdef-0123-456789abcdef"`},
		{arrow.BinaryTypes.Binary, `["AAE="]`, &arrow.FixedSizeBinaryType{ByteWidth: 3}, `!has 2 bytes`},
		{arrow.Null, `[null, null]`, arrow.BinaryTypes.String, `null null`},
		{arrow.LargeListOf(arrow.PrimitiveTypes.Int32), `[[1, null], null]`, list(arrow.PrimitiveTypes.Int64), `["1",null] null`},
		{arrow.FixedSizeListOf(2, arrow.BinaryTypes.LargeString), `[["a", "b"]]`, list(arrow.BinaryTypes.String), `["a","b"]`},
		{arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1]]`, list(arrow.BinaryTypes.String), `!`},
		{arrow.StructOf(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), `[{"b": 1}]`,
			arrow.StructOf(field(7, "a", arrow.BinaryTypes.String, false), field(8, "b", arrow.PrimitiveTypes.Int64, true)), `{"a":null,"b":"1"}`},
		{arrow.StructOf(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), `[{"b": null}]`,
			arrow.StructOf(field(8, "b", arrow.PrimitiveTypes.Int64, true)), `!v.b: is required and is null`},
		{arrow.StructOf(arrow.Field{Name: "c", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), `[{"c": null}]`,
			arrow.StructOf(field(8, "b", arrow.PrimitiveTypes.Int64, true)), `!`},
		{arrow.PrimitiveTypes.Int32, `[1]`, arrow.FixedWidthTypes.Boolean, `!`},
		{arrow.DenseUnionOf([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32}}, []int8{0}), `[[0, 1]]`, arrow.PrimitiveTypes.Int32, `!`},
	} {
		checkConversion(t, fromJSON(t, c.from, c.values), c.to, c.want)
	}
}

func checkConversion(t *testing.T, batch arrow.RecordBatch, to arrow.DataType, want string) {
	t.Helper()
	name := fmt.Sprintf("%s to %s", batch.Column(0).DataType(), to)
	s := schemaOf(field(1, "v", to, false))
	r, err := rows.NewReader(bytes.NewReader(streamOf(t, []arrow.RecordBatch{batch})), rows.ArrowStream, s, rows.ReadOptions{KeepText: true})
	if want == "!" {
		if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.PublicMessage(err), "v") {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	got, err := readAll(t, r)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if message, bad := strings.CutPrefix(want, "!"); bad {
		if r.Invalid() != 1 || !strings.Contains(r.Errors()[0].Field+": "+r.Errors()[0].Message, message) || len(got[0].Bad[0].Text) == 0 {
			t.Errorf("%s: got %v and %v, want %s", name, rowsAs(t, s, got), r.Errors(), message)
		}
		return
	}
	text := strings.NewReplacer("{\"v\":", "", "}\n", " ").Replace(rowsAs(t, s, got))
	if strings.TrimSpace(text) != want || r.Invalid() != 0 {
		t.Errorf("%s: got %s and %v, want %s", name, text, r.Errors(), want)
	}
}

func peopleBatch(t testing.TB, ids, names string) arrow.RecordBatch {
	t.Helper()
	a, b := fromJSON(t, arrow.PrimitiveTypes.Int64, ids), fromJSON(t, arrow.BinaryTypes.String, names)
	s := schemaOf(arrow.Field{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	return array.NewRecordBatch(s, []arrow.Array{b.Column(0), a.Column(0)}, a.NumRows())
}

// TestWrongRowsOfStreams: columns come in any order, wrong rows are left out, numbers go on over batches.
func TestWrongRowsOfStreams(t *testing.T) {
	t.Parallel()
	body := streamOf(t, []arrow.RecordBatch{
		peopleBatch(t, `[1, null, 3]`, `["a", "b", null]`), peopleBatch(t, `[4]`, `["d"]`), peopleBatch(t, `[]`, `[]`), peopleBatch(t, `[5, 6]`, `["e", "x"]`),
	})
	at := bytes.LastIndexByte(body, 'x') // "ex" are the values of the last batch
	body[at] = 0xff
	r := mustReader(t, body, rows.ArrowStream, people(), rows.ReadOptions{BatchRows: 2, KeepText: true})
	got, err := readAll(t, r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":1,"name":"a"}` + "\n" + `{"id":3,"name":null}` + "\n" + `{"id":4,"name":"d"}` + "\n" + `{"id":5,"name":"e"}` + "\n"
	if text := rowsAs(t, people(), got); text != want {
		t.Errorf("landed: %s", text)
	}
	wrong := []rows.RowError{{Row: 2, Field: "id", Message: "is required and is null"}, {Row: 6, Field: "name", Message: "is text that is not valid UTF-8"}}
	if fmt.Sprint(r.Errors()) != fmt.Sprint(wrong) || r.Invalid() != 2 {
		t.Errorf("%v", r.Errors())
	}
	if text := string(got[0].Bad[0].Text); text != `{"name":"b","id":null}` {
		t.Errorf("text of the bad row: %s", text)
	}
	if fmt.Sprintf("%v %v %s", got[0].Numbers, got[1].Numbers, got[1].Text(0)) != `[1] [3] {"id":3,"name":null}` {
		t.Errorf("%v %v %s", got[0].Numbers, got[1].Numbers, got[1].Text(0))
	}
}

// TestColumnsOfStreams: the columns must be the table's.
func TestColumnsOfStreams(t *testing.T) {
	t.Parallel()
	batch := func(names ...string) []arrow.RecordBatch {
		a := fromJSON(t, arrow.PrimitiveTypes.Int64, `[1]`).Column(0)
		var fields []arrow.Field
		var columns []arrow.Array
		for _, n := range names {
			fields, columns = append(fields, arrow.Field{Name: n, Type: a.DataType(), Nullable: true}), append(columns, a)
		}
		return []arrow.RecordBatch{array.NewRecordBatch(schemaOf(fields...), columns, 1)}
	}
	for want, body := range map[string][]byte{
		`has a column "ID", which the table has not: did you mean "id"?`: streamOf(t, batch("ID")),
		"has the column id twice":      streamOf(t, batch("id", "id")),
		"has no column id, which":      streamOf(t, batch()),
		"without its end marker":       streamOf(t, batch("id"))[:8],
		"are no Arrow IPC stream":      []byte(`[{"id":1}]`),
		"so that rows may be missing":  trimmed(streamOf(t, batch("id"))),
		"follows the end of the Arrow": append(streamOf(t, batch("id")), streamOf(t, batch("id"))...),
	} {
		r, err := rows.NewReader(bytes.NewReader(body), rows.ArrowStream, people(), rows.ReadOptions{})
		if err == nil {
			_, err = readAll(t, r)
		}
		if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.PublicMessage(err), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// trimmed takes the end marker off.
func trimmed(stream []byte) []byte { return stream[:len(stream)-8] }

func TestCompressedStreams(t *testing.T) {
	t.Parallel()
	want := randomBatch(everyType(), newRandom(3), 500)
	for _, o := range []ipc.Option{ipc.WithZstd(), ipc.WithLZ4()} {
		r := mustReader(t, streamOf(t, []arrow.RecordBatch{want}, o), rows.ArrowStream, everyType(), rows.ReadOptions{})
		got, err := readAll(t, r)
		if err != nil {
			t.Fatal(err)
		}
		compareBatches(t, []arrow.RecordBatch{want}, got)
	}
}

// TestStreamsBeyondTheBounds: a stream that claims much, or that unfolds to much, is refused before the memory is taken.
func TestStreamsBeyondTheBounds(t *testing.T) {
	zeros := func(n int) []arrow.RecordBatch {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(make([]int64, n), nil)
		a := b.NewArray()
		return []arrow.RecordBatch{array.NewRecordBatch(schemaOf(arrow.Field{Name: "id", Type: a.DataType()}), []arrow.Array{a}, int64(n))}
	}
	o := rows.ReadOptions{MessageBytes: 1 << 20}
	lying := streamOf(t, zeros(8))
	claim(t, lying, 64, 1<<40)
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	repeated := fromJSON(t, dictionary, `["`+strings.Repeat("x", 100<<10)+`"`+strings.Repeat(`,null`, 0)+`]`)
	indices := array.NewInt8Builder(memory.DefaultAllocator)
	indices.AppendValues(make([]int8, 200_000), nil)
	bomb := array.NewDictionaryArray(dictionary, indices.NewArray(), repeated.Column(0).(*array.Dictionary).Dictionary())
	ids := zeros(200_000)[0].Column(0)
	bombs := array.NewRecordBatch(schemaOf(arrow.Field{Name: "id", Type: ids.DataType()}, arrow.Field{Name: "name", Type: dictionary, Nullable: true}), []arrow.Array{ids, bomb}, 200_000)
	for name, c := range map[string]struct {
		body []byte
		o    rows.ReadOptions
	}{
		"large message":     {streamOf(t, zeros(1<<18)), o},
		"zstd bomb":         {streamOf(t, zeros(1<<20), ipc.WithZstd()), o},
		"lz4 bomb":          {streamOf(t, zeros(1<<20), ipc.WithLZ4()), o},
		"lying body length": {lying, o},
	} {
		before := allocated()
		r, err := rows.NewReader(bytes.NewReader(c.body), rows.ArrowStream, people(), c.o)
		if err == nil {
			_, err = readAll(t, r)
		}
		if !fault.Is(err, fault.TooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if used := allocated() - before; used > 16<<20 {
			t.Errorf("%s took %d MiB", name, used>>20)
		}
	}
	// Rows of one large value that the stream has once: batches stay as large as they may be.
	r := mustReader(t, streamOf(t, []arrow.RecordBatch{bombs}), rows.ArrowStream, people(), rows.ReadOptions{BatchBytes: 1 << 20})
	for range 20 {
		b, err := r.Next()
		if err != nil || b.Rows.NumRows() > 11 {
			t.Fatalf("a batch of 1 MiB has %d rows of 100 KiB, %v", b.Rows.NumRows(), err)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// claim writes another body length over the one that a message has.
func claim(t *testing.T, stream []byte, is, claimed uint64) {
	t.Helper()
	was := binary.LittleEndian.AppendUint64(nil, is)
	at := bytes.LastIndex(stream[:len(stream)-int(is)-8], was)
	if at < 0 {
		t.Fatal("the length is not in the stream")
	}
	// Every word with this value: which of them is the length is the library's to know.
	for at >= 0 {
		binary.LittleEndian.PutUint64(stream[at:], claimed)
		at = bytes.LastIndex(stream[:at], was)
	}
}

// TestUnfoldingSchema: fields that many others point to make a small schema a large one.
func TestUnfoldingSchema(t *testing.T) {
	t.Parallel()
	of := arrow.DataType(arrow.PrimitiveTypes.Int32)
	for range 12 {
		of = arrow.StructOf(arrow.Field{Name: "a", Type: of}, arrow.Field{Name: "b", Type: of})
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schemaOf(arrow.Field{Name: "v", Type: of})))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := rows.NewReader(bytes.NewReader(out.Bytes()), rows.ArrowStream, people(), rows.ReadOptions{})
	if err == nil {
		t.Fatal("a schema of thousands of fields was taken")
	}
	_, err = rows.NewReader(bytes.NewReader(dagSchema()), rows.ArrowStream, people(), rows.ReadOptions{})
	if !fault.Is(err, fault.TooLarge) {
		t.Errorf("a schema that unfolds: %v", err)
	}
}
