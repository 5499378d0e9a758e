package expression

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// selectTransformed tests the transforms of the valid rows one by one. A value that cannot be transformed passes nothing.
func (p *predicate) selectTransformed(a arrow.Array, valid Bitmap) (Bitmap, error) {
	if p.op == opIsNull || p.op == opNotNull {
		if p.op == opIsNull {
			valid.invert()
		}
		return valid, nil // only NULL becomes NULL
	}
	get := valueGetter(a)
	if get == nil {
		return Bitmap{}, p.wrongArray(a)
	}
	base, inverted := p.op.base()
	for i := range valid.Rows() {
		v := get(i)
		if !p.column.Type.holds(v) {
			return Bitmap{}, p.wrongArray(a)
		}
		w, ok := apply(p.transform, p.column.Type, v)
		if !ok || p.passes(base, w) == inverted {
			valid.Remove(i)
		}
	}
	return valid, nil
}

// passes tells whether a base operator is true of a value.
func (t test) passes(base op, v any) bool {
	switch base {
	case opLess:
		return compare(v, t.values[0]) < 0
	case opLessEqual:
		return compare(v, t.values[0]) <= 0
	case opStartsWith:
		return t.isPrefixOf(v)
	case opIn:
		return t.among(v)
	}
	return false
}

// valueGetter gives a function that reads a value as it is held here; nil for arrays of types that no transform takes.
func valueGetter(a arrow.Array) func(i int) any {
	switch a := a.(type) {
	case *array.Int32:
		return func(i int) any { return int64(a.Value(i)) }
	case *array.Int64:
		return func(i int) any { return a.Value(i) }
	case *array.Date32:
		return func(i int) any { return int64(a.Value(i)) }
	case *array.Time64:
		return func(i int) any { return int64(a.Value(i)) }
	case *array.Timestamp:
		return func(i int) any { return int64(a.Value(i)) }
	case *array.Decimal128:
		unit := pow10(int(a.DataType().(interface{ GetScale() int32 }).GetScale()))
		return func(i int) any { return new(big.Rat).SetFrac(a.Value(i).BigInt(), unit) }
	case *array.String:
		return func(i int) any { return a.Value(i) }
	case *array.LargeString:
		return func(i int) any { return a.Value(i) }
	case *array.Binary:
		return func(i int) any { return string(a.Value(i)) }
	case *array.LargeBinary:
		return func(i int) any { return string(a.Value(i)) }
	case *array.FixedSizeBinary:
		return func(i int) any { return string(a.Value(i)) }
	}
	return nil
}
