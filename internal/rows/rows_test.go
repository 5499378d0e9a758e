package rows_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/rows"
)

const fieldID = "PARQUET:field_id"

func field(id int, name string, of arrow.DataType, required bool) arrow.Field {
	return arrow.Field{Name: name, Type: of, Nullable: !required, Metadata: arrow.NewMetadata([]string{fieldID}, []string{fmt.Sprint(id)})}
}

func decimal(precision, scale int32) arrow.DataType {
	return &arrow.Decimal128Type{Precision: precision, Scale: scale}
}

// everyType is a schema with a column of each type that tables have.
func everyType() *arrow.Schema {
	utc := func(u arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: u, TimeZone: "UTC"} }
	local := func(u arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: u} }
	return arrow.NewSchema([]arrow.Field{
		field(1, "id", arrow.PrimitiveTypes.Int64, true),
		field(2, "flag", arrow.FixedWidthTypes.Boolean, false),
		field(3, "count", arrow.PrimitiveTypes.Int32, false),
		field(4, "ratio", arrow.PrimitiveTypes.Float32, false),
		field(5, "measure", arrow.PrimitiveTypes.Float64, false),
		field(6, "price", decimal(9, 2), false),
		field(7, "wide", decimal(38, 10), false),
		field(8, "day", arrow.FixedWidthTypes.Date32, false),
		field(9, "clock", arrow.FixedWidthTypes.Time64us, false),
		field(10, "ts", local(arrow.Microsecond), false),
		field(11, "tstz", utc(arrow.Microsecond), false),
		field(12, "ts_ns", local(arrow.Nanosecond), false),
		field(13, "tstz_ns", utc(arrow.Nanosecond), false),
		field(14, "name", arrow.BinaryTypes.String, false),
		field(15, "uid", extensions.NewUUIDType(), false),
		field(16, "mac", &arrow.FixedSizeBinaryType{ByteWidth: 6}, false),
		field(17, "blob", arrow.BinaryTypes.Binary, false),
		field(18, "tags", arrow.ListOfField(field(19, "element", arrow.BinaryTypes.String, true)), false),
		field(20, "attributes", arrow.MapOfFields(field(21, "key", arrow.BinaryTypes.String, true), field(22, "value", arrow.PrimitiveTypes.Int64, false)), false),
		field(23, "address", arrow.StructOf(
			field(24, "city", arrow.BinaryTypes.String, true),
			field(25, "zip", arrow.PrimitiveTypes.Int32, false),
			field(26, "spots", arrow.ListOfField(field(27, "element", arrow.StructOf(field(28, "x", arrow.PrimitiveTypes.Float64, true)), false)), false),
		), false),
	}, nil)
}

func schemaOf(fields ...arrow.Field) *arrow.Schema { return arrow.NewSchema(fields, nil) }

// readAll reads to the end and gives all batches.
func readAll(t testing.TB, r *rows.Reader) ([]*rows.Batch, error) {
	t.Helper()
	var all []*rows.Batch
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if int(b.Rows.NumRows()) != len(b.Numbers) {
			t.Fatalf("a batch has %d rows and %d numbers", b.Rows.NumRows(), len(b.Numbers))
		}
		all = append(all, b)
	}
}

