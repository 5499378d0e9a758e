package rowaudit

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/sluice-data/sluice/internal/fault"
)

// The kinds of values in the canonical encoding. Hashes are kept for ever: a kind never changes.
const (
	kindNull byte = iota
	kindBoolean
	kindInteger // int and long: eight bytes
	kindFloat   // float and double: the bits of a double
	kindDecimal // as text without zeros at its end
	kindDate    // days
	kindTime    // microseconds
	kindTimestamp
	kindTimestampTZ // both: seconds and nanoseconds, whatever their unit
	kindString
	kindBytes
	kindUUID
	kindList
	kindMap
	kindStruct
)

// encoder appends the canonical encoding of the value in a row.
type encoder func(to []byte, row int) []byte

// encoderOf gives the encoder of an array.
func encoderOf(a arrow.Array) (encoder, error) {
	encode, err := valueEncoder(a)
	if err != nil {
		return nil, err
	}
	return func(to []byte, row int) []byte {
		if a.IsNull(row) {
			return append(to, kindNull)
		}
		return encode(to, row)
	}, nil
}

func valueEncoder(a arrow.Array) (encoder, error) {
	switch a := a.(type) {
	case *array.Boolean:
		return func(to []byte, row int) []byte { return appendBoolean(to, a.Value(row)) }, nil
	case *array.Int32:
		return func(to []byte, row int) []byte { return appendNumber(to, kindInteger, int64(a.Value(row))) }, nil
	case *array.Int64:
		return func(to []byte, row int) []byte { return appendNumber(to, kindInteger, a.Value(row)) }, nil
	case *array.Float32:
		return func(to []byte, row int) []byte { return appendFloat(to, float64(a.Value(row))) }, nil
	case *array.Float64:
		return func(to []byte, row int) []byte { return appendFloat(to, a.Value(row)) }, nil
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(to []byte, row int) []byte { return appendDecimal(to, a.Value(row), scale) }, nil
	case *array.Date32:
		return func(to []byte, row int) []byte { return appendNumber(to, kindDate, int64(a.Value(row))) }, nil
	case *array.Time64:
		perMicro := int64(time.Microsecond / a.DataType().(*arrow.Time64Type).Unit.Multiplier())
		return func(to []byte, row int) []byte { return appendNumber(to, kindTime, int64(a.Value(row))/perMicro) }, nil
	case *array.Timestamp:
		return timestampEncoder(a), nil
	}
	return variableEncoder(a)
}

// variableEncoder is valueEncoder for what has no fixed length.
func variableEncoder(a arrow.Array) (encoder, error) {
	switch a := a.(type) {
	case *array.String:
		return func(to []byte, row int) []byte { return appendBytes(to, kindString, a.Value(row)) }, nil
	case *array.LargeString:
		return func(to []byte, row int) []byte { return appendBytes(to, kindString, a.Value(row)) }, nil
	case *array.Binary:
		return func(to []byte, row int) []byte { return appendBytes(to, kindBytes, a.Value(row)) }, nil
	case *array.LargeBinary:
		return func(to []byte, row int) []byte { return appendBytes(to, kindBytes, a.Value(row)) }, nil
	case *array.FixedSizeBinary:
		return func(to []byte, row int) []byte { return appendBytes(to, kindBytes, a.Value(row)) }, nil
	case array.ExtensionArray:
		return extensionEncoder(a)
	case *array.Dictionary:
		encode, err := encoderOf(a.Dictionary())
		return func(to []byte, row int) []byte { return encode(to, a.GetValueIndex(row)) }, err
	case *array.Map: // before List, which it is as well
		return mapEncoder(a)
	case *array.List:
		return listEncoder(a, a.ListValues())
	case *array.LargeList:
		return listEncoder(a, a.ListValues())
	case *array.Struct:
		return structEncoder(a)
	}
	return nil, fault.New(fault.Unsupported, "Rows cannot be told apart by values of type %s: set other identity columns.", a.DataType())
}

