package tableio

import (
	"encoding/binary"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// reader computes a partition field from values of its column: either whole numbers, floats by their bits too, or
// anything else as bytes.
type reader struct {
	numbers func(values arrow.Array) func(row int) int64
	texts   func(values arrow.Array) func(row int) string // may be memory of the values
	number  func(int64) any                               // the value of a number as Go's manifests have it
	text    func(string) any
}

// newReader makes a reader of a transform of values of a type; false when there is none.
func newReader(transform iceberg.Transform, kind arrow.DataType) (reader, bool) {
	base, ok := identityReader(kind)
	if !ok {
		return reader{}, false
	}
	switch t := transform.(type) {
	case iceberg.IdentityTransform:
		return base, true
	case iceberg.BucketTransform:
		return bucketReader(base, kind, t)
	case iceberg.TruncateTransform:
		return truncateReader(base, kind, int64(t.Width))
	case iceberg.YearTransform, iceberg.MonthTransform, iceberg.DayTransform, iceberg.HourTransform:
		return calendarReader(base, kind, transform)
	}
	return reader{}, false
}

// distinct gives for each row which of the distinct values it has; mask, where it is not nil, says which rows have one.
func (r *reader) distinct(values arrow.Array, mask []bool) ([]uint32, []distinctValue) {
	if r.numbers != nil {
		at := r.numbers(values)
		return distinctOf(values.Len(), mask, at, func(v int64) distinctValue {
			return distinctValue{key: string(binary.BigEndian.AppendUint64(nil, uint64(v))), value: r.number(v)} //nolint:gosec // the bits
		})
	}
	return distinctOf(values.Len(), mask, r.texts(values), func(v string) distinctValue {
		v = strings.Clone(v) // the batch goes
		return distinctValue{key: v, value: r.text(v)}
	})
}

func distinctOf[K comparable](n int, mask []bool, at func(int) K, value func(K) distinctValue) ([]uint32, []distinctValue) {
	codes, out, known := make([]uint32, n), []distinctValue{}, map[K]uint32{}
	null := uint32(math.MaxUint32)
	var last K
	var lastCode uint32
	some := false
	for i := range n {
		if mask != nil && !mask[i] {
			if null == math.MaxUint32 {
				null = uint32(len(out)) //nolint:gosec // no more than rows
				out = append(out, distinctValue{})
			}
			codes[i] = null
			continue
		}
		v := at(i)
		if !some || v != last {
			code, ok := known[v]
			if !ok {
				code = uint32(len(out)) //nolint:gosec // no more than rows
				known[v] = code
				out = append(out, value(v))
			}
			last, lastCode, some = v, code, true
		}
		codes[i] = lastCode
	}
	return codes, out
}

// identityReader reads values as they are.
func identityReader(kind arrow.DataType) (reader, bool) {
	switch storageType(kind).ID() {
	case arrow.BOOL, arrow.INT32, arrow.INT64, arrow.FLOAT32, arrow.FLOAT64:
		return plainReader(kind), true
	case arrow.DATE32, arrow.TIME64, arrow.TIMESTAMP:
		return timeReader(kind), true
	case arrow.STRING, arrow.BINARY, arrow.FIXED_SIZE_BINARY, arrow.DECIMAL128:
		return byteReader(kind), true
	}
	return reader{}, false
}

//nolint:forcetypeassert // the arrays are of the type
func plainReader(kind arrow.DataType) reader {
	switch kind.ID() {
	case arrow.BOOL:
		return reader{
			numbers: func(a arrow.Array) func(int) int64 {
				c := a.(*array.Boolean)
				return func(i int) int64 {
					if c.Value(i) {
						return 1
					}
					return 0
				}
			},
			number: func(v int64) any { return v == 1 },
		}
	case arrow.INT32:
		return reader{numbers: numbersOf(func(a arrow.Array) []int32 { return a.(*array.Int32).Int32Values() }), number: int32Value}
	case arrow.FLOAT32:
		return reader{
			numbers: func(a arrow.Array) func(int) int64 {
				values := a.(*array.Float32).Float32Values()
				return func(i int) int64 { return int64(math.Float32bits(sameNaN(values[i]))) }
			},
			number: func(v int64) any { return math.Float32frombits(uint32(v)) }, //nolint:gosec // the bits
		}
	case arrow.FLOAT64:
		return reader{
			numbers: func(a arrow.Array) func(int) int64 {
				values := a.(*array.Float64).Float64Values()
				return func(i int) int64 { return int64(math.Float64bits(sameNaN(values[i]))) } //nolint:gosec // the bits
			},
			number: func(v int64) any { return math.Float64frombits(uint64(v)) }, //nolint:gosec // the bits
		}
	}
	return reader{numbers: numbersOf(func(a arrow.Array) []int64 { return a.(*array.Int64).Int64Values() }), number: func(v int64) any { return v }}
}

// sameNaN makes one value of all that are not a number.
func sameNaN[T float32 | float64](v T) T {
	if math.IsNaN(float64(v)) {
		return T(math.NaN())
	}
	return v
}

func int32Value(v int64) any { return int32(v) } //nolint:gosec // it was one

//nolint:forcetypeassert // the arrays are of the type
func timeReader(kind arrow.DataType) reader {
	switch kind.ID() {
	case arrow.DATE32:
		return reader{
			numbers: numbersOf(func(a arrow.Array) []arrow.Date32 { return a.(*array.Date32).Date32Values() }),
			number:  func(v int64) any { return iceberg.Date(v) }, //nolint:gosec // it was one
		}
	case arrow.TIME64:
		return reader{
			numbers: numbersOf(func(a arrow.Array) []arrow.Time64 { return a.(*array.Time64).Time64Values() }),
			number:  func(v int64) any { return iceberg.Time(v) },
		}
	}
	r := reader{
		numbers: numbersOf(func(a arrow.Array) []arrow.Timestamp { return a.(*array.Timestamp).TimestampValues() }),
		number:  func(v int64) any { return iceberg.Timestamp(v) },
	}
	if isNanos(kind) {
		r.number = func(v int64) any { return iceberg.TimestampNano(v) }
	}
	return r
}

func isNanos(kind arrow.DataType) bool {
	t, ok := kind.(*arrow.TimestampType)
	return ok && t.Unit == arrow.Nanosecond
}

func numbersOf[T number](values func(arrow.Array) []T) func(arrow.Array) func(int) int64 {
	return func(a arrow.Array) func(int) int64 {
		v := values(a)
		return func(i int) int64 { return int64(v[i]) }
	}
}

//nolint:forcetypeassert // the arrays are of the type
func byteReader(kind arrow.DataType) reader {
	switch t := kind.(type) {
	case *arrow.StringType:
		return reader{
			texts: func(a arrow.Array) func(int) string { return a.(*array.String).Value },
			text:  func(s string) any { return s },
		}
	case *arrow.Decimal128Type:
		return reader{
			texts: func(a arrow.Array) func(int) string {
				c := a.(*array.Decimal128)
				return func(i int) string { return string(unscaled(c.Value(i))) }
			},
			text: func(s string) any { return iceberg.Decimal{Val: decimalOf(s), Scale: int(t.Scale)} },
		}
	}
	r := reader{
		texts: func(a arrow.Array) func(int) string {
			c := a.(interface{ Value(int) []byte })
			return func(i int) string { return string(c.Value(i)) }
		},
		text: func(s string) any { return []byte(s) },
	}
	if _, isUUID := kind.(arrow.ExtensionType); isUUID {
		r.text = func(s string) any { return uuid.UUID([]byte(s)) }
	}
	return r
}

// decimalOf reads what unscaled wrote.
func decimalOf(b string) decimal128.Num {
	n := new(big.Int).SetBytes([]byte(b))
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b)))) //nolint:gosec // no more than 128
	}
	return decimal128.FromBigInt(n)
}

