package rows

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/sluice-data/sluice/internal/fault"
)

// cells joins an array to the column that its values go to. Errors: fault.Invalid when the types do not go together.
func (t *table) cells(a arrow.Array, c *column, path string) (cells, error) {
	v := cells{array: a, column: c}
	var err error
	switch from := a.(type) {
	case *array.Null:
		v.add = func(int) bool { return false }
	case *array.Dictionary:
		var values cells
		if values, err = t.cells(from.Dictionary(), c, path); err == nil {
			v.add = func(i int) bool {
				t.arrowValue(&values, from.GetValueIndex(i))
				return true
			}
		}
	case array.ExtensionArray:
		v.add, err = t.adder(from.Storage(), c, path)
	default:
		v.add, err = t.adder(a, c, path)
	}
	if err == nil && v.add == nil {
		err = fault.New(fault.Invalid, "Column %s is of type %s in the Arrow stream and of type %s in the table: cast it.", path, a.DataType(), c.field.Type)
	}
	return v, err
}

// arrowValue adds value i, NULL when it is wrong, which it says.
func (t *table) arrowValue(v *cells, i int) {
	if v.array.IsNull(i) {
		if !v.column.field.Nullable {
			t.fail("is required and is null")
		}
		v.column.null()
		return
	}
	if !v.add(i) {
		v.column.null()
	}
}

// adder gives what adds the values of an array to a column, nil when they do not go together.
func (t *table) adder(a arrow.Array, c *column, path string) (func(i int) bool, error) {
	switch c.kind {
	case structs, lists, maps:
		return t.nestedAdder(a, c, path)
	case booleans:
		if from, ok := a.(*array.Boolean); ok {
			return func(i int) bool { c.addBoolean(from.Value(i)); return true }, nil
		}
	case integers:
		return t.integerAdder(a, c), nil
	case floats, doubles:
		return t.floatAdder(a, c), nil
	case decimals:
		return t.decimalAdder(a, c), nil
	case dates, times, timestamps:
		return t.temporalAdder(a, c), nil
	case texts, uuids, binaries, fixeds:
		return t.bytesAdder(a, c), nil
	}
	return nil, nil
}

// wholes gives a reader of arrays of whole numbers, nil for others. ok is false for what an int64 cannot hold.
func wholes(a arrow.Array) func(i int) (v int64, ok bool) {
	switch from := a.(type) {
	case *array.Int64:
		return func(i int) (int64, bool) { return from.Value(i), true }
	case *array.Int32:
		return func(i int) (int64, bool) { return int64(from.Value(i)), true }
	case *array.Int16:
		return func(i int) (int64, bool) { return int64(from.Value(i)), true }
	case *array.Int8:
		return func(i int) (int64, bool) { return int64(from.Value(i)), true }
	case *array.Uint64:
		return func(i int) (int64, bool) { return int64(from.Value(i)), from.Value(i) <= math.MaxInt64 }
	case *array.Uint32:
		return func(i int) (int64, bool) { return int64(from.Value(i)), true }
	case *array.Uint16:
		return func(i int) (int64, bool) { return int64(from.Value(i)), true }
	case *array.Uint8:
		return func(i int) (int64, bool) { return int64(from.Value(i)), true }
	}
	return nil
}

func reals(a arrow.Array) func(i int) float64 {
	switch from := a.(type) {
	case *array.Float64:
		return from.Value
	case *array.Float32:
		return func(i int) float64 { return float64(from.Value(i)) }
	case *array.Float16:
		return func(i int) float64 { return float64(from.Value(i).Float32()) }
	}
	return nil
}

func (t *table) integerAdder(a arrow.Array, c *column) func(i int) bool {
	take := wholes(a)
	if take == nil {
		real := reals(a)
		if real == nil {
			return nil
		}
		take = func(i int) (int64, bool) { // as data frames keep whole numbers with gaps
			const beyond = 1 << 63
			v := real(i)
			if v != math.Trunc(v) || v < -beyond || v >= beyond {
				return 0, false
			}
			return int64(v), true
		}
	}
	return func(i int) bool {
		v, ok := take(i)
		if !ok || (c.integerBits == 32 && (v < math.MinInt32 || v > math.MaxInt32)) {
			return t.wrong([]byte(a.ValueStr(i)), "has a fraction or "+outside(c.integerBits))
		}
		c.addInteger(v)
		return true
	}
}

