package tableread

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Keys are the values of some columns in a row, in bytes that compare as the values do: NULL first, floats by their total
// order with NaN last, texts and binary values by their bytes. Equal values, and they alone, have equal bytes.

// The first byte of a value in a key.
const (
	keyNull  = 0x00
	keyValue = 0x01
	keyAbove = 0xff // of bounds alone: above all values
)

// encoder appends the key of a row.
type encoder func(out []byte, row int) []byte

// encoders gives an encoder for rows of several arrays.
func encoders(columns []arrow.Array) (encoder, error) {
	each := make([]encoder, len(columns))
	for i, a := range columns {
		e, err := encoderOf(a)
		if err != nil {
			return nil, err
		}
		each[i] = e
	}
	if len(each) == 1 {
		return each[0], nil
	}
	return func(out []byte, row int) []byte {
		for _, e := range each {
			out = e(out, row)
		}
		return out
	}, nil
}

func encoderOf(a arrow.Array) (encoder, error) {
	value, err := valueEncoder(a)
	if err != nil {
		return nil, err
	}
	hasNull := a.NullN() > 0
	return func(out []byte, row int) []byte {
		if hasNull && a.IsNull(row) {
			return append(out, keyNull)
		}
		return value(append(out, keyValue), row)
	}, nil
}

func valueEncoder(a arrow.Array) (encoder, error) {
	switch a := a.(type) {
	case *array.Boolean:
		return func(out []byte, row int) []byte { return appendBool(out, a.Value(row)) }, nil
	case *array.Int32:
		values := a.Int32Values()
		return func(out []byte, row int) []byte { return appendLong(out, int64(values[row])) }, nil
	case *array.Int64:
		values := a.Int64Values()
		return func(out []byte, row int) []byte { return appendLong(out, values[row]) }, nil
	case *array.Date32:
		return func(out []byte, row int) []byte { return appendLong(out, int64(a.Value(row))) }, nil
	case *array.Time64:
		return func(out []byte, row int) []byte { return appendLong(out, int64(a.Value(row))) }, nil
	case *array.Timestamp:
		return func(out []byte, row int) []byte { return appendLong(out, int64(a.Value(row))) }, nil
	case *array.Float32:
		return func(out []byte, row int) []byte { return appendDouble(out, float64(a.Value(row))) }, nil
	case *array.Float64:
		return func(out []byte, row int) []byte { return appendDouble(out, a.Value(row)) }, nil
	case *array.Decimal128:
		return func(out []byte, row int) []byte {
			n := a.Value(row)
			return appendHuge(out, n.HighBits(), n.LowBits())
		}, nil
	case *array.String:
		return func(out []byte, row int) []byte { return appendText(out, a.Value(row)) }, nil
	case *array.Binary:
		return func(out []byte, row int) []byte { return appendText(out, a.ValueString(row)) }, nil
	case *array.FixedSizeBinary:
		return func(out []byte, row int) []byte { return append(out, a.Value(row)...) }, nil
	case array.ExtensionArray:
		return valueEncoder(a.Storage())
	}
	return nil, fmt.Errorf("rows cannot be ordered by %s", a.DataType())
}

func appendBool(out []byte, v bool) []byte {
	if v {
		return append(out, 1)
	}
	return append(out, 0)
}

func appendLong(out []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(out, uint64(v)^1<<63)
}

// appendDouble keeps NaN equal to itself and above all, and -0 below 0.
func appendDouble(out []byte, v float64) []byte {
	if v != v {
		v = math.NaN()
	}
	bits := math.Float64bits(v)
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(out, bits)
}

func appendHuge(out []byte, high int64, low uint64) []byte {
	out = binary.BigEndian.AppendUint64(out, uint64(high)^1<<63)
	return binary.BigEndian.AppendUint64(out, low)
}

// appendText ends a text with two zeros, and makes two bytes of a zero in it that are above them.
func appendText[T string | []byte](out []byte, text T) []byte {
	for i := range len(text) {
		if text[i] == 0 {
			return appendZeros(out, text, i)
		}
	}
	return append(append(out, text...), 0, 0)
}

func appendZeros[T string | []byte](out []byte, text T, first int) []byte {
	out = append(out, text[:first]...)
	for i := first; i < len(text); i++ {
		if out = append(out, text[i]); text[i] == 0 {
			out = append(out, 0xff)
		}
	}
	return append(out, 0, 0)
}

// comparePositions orders rows: by key, then by data file, then by their place in it.
func comparePositions(a, b *Position) int {
	if c := bytes.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	if a.Path != b.Path {
		if a.Path < b.Path {
			return -1
		}
		return 1
	}
	switch {
	case a.Row < b.Row:
		return -1
	case a.Row > b.Row:
		return 1
	}
	return 0
}