func extensionEncoder(a array.ExtensionArray) (encoder, error) {
	storage, ok := a.Storage().(*array.FixedSizeBinary)
	if ok && a.DataType().(arrow.ExtensionType).ExtensionName() == "arrow.uuid" {
		return func(to []byte, row int) []byte { return appendBytes(to, kindUUID, storage.Value(row)) }, nil
	}
	return valueEncoder(a.Storage())
}

func timestampEncoder(a *array.Timestamp) encoder {
	typ := a.DataType().(*arrow.TimestampType)
	perSecond, kind := int64(time.Second/typ.Unit.Multiplier()), kindTimestamp
	if typ.TimeZone != "" {
		kind = kindTimestampTZ
	}
	return func(to []byte, row int) []byte {
		value := int64(a.Value(row))
		seconds, rest := value/perSecond, value%perSecond
		if rest < 0 {
			seconds, rest = seconds-1, rest+perSecond
		}
		return appendInstant(to, kind, seconds, rest*(int64(time.Second)/perSecond))
	}
}

func listEncoder(a array.ListLike, values arrow.Array) (encoder, error) {
	encode, err := encoderOf(values)
	return func(to []byte, row int) []byte {
		from, end := a.ValueOffsets(row)
		to = binary.BigEndian.AppendUint32(append(to, kindList), uint32(end-from))
		for n := from; n < end; n++ {
			to = encode(to, int(n))
		}
		return to
	}, err
}

// mapEncoder puts the entries of a map in order: it has none of its own.
func mapEncoder(a *array.Map) (encoder, error) {
	key, err := encoderOf(a.Keys())
	if err != nil {
		return nil, err
	}
	item, err := encoderOf(a.Items())
	return func(to []byte, row int) []byte {
		from, end := a.ValueOffsets(row)
		entries := make([][]byte, 0, end-from)
		for n := from; n < end; n++ {
			entries = append(entries, item(key(nil, int(n)), int(n)))
		}
		slices.SortFunc(entries, bytes.Compare)
		to = binary.BigEndian.AppendUint32(append(to, kindMap), uint32(len(entries)))
		for _, e := range entries {
			to = append(to, e...)
		}
		return to
	}, err
}

func structEncoder(a *array.Struct) (encoder, error) {
	fields := a.DataType().(*arrow.StructType).Fields()
	encoders := make([]encoder, len(fields))
	for n := range fields {
		var err error
		if encoders[n], err = encoderOf(a.Field(n)); err != nil {
			return nil, err
		}
	}
	return func(to []byte, row int) []byte {
		to = binary.BigEndian.AppendUint32(append(to, kindStruct), uint32(len(fields)))
		for n, encode := range encoders {
			to = encode(appendBytes(to, kindString, fields[n].Name), row)
		}
		return to
	}, nil
}

func appendBoolean(to []byte, value bool) []byte {
	if value {
		return append(to, kindBoolean, 1)
	}
	return append(to, kindBoolean, 0)
}

func appendNumber(to []byte, kind byte, value int64) []byte {
	return binary.BigEndian.AppendUint64(append(to, kind), uint64(value))
}

// appendFloat makes all NaNs one, and both zeros.
func appendFloat(to []byte, value float64) []byte {
	switch {
	case math.IsNaN(value):
		value = math.NaN()
	case value == 0:
		value = 0
	}
	return binary.BigEndian.AppendUint64(append(to, kindFloat), math.Float64bits(value))
}

func appendDecimal(to []byte, value decimal128.Num, scale int32) []byte {
	text := value.ToString(scale)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return appendBytes(to, kindDecimal, text)
}

func appendInstant(to []byte, kind byte, seconds, nanoseconds int64) []byte {
	return binary.BigEndian.AppendUint32(appendNumber(to, kind, seconds), uint32(nanoseconds))
}