// bucketReader hashes values as iceberg-go does.
func bucketReader(base reader, kind arrow.DataType, t iceberg.BucketTransform) (reader, bool) {
	bucket := func(v iceberg.Literal) int64 {
		n, _ := t.Apply(iceberg.Optional[iceberg.Literal]{Valid: true, Val: v}).Val.(iceberg.Int32Literal) // of these types there always is one
		return int64(n)
	}
	number := func(v int64) iceberg.Literal { return iceberg.Int64Literal(v) }
	text := func(v string) iceberg.Literal { return iceberg.StringLiteral(v) }
	switch k := kind.(type) {
	case *arrow.Int32Type, *arrow.Int64Type, *arrow.Date32Type, *arrow.Time64Type:
	case *arrow.StringType, *arrow.BinaryType, *arrow.FixedSizeBinaryType, arrow.ExtensionType:
	case *arrow.TimestampType:
		if isNanos(k) {
			number = func(v int64) iceberg.Literal { return iceberg.TimestampNsLiteral(v) }
		}
	case *arrow.Decimal128Type:
		text = func(v string) iceberg.Literal { return iceberg.DecimalLiteral{Val: decimalOf(v), Scale: int(k.Scale)} }
	default:
		return reader{}, false
	}
	return reader{number: int32Value, numbers: func(a arrow.Array) func(int) int64 {
		if base.numbers != nil {
			at := base.numbers(a)
			return func(i int) int64 { return bucket(number(at(i))) }
		}
		at := base.texts(a)
		return func(i int) int64 { return bucket(text(at(i))) }
	}}, t.NumBuckets > 0
}

