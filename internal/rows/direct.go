package rows

import (
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// cells is one column of a stream, or of what is nested in one, with the column of the table that it goes to.
type cells struct {
	array  arrow.Array // nil for a column that the stream has not
	column *column
	add    func(i int) bool // adds value i, which is not NULL; where it is wrong it says so and gives false
	direct bool             // the values need no conversion and have no parts
}

// supported refuses types whose arrays hold more than their buffers say, or that tables have nothing like.
func supported(of arrow.DataType) error {
	switch t := of.(type) {
	case arrow.UnionType, *arrow.RunEndEncodedType, *arrow.ListViewType, *arrow.LargeListViewType:
		return errFlat
	case *arrow.DictionaryType:
		return supported(t.ValueType)
	case arrow.ExtensionType:
		return supported(t.StorageType())
	case arrow.NestedType:
		for _, f := range t.Fields() {
			if err := supported(f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// direct tells whether an array is of a column's type and without parts.
func direct(a arrow.Array, c *column) bool {
	if c.kind >= lists {
		return false
	}
	if from, ok := a.DataType().(*arrow.TimestampType); ok && c.kind == timestamps {
		return unitDigits(from.Unit) == c.digits && (from.TimeZone != "") == c.zoned
	}
	return arrow.TypeEqual(a.DataType(), c.field.Type)
}

// clean tells whether n values from a place on can be passed on as they are. The array was not checked before.
func (c *cells) clean(from, n int, most int64) bool {
	buffers := c.array.Data().Buffers()
	from += c.array.Data().Offset()
	if nulls(buffers, from, n) > 0 && !c.column.field.Nullable {
		return false
	}
	return c.whole(buffers, from, n) && c.values(from-c.array.Data().Offset(), n, most)
}

// nulls counts the values that are NULL. It panics when the bitmap is too short.
func nulls(buffers []*memory.Buffer, from, n int) int {
	if len(buffers) == 0 || buffers[0] == nil || buffers[0].Len() == 0 {
		return 0
	}
	bits := buffers[0].Bytes()
	if len(bits)*bitsOfByte < from+n {
		panic(fmt.Errorf("%w: a bitmap of %d bytes for %d values", errFlat, len(bits), from+n))
	}
	return n - bitutil.CountSetBits(bits, from, n)
}

// whole tells whether the buffer of a type of fixed width has all values.
func (c *cells) whole(buffers []*memory.Buffer, from, n int) bool {
	if c.column.offsets != nil {
		return true
	}
	if buffers[1] == nil {
		return n == 0
	}
	if c.column.kind == booleans {
		return buffers[1].Len()*bitsOfByte >= from+n
	}
	return buffers[1].Len() >= (from+n)*c.column.width
}

// values looks at the values of types that can hold what the table's type cannot.
func (c *cells) values(from, n int, most int64) bool {
	for i := from; i < from+n; i++ {
		switch a := c.array.(type) {
		case *array.String:
			if v := a.Value(i); int64(len(v)) > most || !utf8.ValidString(v) {
				return false
			}
		case *array.Binary:
			if int64(len(a.Value(i))) > most {
				return false
			}
		case *array.Decimal128:
			if !a.IsNull(i) && !fitsDigits(a.Value(i), c.column.precision) {
				return false
			}
		case *array.Time64:
			if v := int64(a.Value(i)); !a.IsNull(i) && (v < 0 || v >= secondsOfDay*power10(c.column.digits)) {
				return false
			}
		default:
			return true
		}
	}
	return true
}

func fitsDigits(v decimal128.Num, precision int) bool { return v.FitsInPrecision(int32(precision)) }

// size gives about how many bytes n values take.
func (c *cells) size(from, n int) int64 {
	switch a := c.array.(type) {
	case *array.String:
		return span(a.ValueOffsets(), from, n)
	case *array.Binary:
		return span(a.ValueOffsets(), from, n)
	}
	return int64(n) * int64(max(c.column.width, 1))
}

func span(offsets []int32, from, n int) int64 { return int64(offsets[from+n]) - int64(offsets[from]) }

// retyped gives n values of an array as the table's type, which may differ in names and zones.
func retyped(a arrow.Array, c *column, from, n int) arrow.Array {
	data := a.Data()
	at := data.Offset() + from
	buffers := append([]*memory.Buffer(nil), data.Buffers()...)
	count := nulls(buffers, at, n)
	if count == 0 {
		buffers[0] = nil
	}
	same := array.NewData(c.field.Type, n, buffers, nil, count, at)
	defer same.Release()
	return array.MakeFromData(same)
}
