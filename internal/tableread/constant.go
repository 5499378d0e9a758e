package tableread

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// constantColumn is a column that a file lacks.
type constantColumn struct {
	one   arrow.Array
	count int
}

func (c *constantColumn) read(n int, wanted picks) error {
	c.count += wanted.count(n)
	return nil
}

func (c *constantColumn) skip(int64) {}

func (c *constantColumn) room(int, int) {}

func (c *constantColumn) bytes() int64 { return int64(c.count) }

func (c *constantColumn) take() (arrow.Array, error) {
	n := c.count
	c.count = 0
	return repeated(c.one, n)
}

// repeated gives an array of one row so many times.
func repeated(one arrow.Array, n int) (arrow.Array, error) {
	if one.IsNull(0) {
		return array.MakeArrayOfNull(memory.DefaultAllocator, one.DataType(), n), nil
	}
	return takeRows(one, make([]int32, n))
}

func nullConstant(kind arrow.DataType) arrow.Array {
	return array.MakeArrayOfNull(memory.DefaultAllocator, kind, 1)
}

// initialOf gives what files of before a column have in it, nil for null.
func initialOf(f metadata.Field) json.RawMessage {
	var member struct {
		Initial json.RawMessage `json:"initial-default"`
	}
	if json.Unmarshal(f.Raw, &member) != nil || string(member.Initial) == "null" {
		return nil
	}
	return member.Initial
}

// defaultConstant reads a default value in the specification's JSON form.
func defaultConstant(f metadata.Field, kind arrow.DataType, raw json.RawMessage) (arrow.Array, error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	if value := defaultValue(f.Type, kind, text); value != nil {
		if out, ok := oneRow(kind, value); ok {
			return out, nil
		}
	}
	return nil, fault.New(fault.Unsupported, "Column %s has a default value that cannot be read here. Leave it out of the selection.", f.Path)
}

// defaultValue reads a default value as partition values are; nil when it cannot be.
func defaultValue(typ string, kind arrow.DataType, text string) any {
	switch {
	case typ == "string":
		return text
	case typ == "date":
		at, err := time.Parse(time.DateOnly, text)
		return valueOf(at.Unix()/secondsPerDay, err)
	case typ == "uuid":
		id, err := uuid.Parse(text)
		return valueOf(id, err)
	case typ == "binary", strings.HasPrefix(typ, "fixed["):
		b, err := hex.DecodeString(text)
		return valueOf(b, err)
	case strings.HasPrefix(typ, "decimal("):
		return defaultDecimal(kind, text)
	case unitsOf(typ) > 0:
		return defaultTime(typ, text)
	}
	switch typ {
	case "boolean", "int", "long", "float", "double":
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&v) == nil {
			return v
		}
	}
	return nil
}

func valueOf[T any](v T, err error) any {
	if err != nil {
		return nil
	}
	return v
}

func defaultDecimal(kind arrow.DataType, text string) any {
	of := kind.(*arrow.Decimal128Type)
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > int(of.Scale) {
		return nil
	}
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", int(of.Scale)-len(fraction)), 10)
	if !ok || n.BitLen() > 127 {
		return nil
	}
	return decimal128.FromBigInt(n)
}

func defaultTime(typ, text string) any {
	layout := "2006-01-02T15:04:05.999999999"
	switch typ {
	case "time":
		layout = "15:04:05.999999999"
	case "timestamptz", "timestamptz_ns":
		layout = time.RFC3339Nano
	}
	at, err := time.Parse(layout, text)
	if err != nil {
		return nil
	}
	if typ == "time" {
		at = at.AddDate(1970, 0, 0) // of year 0
	}
	if unitsOf(typ) == 1_000_000 {
		return at.UnixMicro()
	}
	return at.UnixNano()
}

// partitionConstant gives a value of a partition field, as iceberg-go reads it, as one of the column's type.
func partitionConstant(f metadata.Field, kind arrow.DataType, value any) (arrow.Array, error) {
	if value == nil {
		return nullConstant(kind), nil
	}
	if d, ok := value.(iceberg.Decimal); ok {
		value = d.Val
	}
	if date, ok := value.(iceberg.Date); ok && unitsOf(f.Type) > 0 {
		value = int64(date) * secondsPerDay * unitsOf(f.Type)
	}
	if out, ok := oneRow(kind, value); ok {
		return out, nil
	}
	return nil, fault.New(fault.Internal, "The partition value of column %s is not one of its type. Leave the column out of the selection.", f.Path)
}

// oneRow makes an array of one value; false when it is not of the type.
func oneRow(kind arrow.DataType, value any) (arrow.Array, bool) {
	b := array.NewBuilder(memory.DefaultAllocator, kind)
	defer b.Release()
	ok := false
	switch b := b.(type) {
	case *array.Decimal128Builder:
		var n decimal128.Num
		if n, ok = value.(decimal128.Num); ok {
			b.Append(n)
		}
	case *extensions.UUIDBuilder:
		var id uuid.UUID
		if id, ok = value.(uuid.UUID); ok {
			b.Append(id)
		}
	case *array.StringBuilder:
		var text string
		if text, ok = value.(string); ok {
			b.Append(text)
		}
	case *array.BinaryBuilder:
		var raw []byte
		if raw, ok = value.([]byte); ok {
			b.Append(raw)
		}
	case *array.FixedSizeBinaryBuilder:
		raw, isBytes := bytesOf(value)
		if ok = isBytes && len(raw) == kind.(*arrow.FixedSizeBinaryType).ByteWidth; ok {
			b.Append(raw)
		}
	default:
		ok = appendNumber(b, value)
	}
	if !ok {
		return nil, false
	}
	return b.NewArray(), true
}

// bytesOf gives the bytes of a slice or an array.
func bytesOf(value any) ([]byte, bool) {
	v := reflect.ValueOf(value)
	if (v.Kind() != reflect.Slice && v.Kind() != reflect.Array) || v.Type().Elem().Kind() != reflect.Uint8 {
		return nil, false
	}
	out := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(out), v)
	return out, true
}

// appendNumber appends a boolean, a number, a date or a time.
func appendNumber(b array.Builder, value any) bool {
	if n, ok := value.(json.Number); ok {
		if whole, err := n.Int64(); err == nil {
			value = whole
		} else if f, err := n.Float64(); err == nil {
			value = f
		}
	}
	v := reflect.ValueOf(value)
	switch b := b.(type) {
	case *array.BooleanBuilder:
		if v.Kind() == reflect.Bool {
			b.Append(v.Bool())
		}
	case *array.Float32Builder:
		if v.CanFloat() || v.CanInt() {
			b.Append(float32(floatOf(v)))
		}
	case *array.Float64Builder:
		if v.CanFloat() || v.CanInt() {
			b.Append(floatOf(v))
		}
	default:
		if v.CanInt() {
			appendInt(b, v.Int())
		}
	}
	return b.Len() == 1
}

func floatOf(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

func appendInt(b array.Builder, v int64) {
	isNarrow := v == int64(int32(v))
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(v)
	case *array.Time64Builder:
		b.Append(arrow.Time64(v))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v))
	case *array.Int32Builder:
		if isNarrow {
			b.Append(int32(v))
		}
	case *array.Date32Builder:
		if isNarrow {
			b.Append(arrow.Date32(v))
		}
	}
}
