package tableio

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// extremes keeps the least and the greatest value of a column.
type extremes interface {
	// add looks at the values of a column of the collector's type; mask, where it is not nil, says which are there.
	add(column arrow.Array, mask []bool)
	// bounds gives both in Iceberg's binary form, texts and bytes of no more than so many characters or bytes, 0 for all
	// of them. nil: there is none that is of use.
	bounds(length int) (low, high []byte)
}

// newExtremes makes the collector for a type; nil for one that has no bounds.
func newExtremes(kind arrow.DataType) extremes {
	switch kind.ID() {
	case arrow.BOOL:
		return &bitExtremes{}
	case arrow.INT32:
		return &numberExtremes[int32]{values: func(a arrow.Array) []int32 { return a.(*array.Int32).Int32Values() }} //nolint:forcetypeassert // the type's
	case arrow.DATE32:
		return &numberExtremes[arrow.Date32]{values: func(a arrow.Array) []arrow.Date32 { return a.(*array.Date32).Date32Values() }} //nolint:forcetypeassert // the type's
	case arrow.INT64:
		return &numberExtremes[int64]{values: func(a arrow.Array) []int64 { return a.(*array.Int64).Int64Values() }} //nolint:forcetypeassert // the type's
	case arrow.TIME64:
		return &numberExtremes[arrow.Time64]{values: func(a arrow.Array) []arrow.Time64 { return a.(*array.Time64).Time64Values() }} //nolint:forcetypeassert // the type's
	case arrow.TIMESTAMP:
		return &numberExtremes[arrow.Timestamp]{values: func(a arrow.Array) []arrow.Timestamp { return a.(*array.Timestamp).TimestampValues() }} //nolint:forcetypeassert // the type's
	case arrow.FLOAT32:
		return &floatExtremes[float32]{values: func(a arrow.Array) []float32 { return a.(*array.Float32).Float32Values() }} //nolint:forcetypeassert // the type's
	case arrow.FLOAT64:
		return &floatExtremes[float64]{values: func(a arrow.Array) []float64 { return a.(*array.Float64).Float64Values() }} //nolint:forcetypeassert // the type's
	case arrow.DECIMAL128:
		return &decimalExtremes{}
	case arrow.STRING:
		return &textExtremes{}
	case arrow.BINARY, arrow.FIXED_SIZE_BINARY:
		return &byteExtremes{}
	}
	return nil
}

// number is a type whose values are ordered, and stored as they are.
type number interface {
	~int32 | ~int64
}

type numberExtremes[T number] struct {
	values    func(arrow.Array) []T
	low, high T
	some      bool
}

func (e *numberExtremes[T]) add(column arrow.Array, mask []bool) {
	for i, v := range e.values(column) {
		if mask != nil && !mask[i] {
			continue
		}
		if !e.some {
			e.low, e.high, e.some = v, v, true
			continue
		}
		e.low, e.high = min(e.low, v), max(e.high, v)
	}
}

func (e *numberExtremes[T]) bounds(int) (low, high []byte) {
	if !e.some {
		return nil, nil
	}
	return littleEndian(e.low), littleEndian(e.high)
}

func littleEndian(v any) []byte {
	out, _ := binary.Append(nil, binary.LittleEndian, v) // a number of a fixed size
	return out
}

// floatExtremes keeps those of numbers that are not NaN, and counts the others.
type floatExtremes[T float32 | float64] struct {
	values    func(arrow.Array) []T
	low, high T
	some      bool
	nans      int64
}

func (e *floatExtremes[T]) add(column arrow.Array, mask []bool) {
	for i, v := range e.values(column) {
		if mask != nil && !mask[i] {
			continue
		}
		switch {
		case math.IsNaN(float64(v)):
			e.nans++
		case !e.some:
			e.low, e.high, e.some = v, v, true
		default:
			e.low, e.high = min(e.low, v), max(e.high, v)
		}
	}
}

// nanCount is how many values were NaN.
func (e *floatExtremes[T]) nanCount() int64 { return e.nans }

// bounds takes both zeros for one: a reader may order them or not.
func (e *floatExtremes[T]) bounds(int) (low, high []byte) {
	if !e.some {
		return nil, nil
	}
	if e.low == 0 {
		e.low = T(math.Copysign(0, -1))
	}
	if e.high == 0 {
		e.high = 0
	}
	return littleEndian(e.low), littleEndian(e.high)
}

type bitExtremes struct{ no, yes bool }

func (e *bitExtremes) add(column arrow.Array, mask []bool) {
	c := column.(*array.Boolean) //nolint:forcetypeassert // the type's
	for i := range c.Len() {
		if mask != nil && !mask[i] {
			continue
		}
		if c.Value(i) {
			e.yes = true
		} else {
			e.no = true
		}
	}
}

func (e *bitExtremes) bounds(int) (low, high []byte) {
	if !e.no && !e.yes {
		return nil, nil
	}
	low, high = []byte{1}, []byte{0}
	if e.no {
		low[0] = 0
	}
	if e.yes {
		high[0] = 1
	}
	return low, high
}

type decimalExtremes struct {
	low, high decimal128.Num
	some      bool
}

func (e *decimalExtremes) add(column arrow.Array, mask []bool) {
	c := column.(*array.Decimal128) //nolint:forcetypeassert // the type's
	for i, v := range c.Values() {
		if mask != nil && !mask[i] {
			continue
		}
		if !e.some {
			e.low, e.high, e.some = v, v, true
			continue
		}
		if v.Less(e.low) {
			e.low = v
		}
		if v.Greater(e.high) {
			e.high = v
		}
	}
}

func (e *decimalExtremes) bounds(int) (low, high []byte) {
	if !e.some {
		return nil, nil
	}
	return unscaled(e.low), unscaled(e.high)
}

// unscaled gives a decimal's digits as Iceberg does: two's complement, big-endian, in as few bytes as will do.
func unscaled(n decimal128.Num) []byte {
	raw := binary.BigEndian.AppendUint64(nil, uint64(n.HighBits())) //nolint:gosec // the bits
	raw = binary.BigEndian.AppendUint64(raw, n.LowBits())
	sign := byte(n.HighBits() >> 63) //nolint:gosec // 0 or all ones
	for len(raw) > 1 && raw[0] == sign && raw[1]&0x80 == sign&0x80 {
		raw = raw[1:]
	}
	return raw
}

// textExtremes keeps those of texts, by their bytes, which is by their characters too.
type textExtremes struct {
	low, high string
	some      bool
}

func (e *textExtremes) add(column arrow.Array, mask []bool) {
	c := column.(*array.String) //nolint:forcetypeassert // the type's
	low, high, some := between(c.Len(), mask, c.Value, cmp.Compare[string])
	if !some {
		return
	}
	if !e.some || low < e.low {
		e.low = strings.Clone(low) // the batch goes
	}
	if !e.some || high > e.high {
		e.high = strings.Clone(high)
	}
	e.some = true
}

func (e *textExtremes) bounds(length int) (low, high []byte) {
	if !e.some {
		return nil, nil
	}
	if length == 0 {
		return []byte(e.low), []byte(e.high)
	}
	if text, ok := cutUp(e.high, length); ok {
		high = []byte(text)
	}
	return []byte(cut(e.low, length)), high
}

type byteExtremes struct {
	low, high []byte
	some      bool
}

func (e *byteExtremes) add(column arrow.Array, mask []bool) {
	c := column.(interface{ Value(int) []byte }) //nolint:forcetypeassert // binary and fixed both have it
	low, high, some := between(column.Len(), mask, c.Value, bytes.Compare)
	if !some {
		return
	}
	if !e.some || bytes.Compare(low, e.low) < 0 {
		e.low = bytes.Clone(low)
	}
	if !e.some || bytes.Compare(high, e.high) > 0 {
		e.high = bytes.Clone(high)
	}
	e.some = true
}

func (e *byteExtremes) bounds(length int) (low, high []byte) {
	if !e.some {
		return nil, nil
	}
	if length == 0 || len(e.high) <= length {
		high = append([]byte{}, e.high...)
	} else {
		high = raised(e.high[:length])
	}
	if length == 0 {
		length = len(e.low)
	}
	return append([]byte{}, e.low[:min(len(e.low), length)]...), high
}

// raised gives bytes that are greater than all that begin with these; nil where there are none.
func raised(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != math.MaxUint8 {
			out := bytes.Clone(prefix[:i+1])
			out[i]++
			return out
		}
	}
	return nil
}

// between gives the least and the greatest of n values.
func between[T any](n int, mask []bool, at func(int) T, compare func(T, T) int) (low, high T, some bool) {
	for i := range n {
		if mask != nil && !mask[i] {
			continue
		}
		v := at(i)
		if !some {
			low, high, some = v, v, true
			continue
		}
		if compare(v, low) < 0 {
			low = v
		}
		if compare(v, high) > 0 {
			high = v
		}
	}
	return low, high, some
}

// cut gives the first characters of a text: not greater than it.
func cut(s string, length int) string {
	n := 0
	for i := range s {
		if n == length {
			return s[:i]
		}
		n++
	}
	return s
}

// cutUp gives a text of as many characters that is not less; false where there is none.
func cutUp(s string, length int) (string, bool) {
	short := cut(s, length)
	if short == s {
		return s, true
	}
	runes := []rune(short)
	for i := len(runes) - 1; i >= 0; i-- {
		next := runes[i] + 1
		if next == 0xD800 { // the surrogates are no characters
			next = 0xE000
		}
		if utf8.ValidRune(next) {
			return string(append(runes[:i:i], next)), true
		}
	}
	return "", false
}
