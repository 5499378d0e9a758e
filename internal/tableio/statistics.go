package tableio

import (
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/fault"
)

// boundLength is how much of a text a bound keeps, in characters.
const boundLength = 16

// statistics are those of a data file, by field id.
type statistics struct {
	rows         int64
	values       map[int]int64
	nulls        map[int]int64
	lower, upper map[int][]byte
}

// statisticsOf counts and bounds the columns of a batch. fault.Invalid: a required column has a null.
func statisticsOf(l *layout, batch arrow.RecordBatch) (statistics, error) {
	s := statistics{rows: batch.NumRows(), values: map[int]int64{}, nulls: map[int]int64{}, lower: map[int][]byte{}, upper: map[int][]byte{}}
	for i, f := range l.schema.Fields() {
		column := batch.Column(i)
		nulls := int64(column.NullN())
		if f.Required && nulls > 0 {
			return s, fault.New(fault.Invalid, "Column %s is required and %d of its values are null.", f.Name, nulls)
		}
		s.values[f.ID], s.nulls[f.ID] = s.rows, nulls
		low, high, err := boundsOf(column)
		if err != nil {
			return s, err
		}
		if low != nil {
			s.lower[f.ID] = low
		}
		if high != nil {
			s.upper[f.ID] = high
		}
	}
	return s, nil
}

// boundsOf gives the least and the greatest value as manifests have them; nil where there is none that is of use.
func boundsOf(column arrow.Array) (low, high []byte, err error) {
	switch c := column.(type) {
	case *array.Int64:
		return bounds(c, c.Value, func(v int64) iceberg.Literal { return iceberg.NewLiteral(v) })
	case *array.Int32:
		return bounds(c, c.Value, func(v int32) iceberg.Literal { return iceberg.NewLiteral(v) })
	case *array.Date32:
		return bounds(c, c.Value, func(v arrow.Date32) iceberg.Literal { return iceberg.NewLiteral(iceberg.Date(v)) })
	case *array.Timestamp:
		return bounds(c, c.Value, func(v arrow.Timestamp) iceberg.Literal { return iceberg.NewLiteral(iceberg.Timestamp(v)) })
	case *array.String:
		least, greatest, some := extremes(c, c.Value)
		if !some {
			return nil, nil, nil
		}
		low = []byte(cut(least))
		if text, ok := cutUp(greatest); ok {
			high = []byte(text)
		}
	}
	return low, high, nil
}

type ordered interface {
	~int32 | ~int64 | ~string
}

func bounds[T ordered](column arrow.Array, at func(int) T, literal func(T) iceberg.Literal) (low, high []byte, err error) {
	least, greatest, some := extremes(column, at)
	if !some {
		return nil, nil, nil
	}
	if low, err = encoded(literal(least)); err != nil {
		return nil, nil, err
	}
	high, err = encoded(literal(greatest))
	return low, high, err
}

func encoded(l iceberg.Literal) ([]byte, error) { return l.MarshalBinary() }

func extremes[T ordered](column arrow.Array, at func(int) T) (least, greatest T, some bool) {
	for i := range column.Len() {
		if column.IsNull(i) {
			continue
		}
		v := at(i)
		if !some {
			least, greatest, some = v, v, true
			continue
		}
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest, some
}

// cut gives the first characters of a text: not greater than it.
func cut(s string) string {
	n := 0
	for i := range s {
		if n == boundLength {
			return s[:i]
		}
		n++
	}
	return s
}

// cutUp gives a text of as many characters that is not less; false where there is none.
func cutUp(s string) (string, bool) {
	short := cut(s)
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
