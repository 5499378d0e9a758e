package expression

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// compare orders two values of one kind. Text and bytes go by their bytes, unsigned.
func compare(a, b any) int {
	switch a := a.(type) {
	case bool:
		return cmp.Compare(boolInt(a), boolInt(b.(bool)))
	case int64:
		return cmp.Compare(a, b.(int64))
	case float64:
		return cmp.Compare(a, b.(float64))
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case string:
		return strings.Compare(a, b.(string))
	}
	return 0
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// holds tells whether v is held as values of the type are.
func (t Type) holds(v any) bool {
	switch v.(type) {
	case bool:
		return t.kind == boolKind
	case int64:
		return t.kind == intKind
	case float64:
		return t.kind == floatKind
	case *big.Rat:
		return t.kind == decimalKind
	case string:
		return t.kind == stringKind || t.kind == bytesKind
	}
	return false
}

// Bound decodes a bound from Iceberg's binary form; nil when there is none, or none of the type, or NaN, which bounds
// nothing. Bounds of a narrower type that the column was widened from are read as such.
func (t Type) Bound(raw []byte) any {
	if raw == nil {
		return nil // an empty one is the empty text
	}
	switch t.kind {
	case boolKind:
		if len(raw) == 1 {
			return raw[0] != 0
		}
	case intKind:
		return t.intBound(raw)
	case floatKind:
		f := math.NaN()
		switch len(raw) {
		case 4:
			f = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		case 8:
			f = math.Float64frombits(binary.LittleEndian.Uint64(raw))
		}
		if !math.IsNaN(f) {
			return f
		}
	case decimalKind:
		if len(raw) > 0 && len(raw) <= 16 {
			return t.unscaled(twosComplement(raw))
		}
	case stringKind, bytesKind:
		if t.width == 0 || len(raw) == t.width {
			return string(raw)
		}
	}
	return nil
}

// Unscaled gives the bound that a whole number is: of decimals, one of their smallest units. Parquet has small ones so.
func (t Type) Unscaled(n int64) any {
	switch t.kind {
	case intKind:
		return n
	case decimalKind:
		return t.unscaled(big.NewInt(n))
	}
	return nil
}

func (t Type) intBound(raw []byte) any {
	switch len(raw) {
	case 4:
		n := int64(int32(binary.LittleEndian.Uint32(raw))) //nolint:gosec // the bits are a signed number
		if t.isTimestamp() {
			return t.ofDays(n)
		}
		return n
	case 8:
		return int64(binary.LittleEndian.Uint64(raw)) //nolint:gosec // the bits are a signed number
	}
	return nil
}

// ofDays reads a date as the timestamp that its column was widened to; nil beyond the type's range.
func (t Type) ofDays(days int64) any {
	unit := int64(microsPerDay)
	if t.isNanos() {
		unit *= 1000
	}
	if days > math.MaxInt64/unit || days < math.MinInt64/unit {
		return nil
	}
	return days * unit
}

func twosComplement(raw []byte) *big.Int {
	n := new(big.Int).SetBytes(raw)
	if raw[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
	}
	return n
}

func (t Type) unscaled(n *big.Int) *big.Rat {
	return new(big.Rat).SetFrac(n, pow10(t.scale))
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// stored converts a partition value as iceberg-go reads it; false when it is none of the type.
func (t Type) stored(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		return v, t.kind == boolKind
	case string:
		return v, t.kind == stringKind
	case int, int32, int64, iceberg.Date, iceberg.Time, iceberg.Timestamp, iceberg.TimestampNano:
		return t.storedInt(v)
	case float32, float64:
		return reflect.ValueOf(v).Float(), t.kind == floatKind
	case iceberg.DecimalLiteral:
		return new(big.Rat).SetFrac(v.Val.BigInt(), pow10(max(v.Scale, 0))), t.kind == decimalKind && v.Scale >= 0
	case *big.Rat:
		return v, t.kind == decimalKind
	case []byte:
		return t.storedBytes(v)
	}
	if a := reflect.ValueOf(v); a.Kind() == reflect.Array && a.Type().Elem().Kind() == reflect.Uint8 { // uuid, fixed
		b := make([]byte, a.Len())
		reflect.Copy(reflect.ValueOf(b), a)
		return t.storedBytes(b)
	}
	return nil, false
}

func (t Type) storedInt(v any) (any, bool) {
	n := reflect.ValueOf(v).Int()
	if _, date := v.(iceberg.Date); date && t.isTimestamp() {
		at := t.ofDays(n)
		return at, at != nil
	}
	return n, t.kind == intKind
}

func (t Type) storedBytes(b []byte) (any, bool) {
	if t.kind == decimalKind && len(b) > 0 {
		return t.unscaled(twosComplement(b)), true
	}
	return string(b), t.kind == bytesKind && (t.width == 0 || len(b) == t.width)
}

// JSON writes a value as the protocol does.
func (t Type) JSON(v any) json.RawMessage {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(nil, v)
	case int64:
		return t.intJSON(v)
	case float64:
		return floatJSON(v, t.name == typeFloat)
	case *big.Rat:
		return quoted(v.FloatString(t.scale))
	case string:
		switch {
		case t.kind == stringKind:
			return quoted(v)
		case t.name == typeUUID:
			id, _ := uuid.FromBytes([]byte(v)) // its length was checked
			return quoted(id.String())
		}
		return quoted(upperHex([]byte(v)))
	}
	return json.RawMessage("null")
}

func (t Type) intJSON(v int64) json.RawMessage {
	zone := ""
	if t.hasZone() {
		zone = "+00:00"
	}
	switch t.name {
	case typeDate:
		return quoted(time.Unix(v*secondsPerDay, 0).UTC().Format(time.DateOnly))
	case typeTime:
		return quoted(time.UnixMicro(v).UTC().Format("15:04:05.000000"))
	case typeTimestamp, typeTimestampTz:
		return quoted(time.UnixMicro(v).UTC().Format("2006-01-02T15:04:05.000000") + zone)
	case typeNanos, typeNanosTz:
		return quoted(time.Unix(0, v).UTC().Format("2006-01-02T15:04:05.000000000") + zone)
	}
	return strconv.AppendInt(nil, v, 10)
}

// floatJSON writes what is not a number as text, as Java does.
func floatJSON(f float64, single bool) json.RawMessage {
	switch {
	case math.IsNaN(f):
		return quoted("NaN")
	case math.IsInf(f, 1):
		return quoted("Infinity")
	case math.IsInf(f, -1):
		return quoted("-Infinity")
	case single:
		return strconv.AppendFloat(nil, f, 'g', -1, 32)
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 64)
}

func quoted(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string is always encodable
	return b
}

func upperHex(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }
