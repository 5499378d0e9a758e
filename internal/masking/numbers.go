package masking

import (
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/fault"
)

// keptDigits is how many leading digits of a number truncate shows.
const keptDigits = 2

// truncated gives what truncate does to a type, nil for one that does not take it.
func truncated(t arrow.DataType) transform {
	switch t := t.(type) {
	case *arrow.StringType:
		return eachText(start)
	case *arrow.Int32Type:
		return eachNumber(array.NewInt32Builder, func(n int32) int32 { return int32(leading(int64(n))) }) //nolint:gosec // nearer to zero than n
	case *arrow.Int64Type:
		return eachNumber(array.NewInt64Builder, leading)
	case *arrow.Float32Type:
		return eachNumber(array.NewFloat32Builder, func(f float32) float32 { return float32(leadingFloat(float64(f), 32)) })
	case *arrow.Float64Type:
		return eachNumber(array.NewFloat64Builder, func(f float64) float64 { return leadingFloat(f, 64) })
	case *arrow.Date32Type:
		return eachNumber(array.NewDate32Builder, func(d arrow.Date32) arrow.Date32 {
			return arrow.Date32(floorDiv(yearStart(int64(d)*secondsOfDay), secondsOfDay)) //nolint:gosec // of the same year
		})
	case *arrow.Decimal128Type:
		return eachNumber(func(mem memory.Allocator) *array.Decimal128Builder { return array.NewDecimal128Builder(mem, t) }, leadingDecimal)
	case *arrow.TimestampType:
		unit := int64(time.Second / t.Unit.Multiplier())
		return eachNumber(func(mem memory.Allocator) *array.TimestampBuilder { return array.NewTimestampBuilder(mem, t) },
			func(at arrow.Timestamp) arrow.Timestamp { return yearStartIn(at, unit) })
	}
	return nil
}

// numbers is an array of values that are replaced one by one.
type numbers[T any] interface {
	arrow.Array
	Value(i int) T
}

type numberBuilder[T any] interface {
	array.Builder
	Append(T)
}

// eachNumber masks every value by itself.
func eachNumber[T any, B numberBuilder[T]](with func(memory.Allocator) B, to func(T) T) transform {
	return func(in arrow.Array) (arrow.Array, error) {
		values, ok := in.(numbers[T])
		if !ok {
			return nil, fault.New(fault.Internal, "numbers are held as %T", in)
		}
		b := with(memory.DefaultAllocator)
		defer b.Release()
		b.Reserve(in.Len())
		for i := range values.Len() {
			if values.IsNull(i) {
				b.AppendNull()
				continue
			}
			b.Append(to(values.Value(i)))
		}
		return b.NewArray(), nil
	}
}

// leading rounds a number towards zero to its leading digits.
func leading(n int64) int64 {
	size := int64(1)
	for m := n; m >= 100 || m <= -100; m /= 10 {
		size *= 10
	}
	return n / size * size
}

// leadingFloat is leading, for the digits of the shortest number that reads back as f. Zero, infinities and NaN stay.
func leadingFloat(f float64, bits int) float64 {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	var room [40]byte
	text := strconv.AppendFloat(room[:0], f, 'e', -1, bits) // -d.ddde±dd
	digits, out := 0, room[:0]
	for i, c := range text {
		if c == 'e' {
			out = append(out, text[i:]...)
			break
		}
		if c >= '0' && c <= '9' {
			if digits++; digits > keptDigits {
				continue
			}
		}
		out = append(out, c)
	}
	got, err := strconv.ParseFloat(string(out), bits)
	if err != nil {
		return math.NaN()
	}
	return got
}

func leadingDecimal(n decimal128.Num) decimal128.Num {
	ten, hundred := decimal128.FromI64(10), decimal128.FromI64(100)
	size := decimal128.FromI64(1)
	for m := n; !m.Abs().Less(hundred); m, _ = m.Div(ten) {
		size = size.Mul(ten)
	}
	whole, _ := n.Div(size)
	return whole.Mul(size)
}

const secondsOfDay = 24 * 60 * 60

// yearStart gives the first second of the year that a time is in, both in seconds since 1970.
func yearStart(seconds int64) int64 {
	return time.Date(time.Unix(seconds, 0).UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC).Unix()
}

// yearStartIn is yearStart for times of units that a second has so many of. The year that the first times of all are in
// began before them: they get the first time.
func yearStartIn(at arrow.Timestamp, unit int64) arrow.Timestamp {
	seconds := yearStart(floorDiv(int64(at), unit))
	if seconds < math.MinInt64/unit {
		return math.MinInt64
	}
	return arrow.Timestamp(seconds * unit)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
