package rows

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
)

// encoder appends value i of one array as JSON. It is not asked for values that are NULL.
type encoder func(dst []byte, i int) []byte

// nullable is an encoder with the array that says what is NULL.
type nullable struct {
	array  arrow.Array
	encode encoder
}

func (n nullable) append(dst []byte, i int) []byte {
	if n.array.IsNull(i) {
		return append(dst, "null"...)
	}
	return n.encode(dst, i)
}

// memberNames gives each name as a JSON string with what goes before and after it in an object.
func memberNames(fields []arrow.Field) [][]byte {
	names := make([][]byte, len(fields))
	for i, f := range fields {
		before := byte(',')
		if i == 0 {
			before = '{'
		}
		names[i] = append(appendText([]byte{before}, f.Name), ':')
	}
	return names
}

func appendRow(dst []byte, names [][]byte, columns []nullable, i int) []byte {
	if len(columns) == 0 {
		return append(dst, "{}"...)
	}
	for c := range columns {
		dst = append(dst, names[c]...)
		dst = columns[c].append(dst, i)
	}
	return append(dst, '}')
}

func encoders(batch arrow.RecordBatch) ([]nullable, error) {
	columns := make([]nullable, batch.NumCols())
	for i, c := range batch.Columns() {
		encode, err := encoderOf(c)
		if err != nil {
			return nil, fmt.Errorf("rows: column %s: %w", batch.ColumnName(i), err)
		}
		columns[i] = nullable{c, encode}
	}
	return columns, nil
}

func encoderOf(of arrow.Array) (encoder, error) {
	switch a := of.(type) {
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, a.Value(i)) }, nil
	case *array.Int32:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }, nil
	case *array.Int64:
		return func(dst []byte, i int) []byte {
			return append(strconv.AppendInt(append(dst, '"'), a.Value(i), 10), '"')
		}, nil
	case *array.Float32:
		return func(dst []byte, i int) []byte { return appendFloat(dst, float64(a.Value(i)), 32) }, nil
	case *array.Float64:
		return func(dst []byte, i int) []byte { return appendFloat(dst, a.Value(i), 64) }, nil
	case *array.String:
		return func(dst []byte, i int) []byte { return appendText(dst, a.Value(i)) }, nil
	case *array.Binary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }, nil
	case *array.FixedSizeBinary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }, nil
	case *array.Decimal128:
		scale := int(a.DataType().(*arrow.Decimal128Type).Scale)
		return func(dst []byte, i int) []byte {
			return append(appendDecimal(append(dst, '"'), a.Value(i), scale), '"')
		}, nil
	case *extensions.UUIDArray:
		storage := a.Storage().(*array.FixedSizeBinary)
		return func(dst []byte, i int) []byte {
			return append(appendUUID(append(dst, '"'), storage.Value(i)), '"')
		}, nil
	case array.ExtensionArray:
		return encoderOf(a.Storage())
	}
	if encode := temporalEncoder(of); encode != nil {
		return encode, nil
	}
	return nestedEncoder(of)
}

func temporalEncoder(of arrow.Array) encoder {
	switch a := of.(type) {
	case *array.Date32:
		return func(dst []byte, i int) []byte {
			return append(appendDate(append(dst, '"'), int64(a.Value(i))), '"')
		}
	case *array.Time64:
		digits := unitDigits(a.DataType().(*arrow.Time64Type).Unit)
		return func(dst []byte, i int) []byte {
			return append(appendClock(append(dst, '"'), int64(a.Value(i)), digits), '"')
		}
	case *array.Timestamp:
		kind := a.DataType().(*arrow.TimestampType)
		digits, end := unitDigits(kind.Unit), `"`
		if kind.TimeZone != "" {
			end = `Z"`
		}
		return func(dst []byte, i int) []byte {
			return append(appendMoment(append(dst, '"'), int64(a.Value(i)), digits), end...)
		}
	}
	return nil
}

func nestedEncoder(of arrow.Array) (encoder, error) {
	switch a := of.(type) {
	case *array.Struct:
		return structEncoder(a)
	case *array.Map: // before List, whose methods it has
		return mapEncoder(a)
	case *array.List:
		return listEncoder(a)
	case *array.Null:
		return func(dst []byte, _ int) []byte { return append(dst, "null"...) }, nil
	}
	return nil, fmt.Errorf("type %s cannot be written as JSON", of.DataType())
}

func structEncoder(a *array.Struct) (encoder, error) {
	names := memberNames(a.DataType().(*arrow.StructType).Fields())
	fields := make([]nullable, a.NumField())
	for i := range fields {
		encode, err := encoderOf(a.Field(i))
		if err != nil {
			return nil, err
		}
		fields[i] = nullable{a.Field(i), encode}
	}
	return func(dst []byte, i int) []byte { return appendRow(dst, names, fields, i) }, nil
}

func listEncoder(a *array.List) (encoder, error) {
	encode, err := encoderOf(a.ListValues())
	if err != nil {
		return nil, err
	}
	values := nullable{a.ListValues(), encode}
	return func(dst []byte, i int) []byte {
		start, end := a.ValueOffsets(i)
		dst = append(dst, '[')
		for v := start; v < end; v++ {
			if v > start {
				dst = append(dst, ',')
			}
			dst = values.append(dst, int(v))
		}
		return append(dst, ']')
	}, nil
}

func mapEncoder(a *array.Map) (encoder, error) {
	encodeKey, err := encoderOf(a.Keys())
	if err != nil {
		return nil, err
	}
	encodeItem, err := encoderOf(a.Items())
	if err != nil {
		return nil, err
	}
	keys, items := nullable{a.Keys(), encodeKey}, nullable{a.Items(), encodeItem}
	return func(dst []byte, i int) []byte {
		start, end := a.ValueOffsets(i)
		dst = append(dst, '[')
		for v := start; v < end; v++ {
			if v > start {
				dst = append(dst, ',')
			}
			dst = keys.append(append(dst, `{"key":`...), int(v))
			dst = items.append(append(dst, `,"value":`...), int(v))
			dst = append(dst, '}')
		}
		return append(dst, ']')
	}, nil
}

// appendFloat writes the shortest number that reads back as the same float of so many bits.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	case v == 0 && math.Signbit(v):
		return append(dst, "-0.0"...) // many readers take -0 for a whole number, which has no sign
	}
	const low, high = 1e-6, 1e21 // in between plain digits are shorter
	if size := math.Abs(v); size != 0 && (size < low || size >= high) {
		return strconv.AppendFloat(dst, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, bits)
}

func appendBase64(dst, v []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v), '"')
}

// appendUUID writes 16 bytes as a UUID.
func appendUUID(dst, v []byte) []byte {
	for i, part := range [][]byte{v[:4], v[4:6], v[6:8], v[8:10], v[10:16]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}

// appendText writes a JSON string. What is not UTF-8 becomes the replacement character.
func appendText(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			if short := shortEscape(c); short != 0 {
				dst = append(dst, '\\', short)
			} else {
				dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, s[start:i]...), "\ufffd"...)
			start = i + size
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

// shortEscape gives the letter of an escape of two characters, 0 for a character that has none.
func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	}
	return 0
}