func (t *table) floatAdder(a arrow.Array, c *column) func(i int) bool {
	if take := reals(a); take != nil {
		return func(i int) bool {
			v := take(i)
			if c.kind == floats && v == v && float64(float32(v)) != v {
				return t.wrong([]byte(a.ValueStr(i)), "is no float of 32 bits exactly: cast the column to float32")
			}
			c.addFloat(v)
			return true
		}
	}
	take := wholes(a)
	if take == nil {
		return nil
	}
	return func(i int) bool {
		v, ok := take(i)
		most := int64(1) << 53
		if c.kind == floats {
			most = 1 << 24
		}
		if !ok || v > most || v < -most {
			return t.wrong([]byte(a.ValueStr(i)), "has more digits than the column keeps: cast the column")
		}
		c.addFloat(float64(v))
		return true
	}
}

func (t *table) decimalAdder(a arrow.Array, c *column) func(i int) bool {
	var digits func(i int) []byte // in JSON's writing
	if take := wholes(a); take != nil {
		digits = func(i int) []byte { return []byte(a.ValueStr(i)) }
	}
	var room []byte
	switch from := a.(type) {
	case *array.Decimal128:
		scale := int(from.DataType().(*arrow.Decimal128Type).Scale)
		if scale == c.scale {
			return func(i int) bool { return t.sameScale(c, from.Value(i)) }
		}
		if scale >= 0 {
			digits = func(i int) []byte {
				room = appendDecimal(room[:0], from.Value(i), scale)
				return room
			}
		}
	case *array.Decimal32, *array.Decimal64, *array.Decimal256:
		digits = func(i int) []byte { return []byte(a.ValueStr(i)) }
	}
	if digits == nil {
		return nil
	}
	return func(i int) bool {
		return t.decimal(c, digits(i))
	}
}

// decimal adds a number that is written down to a column of decimals.
func (t *table) decimal(c *column, text []byte) bool {
	var room [96]byte
	n, ok := parseNumber(text, room[:0])
	if !ok {
		return t.wrong(text, "is no decimal number")
	}
	v, message := n.integer(c.precision, c.scale)
	if message != "" {
		return t.wrong(text, message)
	}
	c.addWide(v.LowBits(), uint64(v.HighBits()))
	return true
}

func (t *table) sameScale(c *column, v decimal128.Num) bool {
	if !fitsDigits(v, c.precision) {
		return t.wrong(nil, "has more digits than the column can hold: at most "+fmt.Sprint(c.precision))
	}
	c.addWide(v.LowBits(), uint64(v.HighBits()))
	return true
}

func (t *table) bytesAdder(a arrow.Array, c *column) func(i int) bool {
	if text := texting(a); text != nil && (c.kind == texts || c.kind == uuids) {
		return func(i int) bool {
			v := text(i)
			if !t.spend(len(v)) {
				return false
			}
			if !utf8.ValidString(v) {
				return t.wrong(nil, "is text that is not valid UTF-8")
			}
			return t.textValue(c, []byte(v))
		}
	}
	raw := bytesOf(a)
	if raw == nil || c.kind == texts {
		return nil
	}
	return func(i int) bool {
		v := raw(i)
		if !t.spend(len(v)) {
			return false
		}
		if c.width > 0 && len(v) != c.width {
			return t.wrong(nil, fmt.Sprintf("has %d bytes, and the column takes exactly %d", len(v), c.width))
		}
		c.addBytes(v)
		return true
	}
}

// texting gives a reader of arrays of text, nil for others.
func texting(a arrow.Array) func(i int) string {
	switch from := a.(type) {
	case *array.String:
		return from.Value
	case *array.LargeString:
		return from.Value
	case *array.StringView:
		return from.Value
	}
	return nil
}

// bytesOf gives a reader of arrays of bytes, nil for others.
func bytesOf(a arrow.Array) func(i int) []byte {
	switch from := a.(type) {
	case *array.Binary:
		return from.Value
	case *array.LargeBinary:
		return from.Value
	case *array.BinaryView:
		return from.Value
	case *array.FixedSizeBinary:
		return from.Value
	}
	return nil
}
