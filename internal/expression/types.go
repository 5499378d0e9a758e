package expression

import (
	"strconv"
	"strings"
)

// kind is how a type's values are held: see the comment of each.
type kind uint8

const (
	noKind      kind = iota // nested types and those without an order here: tested for null alone
	boolKind                // bool
	intKind                 // int64; days, micros or nanos since 1970 for dates and times
	floatKind               // float64
	decimalKind             // *big.Rat
	stringKind              // string
	bytesKind               // string of bytes: uuid, fixed, binary
)

// The names of types that are told apart.
const (
	typeInt         = "int"
	typeLong        = "long"
	typeFloat       = "float"
	typeDouble      = "double"
	typeDate        = "date"
	typeTime        = "time"
	typeTimestamp   = "timestamp"
	typeTimestampTz = "timestamptz"
	typeNanos       = "timestamp_ns"
	typeNanosTz     = "timestamptz_ns"
	typeString      = "string"
	typeUUID        = "uuid"
	typeBinary      = "binary"
	typeBoolean     = "boolean"
)

// Type is a column's type as far as values of it are compared and written.
type Type struct {
	name  string
	kind  kind
	scale int // of decimals
	width int // of fixed and uuid, in bytes
}

// TypeNamed gives the type that a schema calls so, nested ones without an order.
func TypeNamed(name string) Type {
	t := Type{name: name}
	switch name {
	case typeBoolean:
		t.kind = boolKind
	case typeInt, typeLong, typeDate, typeTime, typeTimestamp, typeTimestampTz, typeNanos, typeNanosTz:
		t.kind = intKind
	case typeFloat, typeDouble:
		t.kind = floatKind
	case typeString:
		t.kind = stringKind
	case typeBinary:
		t.kind = bytesKind
	case typeUUID:
		t.kind, t.width = bytesKind, 16
	default:
		t.parametrise()
	}
	return t
}

// parametrise reads decimal(p,s) and fixed[n].
func (t *Type) parametrise() {
	if args, ok := strings.CutPrefix(t.name, "decimal("); ok {
		_, scale, _ := strings.Cut(strings.TrimSuffix(args, ")"), ",")
		if n, err := strconv.Atoi(scale); err == nil && n >= 0 && n <= 38 {
			t.kind, t.scale = decimalKind, n
		}
	}
	if size, ok := strings.CutPrefix(t.name, "fixed["); ok {
		if n, err := strconv.Atoi(strings.TrimSuffix(size, "]")); err == nil && n > 0 {
			t.kind, t.width = bytesKind, n
		}
	}
}

// Ordered tells whether values of the type can be compared: not those of nested types, and of types not known here.
func (t Type) Ordered() bool { return t.kind != noKind }

// IsFloat tells whether the type has NaN.
func (t Type) IsFloat() bool { return t.kind == floatKind }

func (t Type) isTimestamp() bool {
	return t.name == typeTimestamp || t.name == typeTimestampTz || t.isNanos()
}

func (t Type) isNanos() bool { return t.name == typeNanos || t.name == typeNanosTz }

func (t Type) hasZone() bool { return t.name == typeTimestampTz || t.name == typeNanosTz }
