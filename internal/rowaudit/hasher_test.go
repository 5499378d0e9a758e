package rowaudit_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rowaudit"
)

var key = []byte("0123456789abcdef0123456789abcdef")

// column makes a column of a type and fills it.
func column[B array.Builder](typ arrow.DataType, fill func(B)) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	fill(b.(B))
	return b.NewArray()
}

func batchOf(names []string, columns ...arrow.Array) arrow.RecordBatch {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: names[i], Type: c.DataType(), Nullable: true}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
}

func hashes(t *testing.T, batch arrow.RecordBatch, columns ...string) [][rowaudit.HashSize]byte {
	t.Helper()
	h, err := rowaudit.NewHasher(key, columns, batch.Schema())
	require.NoError(t, err)
	out, err := h.Hash(batch)
	require.NoError(t, err)
	return out
}

// of gives the hashes of one column.
func of(t *testing.T, c arrow.Array) [][rowaudit.HashSize]byte {
	t.Helper()
	return hashes(t, batchOf([]string{"id"}, c), "id")
}

func decimal(t *testing.T, precision, scale int32, text string) arrow.Array {
	t.Helper()
	n, err := decimal128.FromString(text, precision, scale)
	require.NoError(t, err)
	return column(&arrow.Decimal128Type{Precision: precision, Scale: scale}, func(b *array.Decimal128Builder) { b.Append(n) })
}

// What a column is widened to has the values that it had.
func TestPromotionKeepsHashes(t *testing.T) {
	float := float32(0.1)
	for name, pair := range map[string][2]arrow.Array{
		"int to long": {
			column(arrow.PrimitiveTypes.Int32, func(b *array.Int32Builder) { b.AppendValues([]int32{-7, 0, math.MaxInt32}, nil) }),
			column(arrow.PrimitiveTypes.Int64, func(b *array.Int64Builder) { b.AppendValues([]int64{-7, 0, math.MaxInt32}, nil) }),
		},
		"float to double": {
			column(arrow.PrimitiveTypes.Float32, func(b *array.Float32Builder) { b.AppendValues([]float32{float, float32(math.NaN()), 0}, nil) }),
			column(arrow.PrimitiveTypes.Float64, func(b *array.Float64Builder) {
				b.AppendValues([]float64{float64(float), -math.NaN(), math.Copysign(0, -1)}, nil)
			}),
		},
		"decimal precision": {decimal(t, 9, 2, "-12.50"), decimal(t, 38, 2, "-12.5")},
		"decimal scale":     {decimal(t, 9, 2, "100.00"), decimal(t, 9, 0, "100")},
		"unit of a time": {
			column(arrow.FixedWidthTypes.Timestamp_us, func(b *array.TimestampBuilder) { b.AppendValues([]arrow.Timestamp{-1, 1_000_001}, nil) }),
			column(arrow.FixedWidthTypes.Timestamp_ns, func(b *array.TimestampBuilder) {
				b.AppendValues([]arrow.Timestamp{-1000, 1_000_001_000}, nil)
			}),
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, of(t, pair[0]), of(t, pair[1])) })
	}
}

// How values are stored is nobody's business: slices, dictionaries and nulls in other places give the same hashes.
func TestLayoutDoesNotMatter(t *testing.T) {
	words := []string{"b", "", "a", "ä", "a"}
	plain := column(arrow.BinaryTypes.String, func(b *array.StringBuilder) {
		b.AppendNull()
		b.AppendValues(words, nil)
		b.AppendNull()
	})
	want := of(t, plain)
	require.Equal(t, want[0], want[6])
	require.Equal(t, want[3], want[5])
	require.NotEqual(t, want[0], want[2], "nothing is not the empty text")

	require.Equal(t, want[2:5], of(t, array.NewSlice(plain, 2, 5)))
	dictionary := column(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, func(b *array.BinaryDictionaryBuilder) {
		b.AppendNull()
		for _, w := range words {
			require.NoError(t, b.AppendString(w))
		}
		b.AppendNull()
	})
	require.Equal(t, want, of(t, dictionary))
	require.Equal(t, want[1:], of(t, array.NewSlice(dictionary, 1, 7)))
}