// truncateReader cuts values down to a width.
func truncateReader(base reader, kind arrow.DataType, width int64) (reader, bool) {
	if width <= 0 {
		return reader{}, false
	}
	out := reader{number: base.number, text: base.text}
	var shorter func(string) string
	switch kind.(type) {
	case *arrow.Int32Type, *arrow.Int64Type:
		out.numbers = func(a arrow.Array) func(int) int64 {
			at := base.numbers(a)
			return func(i int) int64 { return at(i) - floorMod(at(i), width) }
		}
		return out, true
	case *arrow.StringType:
		shorter = func(s string) string { return cut(s, int(width)) }
	case *arrow.BinaryType:
		shorter = func(s string) string { return s[:min(int64(len(s)), width)] }
	case *arrow.Decimal128Type:
		w := big.NewInt(width)
		shorter = func(s string) string {
			n := decimalOf(s).BigInt()
			return string(unscaled(decimal128.FromBigInt(n.Sub(n, new(big.Int).Mod(n, w)))))
		}
	default:
		return reader{}, false
	}
	out.texts = func(a arrow.Array) func(int) string {
		at := base.texts(a)
		return func(i int) string { return shorter(at(i)) }
	}
	return out, true
}

func floorMod(v, width int64) int64 { return ((v % width) + width) % width }

func floorDiv(v, by int64) int64 {
	q := v / by
	if v%by < 0 {
		q--
	}
	return q
}

const (
	secondsOfHour = 60 * 60
	secondsOfDay  = 24 * secondsOfHour
)

// calendarReader counts whole years, months, days or hours since 1970, down.
func calendarReader(base reader, kind arrow.DataType, transform iceberg.Transform) (reader, bool) {
	count, byHour := calendar(transform)
	var seconds func(int64) int64
	switch t := kind.(type) {
	case *arrow.Date32Type:
		if byHour {
			return reader{}, false
		}
		seconds = func(v int64) int64 { return v * secondsOfDay }
	case *arrow.TimestampType:
		unit := int64(1_000_000)
		if t.Unit == arrow.Nanosecond {
			unit = 1_000_000_000
		}
		seconds = func(v int64) int64 { return floorDiv(v, unit) }
	default:
		return reader{}, false
	}
	out := reader{number: int32Value, numbers: func(a arrow.Array) func(int) int64 {
		at := base.numbers(a)
		return func(i int) int64 { return count(seconds(at(i))) }
	}}
	if _, daily := transform.(iceberg.DayTransform); daily {
		out.number = func(v int64) any { return iceberg.Date(v) } //nolint:gosec // millions of years fit
	}
	return out, true
}

func calendar(transform iceberg.Transform) (count func(seconds int64) int64, byHour bool) {
	switch transform.(type) {
	case iceberg.HourTransform:
		return func(s int64) int64 { return floorDiv(s, secondsOfHour) }, true
	case iceberg.DayTransform:
		return func(s int64) int64 { return floorDiv(s, secondsOfDay) }, false
	case iceberg.MonthTransform:
		return func(s int64) int64 {
			at := time.Unix(s, 0).UTC()
			return int64(at.Year()-1970)*12 + int64(at.Month()) - 1
		}, false
	}
	return func(s int64) int64 { return int64(time.Unix(s, 0).UTC().Year() - 1970) }, false
}
