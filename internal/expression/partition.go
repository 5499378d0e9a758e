package expression

import (
	"encoding/json"
	"math"

	"github.com/apache/iceberg-go"
)

// Field is a field of a partition spec.
type Field struct {
	ID, Source int
	Transform  iceberg.Transform // of one source; of several it is unknown
	Type       Type              // of the partition's values; not ordered when the source is not known
}

// NewField makes a field of a source column of the type.
func NewField(id, source int, transform iceberg.Transform, sourceType Type) Field {
	f := Field{ID: id, Source: source, Transform: transform}
	f.Type, _ = resultType(transform, sourceType)
	return f
}

// IsVoid tells that its values are null whatever the source has.
func (f Field) IsVoid() bool {
	_, void := f.Transform.(iceberg.VoidTransform)
	return void
}

// Value is a file's value of a partition field.
type Value struct {
	value      any // nil for null and NaN
	nan, known bool
	raw        any  // as it was read
	typ        Type // of the field, or as the value shows when the field's is not known
}

// Read takes a partition value as iceberg-go has it. A field that the manifest does not have is not known.
func (f Field) Read(raw any, written bool) Value {
	v := Value{raw: raw, known: written, typ: f.Type}
	if raw == nil {
		return v
	}
	if v.typ.kind == noKind {
		v.typ = typeOfGo(raw)
	}
	v.value, v.known = v.typ.stored(raw)
	if !v.known {
		v.value = nil
		return v
	}
	if x, ok := v.value.(float64); ok && math.IsNaN(x) {
		v.value, v.nan = nil, true
	}
	return v
}

// Known is false for a value that the manifest does not have, or has of another type.
func (v Value) Known() bool { return v.known }

// Raw is the value as it was read.
func (v Value) Raw() any { return v.raw }

// Summary says what the values of a whole file are.
func (v Value) Summary() Summary {
	switch {
	case !v.known:
		return Unknown()
	case v.nan:
		return Summary{HasNaN: true, OnlyNaN: true}
	case v.value == nil:
		return Summary{HasNull: true, OnlyNull: true}
	}
	return Summary{Lower: v.value, Upper: v.value, Exact: true}
}

// JSON writes the value; one that is not of its field's type, as it shows itself.
func (v Value) JSON() json.RawMessage {
	switch {
	case v.nan:
		return floatJSON(math.NaN(), false)
	case !v.known && v.raw != nil:
		shown := typeOfGo(v.raw)
		value, _ := shown.stored(v.raw)
		return shown.JSON(value)
	}
	return v.typ.JSON(v.value)
}

// typeOfGo guesses the type of a value of a field whose source column no schema has any more.
func typeOfGo(v any) Type {
	switch v.(type) {
	case bool:
		return TypeNamed(typeBoolean)
	case int, int32, int64:
		return TypeNamed(typeLong)
	case float32, float64:
		return TypeNamed(typeDouble)
	case string:
		return TypeNamed(typeString)
	case iceberg.Date:
		return TypeNamed(typeDate)
	case iceberg.Time:
		return TypeNamed(typeTime)
	case iceberg.Timestamp:
		return TypeNamed(typeTimestamp)
	case iceberg.TimestampNano:
		return TypeNamed(typeNanos)
	}
	return TypeNamed(typeBinary)
}
