package scan

import (
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
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

// valueType is a column's type as far as values of it are compared and written.
type valueType struct {
	name  string
	kind  kind
	scale int // of decimals
	width int // of fixed and uuid, in bytes
}

func typeOf(name string) valueType {
	t := valueType{name: name}
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
func (t *valueType) parametrise() {
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

func (t valueType) isTimestamp() bool {
	return t.name == typeTimestamp || t.name == typeTimestampTz || t.isNanos()
}

func (t valueType) isNanos() bool { return t.name == typeNanos || t.name == typeNanosTz }

func (t valueType) hasZone() bool { return t.name == typeTimestampTz || t.name == typeNanosTz }

// column is a field that filters may name: not one within a list or map, which has no single value in a row.
type column struct {
	id   int
	path string
	typ  valueType
}

// columns are the fields of a schema by name and id.
type columns struct {
	byPath map[string]column
	folded map[string][]column
	byID   map[int]column
	inside map[string]bool // fields within lists and maps
}

func columnsOf(schema metadata.Schema) columns {
	c := columns{
		byPath: make(map[string]column), folded: make(map[string][]column), byID: make(map[int]column), inside: make(map[string]bool),
	}
	c.add(schema.Fields, false)
	return c
}

func (c columns) add(fields []metadata.Field, inside bool) {
	for _, f := range fields {
		if inside {
			c.inside[f.Path] = true
		} else {
			col := column{id: f.ID, path: f.Path, typ: typeOf(f.Type)}
			c.byPath[f.Path], c.byID[f.ID] = col, col
			lower := strings.ToLower(f.Path)
			c.folded[lower] = append(c.folded[lower], col)
		}
		c.add(f.Children, inside || f.Type == "list" || f.Type == "map")
	}
}

// find looks a column up for a filter. The error is fault.Invalid and names it.
func (c columns) find(name string, ignoreCase bool) (column, error) {
	if col, ok := c.byPath[name]; ok {
		return col, nil
	}
	if ignoreCase {
		switch matches := c.folded[strings.ToLower(name)]; len(matches) {
		case 0:
		case 1:
			return matches[0], nil
		default:
			return column{}, fault.New(fault.Invalid, "The filter names the column %q, which several columns are called but for case. Plan with case-sensitive names.", name)
		}
	}
	if c.inside[name] {
		return column{}, fault.New(fault.Invalid, "The filter names %q, which lies within a list or map. Filter on columns that have one value a row.", name)
	}
	return column{}, fault.New(fault.Invalid, "The filter names the column %q, which the table's schema does not have.", name)
}