func mustReader(t testing.TB, body []byte, f rows.Format, s *arrow.Schema, o rows.ReadOptions) *rows.Reader {
	t.Helper()
	r, err := rows.NewReader(bytes.NewReader(body), f, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func encode(t testing.TB, f rows.Format, s *arrow.Schema, batches ...arrow.RecordBatch) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := rows.NewWriter(&out, f, s)
	if err != nil {
		t.Fatal(err)
	}
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

// rowsAs writes what a reader gave down again, a row a line.
func rowsAs(t testing.TB, s *arrow.Schema, batches []*rows.Batch) string {
	t.Helper()
	records := make([]arrow.RecordBatch, len(batches))
	for i, b := range batches {
		records[i] = b.Rows
	}
	return string(encode(t, rows.NDJSON, s, records...))
}

// randomBatch fills a batch of any schema with values of all sizes and with NULL where it may be.
func randomBatch(s *arrow.Schema, random *rand.Rand, n int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i, f := range s.Fields() {
		for range n {
			appendRandom(b.Field(i), f, random)
		}
	}
	return b.NewRecordBatch()
}

func appendRandom(b array.Builder, f arrow.Field, random *rand.Rand) {
	if f.Nullable && random.Intn(5) == 0 {
		b.AppendNull()
		return
	}
	bytesOf := func(n int) []byte {
		v := make([]byte, n)
		random.Read(v)
		return v
	}
	text := func() string {
		letters := []rune("aé\"\\\n\t\x01€😀<&/ \u2028zZ09")
		v := make([]rune, random.Intn(12))
		for i := range v {
			v[i] = letters[random.Intn(len(letters))]
		}
		return string(v)
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(random.Intn(2) == 0)
	case *array.Int32Builder:
		b.Append(int32(random.Uint32()) >> random.Intn(32))
	case *array.Int64Builder:
		b.Append(int64(random.Uint64()) >> random.Intn(64))
	case *array.Float32Builder:
		b.Append(float32(random.NormFloat64()))
	case *array.Float64Builder:
		b.Append([]float64{random.NormFloat64(), 0, 1e300, -1e-300, float64(random.Intn(1000))}[random.Intn(5)])
	case *array.Decimal128Builder:
		kind := f.Type.(*arrow.Decimal128Type)
		digits := make([]byte, random.Intn(int(kind.Precision))+1)
		for i := range digits {
			digits[i] = byte('0' + random.Intn(10))
		}
		b.Append(decimalOf(string(digits), random.Intn(2) == 0))
	case *array.Date32Builder:
		b.Append(arrow.Date32(random.Intn(6_000_000) - 1_000_000))
	case *array.Time64Builder:
		b.Append(arrow.Time64(random.Int63n(86_400_000_000)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(int64(random.Uint64()) >> random.Intn(40)))
	case *array.StringBuilder:
		b.Append(text())
	case *extensions.UUIDBuilder:
		b.AppendBytes([16]byte(bytesOf(16)))
	case *array.FixedSizeBinaryBuilder:
		b.Append(bytesOf(f.Type.(*arrow.FixedSizeBinaryType).ByteWidth))
	case *array.BinaryBuilder:
		b.Append(bytesOf(random.Intn(9)))
	case *array.MapBuilder:
		b.Append(true)
		kind := f.Type.(*arrow.MapType)
		for i := range random.Intn(4) {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprint(i, text()))
			appendRandom(b.ItemBuilder(), kind.ItemField(), random)
		}
	case *array.ListBuilder:
		b.Append(true)
		for range random.Intn(4) {
			appendRandom(b.ValueBuilder(), f.Type.(*arrow.ListType).ElemField(), random)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, part := range f.Type.(*arrow.StructType).Fields() {
			appendRandom(b.FieldBuilder(i), part, random)
		}
	default:
		panic(fmt.Sprintf("no values for %T", b))
	}
}

// TestRoundTrip: what is written in any format reads back as it was.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	s := everyType()
	for _, f := range rows.Formats() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			for seed := range int64(30) {
				random := rand.New(rand.NewSource(seed))
				batches := []arrow.RecordBatch{randomBatch(s, random, random.Intn(40)), randomBatch(s, random, random.Intn(100))}
				want := string(encode(t, rows.NDJSON, s, batches...))
				body := encode(t, f, s, batches...)
				r := mustReader(t, body, f, s, rows.ReadOptions{BatchRows: 1 + random.Intn(30), KeepText: true})
				got, err := readAll(t, r)
				if err != nil || r.Invalid() != 0 {
					t.Fatalf("seed %d: %v, %v", seed, err, r.Errors())
				}
				compareBatches(t, batches, got)
				if text := rowsAs(t, s, got); text != want {
					t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, text, want)
				}
				if r.Bytes() != int64(len(body)) {
					t.Fatalf("%d bytes were counted of %d", r.Bytes(), len(body))
				}
				checkTexts(t, want, got)
			}
		})
	}
}

// compareBatches compares values, whatever the batches are cut like.
func compareBatches(t *testing.T, want []arrow.RecordBatch, got []*rows.Batch) {
	t.Helper()
	table := func(batches []arrow.RecordBatch) arrow.Table { return array.NewTableFromRecords(everyType(), batches) }
	var records []arrow.RecordBatch
	for _, b := range got {
		records = append(records, b.Rows)
	}
	a, b := table(want), table(records)
	if a.NumRows() != b.NumRows() {
		t.Fatalf("%d rows were read of %d", b.NumRows(), a.NumRows())
	}
	for i := range int(a.NumCols()) {
		if !array.ChunkedEqual(a.Column(i).Data(), b.Column(i).Data()) {
			t.Fatalf("column %s reads back as something else", a.Column(i).Name())
		}
	}
}

// checkTexts: the text of a row is its JSON.
func checkTexts(t *testing.T, want string, got []*rows.Batch) {
	t.Helper()
	lines, n := strings.Split(want, "\n"), 0
	for _, b := range got {
		for i := range b.Numbers {
			if string(b.Text(i)) != lines[n] || b.Numbers[i] != int64(n+1) {
				t.Fatalf("row %d has the text %s, not %s", b.Numbers[i], b.Text(i), lines[n])
			}
			n++
		}
	}
}
