package expression

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/fault"
)

// lookup gives the values of a column.
type lookup func(fieldID int) (arrow.Array, error)

// Select tells which of a number of rows pass. column gives the values of a field that Columns lists, and may be asked
// for one more than once, or not at all where other tests decide: of a field within structs those of the leaf, NULL where
// a parent is. Errors are those of column and of Evaluable, and fault.Internal for an array that is not of its column's
// type or length.
//
// No set of rows of which the filter is FALSE is kept: negations are in the predicates, and where a predicate is TRUE
// says enough for the junctions above it.
func (f *Filter) Select(column func(fieldID int) (arrow.Array, error), rows int) (Bitmap, error) {
	if err := f.Evaluable(); err != nil {
		return Bitmap{}, err
	}
	return f.root.selectRows(column, rows)
}

func (c constant) selectRows(_ lookup, rows int) (Bitmap, error) {
	return NewBitmap(rows, bool(c)), nil
}

func (j junction) selectRows(column lookup, rows int) (Bitmap, error) {
	left, err := j.left.selectRows(column, rows)
	if err != nil || j.and && left.None() || !j.and && left.All() {
		return left, err
	}
	right, err := j.right.selectRows(column, rows)
	if err != nil {
		return Bitmap{}, err
	}
	if j.and {
		left.And(right)
	} else {
		left.Or(right)
	}
	return left, nil
}

func (p *predicate) selectRows(column lookup, rows int) (Bitmap, error) {
	a, err := column(p.column.ID)
	if err != nil {
		return Bitmap{}, err
	}
	if a.Len() != rows {
		return Bitmap{}, fault.New(fault.Internal, "Column %q has %d rows where %d were to be filtered.", p.column.Path, a.Len(), rows)
	}
	if wrapped, ok := a.(array.ExtensionArray); ok {
		a = wrapped.Storage()
	}
	valid := validRows(a)
	switch {
	case p.op == opIsNull && p.transform == nil:
		valid.invert()
		return valid, nil
	case p.op == opNotNull && p.transform == nil || valid.None():
		return valid, nil
	case p.transform != nil:
		return p.selectTransformed(a, valid)
	}
	base, inverted := p.op.base()
	out, ok := p.passing(a, base)
	if !ok {
		return Bitmap{}, p.wrongArray(a)
	}
	if inverted {
		out.invert()
	}
	out.And(valid)
	return out, nil
}

func (p *predicate) wrongArray(a arrow.Array) error {
	return fault.New(fault.Internal, "Column %q of type %s was read as %s, which cannot be filtered.", p.column.Path, p.column.Type.name, a.DataType())
}

// base gives the test that an operator is, or is the inversion of, on values that are not NULL.
func (o op) base() (base op, inverted bool) {
	switch o {
	case opGreaterEqual, opGreater, opNotEqual, opNotIn, opNotStartsWith, opNotNaN:
		base, inverted = o.opposite(), true
	default:
		base = o
	}
	if base == opEqual {
		base = opIn
	}
	return base, inverted
}

// validRows gives the rows that are not NULL.
func validRows(a arrow.Array) Bitmap {
	switch a.NullN() {
	case 0:
		return NewBitmap(a.Len(), true)
	case a.Len():
		return NewBitmap(a.Len(), false)
	}
	return bitmapOf(a.NullBitmapBytes(), a.Data().Offset(), a.Len())
}

// bitmapOf copies bits as Arrow has them, the least significant first.
func bitmapOf(raw []byte, offset, rows int) Bitmap {
	out := NewBitmap(rows, false)
	raw, shift := raw[offset/8:], uint(offset%8) //nolint:gosec // an offset is not negative
	for at := range out.words {
		var chunk [9]byte
		copy(chunk[:], raw[min(at*8, len(raw)):])
		out.words[at] = binary.LittleEndian.Uint64(chunk[:8])>>shift | uint64(chunk[8])<<(64-shift)
	}
	out.trim()
	return out
}

// passing tells of which values a base operator is true; where a row is NULL it may say anything. It is false for an
// array of another type than the column.
func (p *predicate) passing(a arrow.Array, base op) (Bitmap, bool) {
	switch a := a.(type) {
	case *array.Boolean:
		if p.typ.kind == boolKind {
			return p.booleans(a, base), true
		}
	case *array.Int32:
		return numbersOf[int32, int64](a.Values(), base, p, p.typ.isWhole())
	case *array.Int64:
		return numbersOf[int64, int64](a.Values(), base, p, p.typ.isWhole())
	case *array.Date32:
		return numbersOf[arrow.Date32, int64](a.Values(), base, p, p.typ.name == typeDate)
	case *array.Time64:
		micros := a.DataType().(*arrow.Time64Type).Unit == arrow.Microsecond
		return numbersOf[arrow.Time64, int64](a.Values(), base, p, p.typ.name == typeTime && micros)
	case *array.Timestamp:
		return numbersOf[arrow.Timestamp, int64](a.Values(), base, p, p.typ.hasUnit(a.DataType().(*arrow.TimestampType).Unit))
	case *array.Float32:
		return numbersOf[float32, float64](a.Values(), base, p, p.typ.kind == floatKind)
	case *array.Float64:
		return numbersOf[float64, float64](a.Values(), base, p, p.typ.kind == floatKind)
	case *array.Decimal128:
		if p.typ.kind == decimalKind {
			return p.decimals(a, base), true
		}
	}
	return p.passingText(a, base)
}

func (p *predicate) passingText(a arrow.Array, base op) (Bitmap, bool) {
	switch a := a.(type) {
	case *array.String:
		return textsOf(spans[int32]{buffer(a, 2), a.ValueOffsets()}, base, p, p.typ.kind == stringKind)
	case *array.LargeString:
		return textsOf(spans[int64]{buffer(a, 2), a.ValueOffsets()}, base, p, p.typ.kind == stringKind)
	case *array.Binary:
		return textsOf(spans[int32]{buffer(a, 2), a.ValueOffsets()}, base, p, p.typ.kind == bytesKind)
	case *array.LargeBinary:
		return textsOf(spans[int64]{buffer(a, 2), a.ValueOffsets()}, base, p, p.typ.kind == bytesKind)
	case *array.FixedSizeBinary:
		return textsOf(fixedSpans(a), base, p, p.typ.kind == bytesKind)
	}
	return Bitmap{}, false
}

func (t Type) isWhole() bool { return t.name == typeInt || t.name == typeLong }

func (t Type) hasUnit(unit arrow.TimeUnit) bool {
	if t.isNanos() {
		return unit == arrow.Nanosecond
	}
	return t.isTimestamp() && unit == arrow.Microsecond
}

// buffer gives the bytes of a buffer that may be missing when it has none.
func buffer(a arrow.Array, at int) []byte {
	if b := a.Data().Buffers()[at]; b != nil {
		return b.Bytes()
	}
	return nil
}
