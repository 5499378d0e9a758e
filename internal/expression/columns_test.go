package expression_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/metadata"
)

// col is a column of the tests. Its values are bool, float64, string, or *big.Rat: of times the count since 1970, of
// decimals the number. pool has values to draw, each with its literals.
type col struct {
	id   int
	path string
	typ  string
	pool []literal
	odd  []literal // that no value of the type is equal to
}

// literal is a value with its JSON and its SQL.
type literal struct {
	value any
	json  string
	sql   string
}

func whole(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func ratOf(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

func text(value any, s string) literal { return literal{value, quote(s), "'" + doubled(s) + "'"} }

func bare(value any, s string) literal { return literal{value, s, s} }

func doubled(s string) string {
	out := ""
	for _, c := range s {
		if out += string(c); c == '\'' {
			out += "'"
		}
	}
	return out
}

func numbers(values ...int64) []literal {
	var out []literal
	for _, n := range values {
		out = append(out, bare(whole(n), strconv.FormatInt(n, 10)))
	}
	return out
}

func decimals(values ...string) []literal {
	var out []literal
	for _, s := range values {
		out = append(out, text(ratOf(s), s), bare(ratOf(s), s))
	}
	return out
}

func times(layout string, unit time.Duration, values ...string) []literal {
	var out []literal
	for _, s := range values {
		at, err := time.Parse(layout, s)
		if err != nil {
			panic(err)
		}
		count := new(big.Rat).SetFrac64(at.UnixNano(), int64(unit))
		out = append(out, text(count, s))
	}
	return out
}

func blobs(values ...string) []literal {
	var out []literal
	for _, s := range values {
		out = append(out, text(s, hex.EncodeToString([]byte(s))))
	}
	return out
}

func uuids(values ...string) []literal {
	var out []literal
	for _, s := range values {
		id := uuid.MustParse(s)
		out = append(out, text(string(id[:]), s))
	}
	return out
}

func floats(odd float64, values ...string) (pool, inexact []literal) {
	for _, s := range values {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic(err)
		}
		if math.IsInf(f, 0) {
			pool = append(pool, text(f, s))
			continue
		}
		pool = append(pool, bare(f, s))
	}
	return pool, []literal{bare(odd, "0.1")}
}

// columns gives the columns of the tests, made once: most of a test's time would be their making.
var columns = sync.OnceValue(func() []col {
	const second, zoned = "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999Z07:00"
	clock := func(unit time.Duration, values ...string) []literal {
		out := times("2006-01-02T15:04:05.999999999", unit, prefixed("1970-01-01T", values)...)
		for i, s := range values {
			out[i] = text(out[i].value, s)
		}
		return out
	}
	singles, oddSingle := floats(float64(float32(0.1)), "0", "-0.5", "1.5", "-2", "Infinity", "-Infinity", "3e30")
	doubles, oddDouble := floats(0.1, "0", "-0.5", "1.5", "-2", "Infinity", "-Infinity", "1e300")
	return []col{
		{1, "flag", "boolean", []literal{bare(true, "true"), bare(false, "false")}, nil},
		{2, "i", "int", numbers(-2, -1, 0, 1, 2, math.MaxInt32, math.MinInt32), numbers(3_000_000_000)},
		{3, "l", "long", numbers(-2, -1, 0, 1, 2, math.MaxInt64, math.MinInt64), nil},
		{4, "f", "float", singles, append(oddSingle, bare(1e300, "1e300"))},
		{5, "d", "double", doubles, oddDouble},
		{6, "price", "decimal(9,2)", decimals("-1.25", "0", "1.25", "0.01", "9999999.99"), append(decimals("0.005", "-1.251"), text(ratOf("1e60"), "1e60"), text(ratOf("-1e60"), "-1e60"))},
		{7, "wide", "decimal(38,10)", decimals("-1234567890123456789012345678.0123456789", "0", "0.0000000001", "1234567890123456789012345678"), nil},
		{8, "day", "date", times(time.DateOnly, 24*time.Hour, "1969-12-31", "1970-01-01", "2026-01-31"), numbers(20485)},
		{9, "clock", "time", clock(time.Microsecond, "00:00:00", "12:34:56.123456", "23:59:59.999999"), clock(time.Microsecond, "12:34:56.1234567")},
		{10, "at", "timestamp", times(second, time.Microsecond, "1969-12-31T23:59:59.999999", "1970-01-01T00:00:00", "2026-01-31T12:34:56.123456"), times(second, time.Microsecond, "1969-12-31T23:59:59.9999995", "1970-01-01T00:00:00.0000001")},
		{11, "atz", "timestamptz", times(zoned, time.Microsecond, "1969-12-31T23:59:59.999999Z", "1970-01-01T02:00:00+02:00", "2026-01-31T12:34:56.123456+00:00"), nil},
		{12, "atn", "timestamp_ns", times(second, time.Nanosecond, "1969-12-31T23:59:59.999999999", "1970-01-01T00:00:00", "2026-01-31T12:34:56.123456789"), nil},
		{13, "s", "string", []literal{text("", ""), text("a", "a"), text("ab", "ab"), text("b", "b"), text("é", "é"), text("it's", "it's"), text("a%_\\", "a%_\\")}, nil},
		{14, "id", "uuid", uuids("00000000-0000-0000-0000-000000000001", "f79c3e09-677c-4bbd-a479-3f349cb785e7", "70000000-0000-0000-0000-000000000000"), nil},
		{15, "four", "fixed[4]", blobs("\x00\x00\x00\x00", "\xff\x00\x00\x01", "abcd"), nil},
		{16, "raw", "binary", blobs("", "\x00", "\xff", "abc"), nil},
		{18, "in.n", "long", numbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), nil},
		{19, "list", "list", nil, nil},
	}
})