// Values of two columns do not run into each other, and columns are not exchanged.
func TestColumnsAreApart(t *testing.T) {
	a := column(arrow.BinaryTypes.String, func(b *array.StringBuilder) { b.AppendValues([]string{"x", "xy", "y", ""}, nil) })
	b := column(arrow.BinaryTypes.String, func(b *array.StringBuilder) { b.AppendValues([]string{"yz", "z", "x", ""}, nil) })
	batch := batchOf([]string{"a", "b"}, a, b)
	both := hashes(t, batch, "a", "b")
	seen := map[[rowaudit.HashSize]byte]bool{}
	for _, h := range both {
		require.False(t, seen[h])
		seen[h] = true
	}
	require.NotEqual(t, both, hashes(t, batch, "b", "a"))

	other, err := rowaudit.NewHasher([]byte("another key"), []string{"a", "b"}, batch.Schema())
	require.NoError(t, err)
	others, err := other.Hash(batch)
	require.NoError(t, err)
	require.NotEqual(t, both, others)
}

func TestNestedColumns(t *testing.T) {
	customer := arrow.StructOf(
		arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		arrow.Field{Name: "marks", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{{Name: "customer", Type: customer, Nullable: true}}, nil)
	batch := func(text string) arrow.RecordBatch {
		rows, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(text))
		require.NoError(t, err)
		return rows
	}
	rows := batch(`[
		{"customer":{"id":1,"tags":["a","b"],"marks":[{"key":"x","value":1},{"key":"y","value":2}]}},
		{"customer":{"id":1,"tags":["a","b"],"marks":[{"key":"y","value":2},{"key":"x","value":1}]}},
		{"customer":{"id":1,"tags":["ab"],"marks":[]}},
		{"customer":null},
		{"customer":{"id":null,"tags":null,"marks":null}}]`)
	whole := hashes(t, rows, "customer")
	require.Equal(t, whole[0], whole[1], "a map has no order")
	require.NotEqual(t, whole[0], whole[2])
	require.NotEqual(t, whole[3], whole[4])
	ids := hashes(t, rows, "customer.id")
	require.Equal(t, ids[0], ids[2])
	require.Equal(t, ids[3], ids[4], "what lies in nothing is nothing")
	require.Equal(t, ids[1:4], hashes(t, rows.NewSlice(1, 4), "customer.id"))
	require.Equal(t, whole[1:4], hashes(t, rows.NewSlice(1, 4), "customer"))
}

func TestUnknownColumns(t *testing.T) {
	batch := batchOf([]string{"id"}, decimal(t, 9, 2, "1"))
	for _, columns := range [][]string{nil, {"name"}, {"id.name"}} {
		_, err := rowaudit.NewHasher(key, columns, batch.Schema())
		require.Equal(t, fault.Invalid, fault.CodeOf(err))
	}
	h, err := rowaudit.NewHasher(key, []string{"id"}, batch.Schema())
	require.NoError(t, err)
	_, err = h.Hash(batchOf([]string{"name"}, decimal(t, 9, 2, "1")))
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
}

// People ask for a row by its values, as answers have them.
func TestHashValues(t *testing.T) {
	id := uuid.MustParse("0b5c2a8e-5f7e-4a55-9d6f-0123456789ab")
	uuids := array.NewExtensionArrayWithStorage(extensions.NewUUIDType(),
		column(&arrow.FixedSizeBinaryType{ByteWidth: 16}, func(b *array.FixedSizeBinaryBuilder) { b.Append(id[:]) }))
	stamp := func(typ arrow.DataType, at int64) arrow.Array {
		return column(typ, func(b *array.TimestampBuilder) { b.Append(arrow.Timestamp(at)) })
	}
	long := column(arrow.PrimitiveTypes.Int64, func(b *array.Int64Builder) { b.Append(math.MaxInt64) })
	small := column(arrow.PrimitiveTypes.Int32, func(b *array.Int32Builder) { b.Append(-5) })
	for name, c := range map[string]struct {
		column arrow.Array
		is     []any
		not    []any
	}{
		"boolean":      {column(arrow.FixedWidthTypes.Boolean, func(b *array.BooleanBuilder) { b.Append(true) }), []any{true}, []any{"true", 1.0}},
		"int":          {small, []any{"-5", -5.0, json.Number("-5"), int64(-5)}, []any{-5.5, true, "x", "4294967291", []any{}}},
		"long":         {long, []any{"9223372036854775807", json.Number("9223372036854775807")}, []any{float64(math.MaxInt64), "9223372036854775808"}},
		"double":       {column(arrow.PrimitiveTypes.Float64, func(b *array.Float64Builder) { b.Append(1.5) }), []any{1.5, "1.5"}, []any{"one"}},
		"NaN":          {column(arrow.PrimitiveTypes.Float32, func(b *array.Float32Builder) { b.Append(float32(math.NaN())) }), []any{"NaN"}, nil},
		"decimal":      {decimal(t, 9, 2, "-12.5"), []any{"-12.50", "-12.5", -12.5}, []any{"-12.501", "1e3", "", "12345678901"}},
		"date":         {column(arrow.FixedWidthTypes.Date32, func(b *array.Date32Builder) { b.Append(-1) }), []any{"1969-12-31"}, []any{"1969-12-32", 3.0}},
		"time":         {column(arrow.FixedWidthTypes.Time64us, func(b *array.Time64Builder) { b.Append(45_296_123_456) }), []any{"12:34:56.123456"}, []any{"25:00:00"}},
		"timestamp":    {stamp(&arrow.TimestampType{Unit: arrow.Microsecond}, -1), []any{"1969-12-31T23:59:59.999999"}, []any{"1969-12-31T23:59:59.999999Z"}},
		"timestamptz":  {stamp(&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, -1), []any{"1969-12-31T23:59:59.999999Z", "1970-01-01T00:59:59.999999+01:00"}, []any{"1969-12-31"}},
		"timestamp_ns": {stamp(&arrow.TimestampType{Unit: arrow.Nanosecond}, 1), []any{"1970-01-01T00:00:00.000000001"}, []any{""}},
		"string":       {column(arrow.BinaryTypes.String, func(b *array.StringBuilder) { b.Append("12") }), []any{"12"}, []any{12.0, true}},
		"binary":       {column(arrow.BinaryTypes.Binary, func(b *array.BinaryBuilder) { b.Append([]byte{1, 2}) }), []any{"AQI="}, []any{"?"}},
		"uuid":         {uuids, []any{id.String(), strings.ToUpper(id.String())}, []any{"0b5c"}},
		"null":         {column(arrow.BinaryTypes.String, func(b *array.StringBuilder) { b.AppendNull() }), []any{nil}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			batch := batchOf([]string{"id"}, c.column)
			h, err := rowaudit.NewHasher(key, []string{"id"}, batch.Schema())
			require.NoError(t, err)
			for _, value := range c.is {
				got, err := h.HashValues(map[string]any{"id": value})
				require.NoError(t, err, "%v", value)
				require.Equal(t, of(t, c.column)[0], got, "%v", value)
			}
			for _, value := range c.not {
				_, err := h.HashValues(map[string]any{"id": value})
				require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", value)
				require.Contains(t, fault.PublicMessage(err), "id")
			}
			for _, values := range []map[string]any{{}, {"id": c.is[0], "more": 1.0}} {
				_, err = h.HashValues(values)
				require.Equal(t, fault.Invalid, fault.CodeOf(err))
			}
		})
	}
}

// Hashes are kept for ever: a change of the encoding would make them useless. These are of the format as it is.
func TestHashesStay(t *testing.T) {
	batch := batchOf([]string{"id", "day", "name"},
		column(arrow.PrimitiveTypes.Int64, func(b *array.Int64Builder) { b.Append(42) }),
		column(arrow.FixedWidthTypes.Date32, func(b *array.Date32Builder) { b.Append(20_000) }),
		column(arrow.BinaryTypes.String, func(b *array.StringBuilder) { b.Append("größe") }))
	got := hashes(t, batch, "id", "day", "name")[0]
	require.Equal(t, "d2b650486fa8af8e38fae56c65ba9395", hex.EncodeToString(got[:]))
}
