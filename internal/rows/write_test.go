package rows_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/rows"
)

func decimalOf(digits string, negative bool) decimal128.Num {
	v, _ := new(big.Int).SetString(digits, 10)
	if negative {
		v.Neg(v)
	}
	return decimal128.FromBigInt(v)
}

// one gives a batch of one column that has one value.
func one(f arrow.Field, add func(array.Builder)) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schemaOf(f))
	defer b.Release()
	add(b.Field(0))
	return b.NewRecordBatch()
}

func TestValuesAsJSON(t *testing.T) {
	t.Parallel()
	timestamp := func(unit arrow.TimeUnit, zone string, v int64) (arrow.DataType, func(array.Builder)) {
		return &arrow.TimestampType{Unit: unit, TimeZone: zone}, func(b array.Builder) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(v)) }
	}
	real := func(v float64) func(array.Builder) {
		return func(b array.Builder) { b.(*array.Float64Builder).Append(v) }
	}
	wide := func(digits string, negative bool) func(array.Builder) {
		return func(b array.Builder) { b.(*array.Decimal128Builder).Append(decimalOf(digits, negative)) }
	}
	day := func(v int32) func(array.Builder) {
		return func(b array.Builder) { b.(*array.Date32Builder).Append(arrow.Date32(v)) }
	}
	local, addLocal := timestamp(arrow.Microsecond, "", -1)
	instant, addInstant := timestamp(arrow.Microsecond, "UTC", 1_769_862_896_123_456)
	fine, addFine := timestamp(arrow.Nanosecond, "UTC", math.MinInt64)
	far, addFar := timestamp(arrow.Microsecond, "", math.MaxInt64)
	for _, c := range []struct {
		of   arrow.DataType
		add  func(array.Builder)
		want string
	}{
		{arrow.PrimitiveTypes.Int64, func(b array.Builder) { b.(*array.Int64Builder).Append(math.MinInt64) }, `"-9223372036854775808"`},
		{arrow.PrimitiveTypes.Int32, func(b array.Builder) { b.(*array.Int32Builder).Append(-7) }, `-7`},
		{arrow.PrimitiveTypes.Float32, func(b array.Builder) { b.(*array.Float32Builder).Append(0.1) }, `0.1`},
		{arrow.PrimitiveTypes.Float64, real(math.NaN()), `"NaN"`},
		{arrow.PrimitiveTypes.Float64, real(math.Inf(-1)), `"-Infinity"`},
		{arrow.PrimitiveTypes.Float64, real(math.Copysign(0, -1)), `-0.0`},
		{arrow.PrimitiveTypes.Float64, real(5e-324), `5e-324`},
		{arrow.PrimitiveTypes.Float64, real(1e20), `100000000000000000000`},
		{decimal(38, 0), wide(strings.Repeat("9", 38), true), `"-` + strings.Repeat("9", 38) + `"`},
		{decimal(38, 38), wide("1", false), `"0.` + strings.Repeat("0", 37) + `1"`},
		{decimal(20, 2), wide("18446744073709551616", false), `"184467440737095516.16"`},
		{decimal(9, 2), wide("5", true), `"-0.05"`},
		{decimal(38, 2), wide("100000000000000000000000000000000000", false), `"1000000000000000000000000000000000.00"`},
		{arrow.FixedWidthTypes.Date32, day(20484), `"2026-01-31"`},
		{arrow.FixedWidthTypes.Date32, day(-719529), `"-0001-12-31"`},
		{arrow.FixedWidthTypes.Date32, day(2932897), `"+10000-01-01"`},
		{arrow.FixedWidthTypes.Time64us, func(b array.Builder) { b.(*array.Time64Builder).Append(86_399_000_001) }, `"23:59:59.000001"`},
		{local, addLocal, `"1969-12-31T23:59:59.999999"`},
		{instant, addInstant, `"2026-01-31T12:34:56.123456Z"`},
		{fine, addFine, `"1677-09-21T00:12:43.145224192Z"`},
		{far, addFar, `"+294247-01-10T04:00:54.775807"`},
		{arrow.BinaryTypes.Binary, func(b array.Builder) { b.(*array.BinaryBuilder).Append([]byte{0xff, 0}) }, `"/wA="`},
		{arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).Append("a\x00\x1f\"\\/\xff<é") }, `"a\u0000\u001f\"\\/` + "\ufffd" + `<é"`},
		{arrow.BinaryTypes.String, func(b array.Builder) { b.AppendNull() }, `null`},
	} {
		batch := one(field(1, "v", c.of, false), c.add)
		if got := string(encode(t, rows.JSON, batch.Schema(), batch)); got != `[{"v":`+c.want+`}]` {
			t.Errorf("%s: got %s, want %s", c.of, got, c.want)
		}
	}
}

func TestNothingIsAnEmptyArray(t *testing.T) {
	t.Parallel()
	s := everyType()
	if got := string(encode(t, rows.JSON, s)); got != "[]" {
		t.Errorf("JSON of nothing is %q", got)
	}
	if got := string(encode(t, rows.NDJSON, s)); got != "" {
		t.Errorf("NDJSON of nothing is %q", got)
	}
	r := mustReader(t, encode(t, rows.ArrowStream, s), rows.ArrowStream, s, rows.ReadOptions{})
	if got, err := readAll(t, r); err != nil || len(got) != 0 {
		t.Errorf("an Arrow stream of nothing reads as %v, %v", got, err)
	}
}

func newRandom(seed int64) *rand.Rand { return rand.New(rand.NewSource(seed)) }

type brokenPipe struct{}

var errPipe = errors.New("gone")

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

func TestAWriterTellsThatTheClientIsGone(t *testing.T) {
	t.Parallel()
	batch := one(field(1, "v", arrow.BinaryTypes.String, false), func(b array.Builder) { b.AppendNull() })
	for _, f := range rows.Formats() {
		w, err := rows.NewWriter(brokenPipe{}, f, batch.Schema())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(batch); !errors.Is(err, errPipe) {
			t.Errorf("%s: %v", f, err)
		}
	}
}