func prefixed(prefix string, values []string) []string {
	out := make([]string, len(values))
	for i, s := range values {
		out[i] = prefix + s
	}
	return out
}

var schema = sync.OnceValue(func() metadata.Schema {
	var s metadata.Schema
	for _, c := range columns() {
		f := metadata.Field{ID: c.id, Name: c.path, Path: c.path, Type: c.typ}
		switch c.path {
		case "in.n":
			f.Name = "n"
			f = metadata.Field{ID: 17, Name: "in", Path: "in", Type: "struct", Children: []metadata.Field{f}}
		case "list":
			f.Children = []metadata.Field{{ID: 20, Name: "element", Path: "list.element", Type: "string"}}
		}
		s.Fields = append(s.Fields, f)
	}
	return s
})

// batch has the values of each column, nil for NULL.
type batch struct {
	rows   int
	values map[int][]any
	arrays map[int]arrow.Array
}

// randomBatch draws rows; arrays are parts of longer ones, so that they do not start at a byte.
func randomBatch(r *rand.Rand, rows int) batch {
	b := batch{rows: rows, values: map[int][]any{}, arrays: map[int]arrow.Array{}}
	for _, c := range columns() {
		skip, nulls := r.IntN(20), []int{0, 0, 3, 10}[r.IntN(4)]
		var values []any
		for range rows + skip {
			var v any
			switch {
			case r.IntN(10) < nulls:
			case len(c.pool) == 0:
				v = ""
			case (c.typ == "float" || c.typ == "double") && r.IntN(4) == 0:
				v = math.NaN()
			case (c.typ == "float" || c.typ == "double") && r.IntN(6) == 0:
				v = []float64{math.Copysign(0, -1), float64(float32(0.1))}[r.IntN(2)]
			default:
				v = c.pool[r.IntN(len(c.pool))].value
			}
			values = append(values, v)
		}
		full := c.array(values)
		b.values[c.id], b.arrays[c.id] = values[skip:], array.NewSlice(full, int64(skip), int64(skip+rows))
	}
	return b
}

func (b batch) column(id int) (arrow.Array, error) {
	a, ok := b.arrays[id]
	if !ok {
		return nil, fmt.Errorf("no column %d", id)
	}
	return a, nil
}

func (c col) arrowType() arrow.DataType {
	switch c.typ {
	case "boolean":
		return arrow.FixedWidthTypes.Boolean
	case "int":
		return arrow.PrimitiveTypes.Int32
	case "float":
		return arrow.PrimitiveTypes.Float32
	case "double":
		return arrow.PrimitiveTypes.Float64
	case "decimal(9,2)":
		return &arrow.Decimal128Type{Precision: 9, Scale: 2}
	case "decimal(38,10)":
		return &arrow.Decimal128Type{Precision: 38, Scale: 10}
	case "date":
		return arrow.FixedWidthTypes.Date32
	case "time":
		return arrow.FixedWidthTypes.Time64us
	case "timestamp":
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case "timestamptz":
		return arrow.FixedWidthTypes.Timestamp_us
	case "timestamp_ns":
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	case "string":
		return arrow.BinaryTypes.String
	case "uuid":
		return &arrow.FixedSizeBinaryType{ByteWidth: 16}
	case "fixed[4]":
		return &arrow.FixedSizeBinaryType{ByteWidth: 4}
	case "binary":
		return arrow.BinaryTypes.Binary
	case "list":
		return arrow.ListOf(arrow.BinaryTypes.String)
	}
	return arrow.PrimitiveTypes.Int64
}

func (c col) array(values []any) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, c.arrowType())
	for _, v := range values {
		if v == nil {
			b.AppendNull()
			continue
		}
		n := int64(0)
		if r, ok := v.(*big.Rat); ok && r.IsInt() {
			n = r.Num().Int64()
		}
		switch b := b.(type) {
		case *array.BooleanBuilder:
			b.Append(v.(bool))
		case *array.Int32Builder:
			b.Append(int32(n))
		case *array.Int64Builder:
			b.Append(n)
		case *array.Float32Builder:
			b.Append(float32(v.(float64)))
		case *array.Float64Builder:
			b.Append(v.(float64))
		case *array.Decimal128Builder:
			scale := c.arrowType().(*arrow.Decimal128Type).Scale
			unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
			b.Append(decimal128.FromBigInt(new(big.Rat).Mul(v.(*big.Rat), new(big.Rat).SetInt(unit)).Num()))
		case *array.Date32Builder:
			b.Append(arrow.Date32(n))
		case *array.Time64Builder:
			b.Append(arrow.Time64(n))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(n))
		case *array.StringBuilder:
			b.Append(v.(string))
		case *array.FixedSizeBinaryBuilder:
			b.Append([]byte(v.(string)))
		case *array.BinaryBuilder:
			b.Append([]byte(v.(string)))
		case *array.ListBuilder:
			b.Append(true)
		}
	}
	out := b.NewArray()
	if c.typ == "uuid" {
		return array.NewExtensionArrayWithStorage(extensions.NewUUIDType(), out)
	}
	return out
}
