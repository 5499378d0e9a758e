package reconcile

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Types whose values are compared as such: dates are days, times microseconds or nanoseconds, decimals their unscaled
// number in the fewest bytes, floats doubles, and all else its bytes.

func isFloating(typ string) bool { return typ == "float" || typ == "double" }

func isDecimal(typ string) bool { return strings.HasPrefix(typ, "decimal(") }

func isFixed(typ string) bool { return strings.HasPrefix(typ, "fixed[") }

// unitsOf gives how many units of a type a second has; 0 for those of no time.
func unitsOf(typ string) int64 {
	switch typ {
	case "time", "timestamp", "timestamptz":
		return 1_000_000
	case "timestamp_ns", "timestamptz_ns":
		return 1_000_000_000
	}
	return 0
}

// putInteger keeps the integers of a column of the table's type; nil when they cannot be compared. Dates that became
// timestamps, and times that are kept in another unit, are scaled.
func putInteger(typ string, descr *schema.Column) func([]byte, int64) []byte {
	logical := descr.LogicalType()
	units := unitsOf(typ)
	switch {
	case isDecimal(typ):
		return func(out []byte, v int64) []byte {
			return append(out, fewestBytes(binary.BigEndian.AppendUint64(nil, uint64(v)))...)
		}
	case typ == "int", typ == "long", typ == "date":
		return putLong
	case units == 0:
		return nil
	case logical.Equals(schema.DateLogicalType{}):
		return scaled(86400 * units)
	}
	timed, ok := logical.(interface{ TimeUnit() schema.TimeUnitType })
	if !ok {
		return putLong
	}
	switch per := perSecond(timed.TimeUnit()); {
	case per == units:
		return putLong
	case per > 0 && per < units:
		return scaled(units / per)
	}
	return nil
}

func perSecond(unit schema.TimeUnitType) int64 {
	switch unit {
	case schema.TimeUnitMillis:
		return 1_000
	case schema.TimeUnitMicros:
		return 1_000_000
	case schema.TimeUnitNanos:
		return 1_000_000_000
	}
	return 0
}

func scaled(factor int64) func([]byte, int64) []byte {
	return func(out []byte, v int64) []byte { return putLong(out, v*factor) }
}

// putBytes keeps the bytes of a column of the table's type; nil when they cannot be compared.
func putBytes(typ string) func([]byte, []byte) []byte {
	switch {
	case isDecimal(typ):
		return func(out, v []byte) []byte { return append(out, fewestBytes(v)...) }
	case typ == "string", typ == "binary", typ == "uuid", isFixed(typ):
		return func(out, v []byte) []byte { return append(out, v...) }
	}
	return nil
}

// fewestBytes drops the leading bytes of a number in two's complement that say nothing.
func fewestBytes(b []byte) []byte {
	for len(b) > 1 && (b[0] == 0 && b[1] < 128 || b[0] == 255 && b[1] > 127) {
		b = b[1:]
	}
	return b
}

// errDefault says that a default value cannot be understood.
var errDefault = errors.New("a default value cannot be understood")

// initialValue keeps a column's initial default, which files of before the column have, as its values are kept.
func initialValue(c tableColumn) (constant, error) {
	if c.initial == nil {
		return appendNull(nil), nil
	}
	var text string
	if json.Unmarshal(c.initial, &text) != nil {
		text = string(c.initial)
	} else if c.typ == "string" {
		return appendValue(nil, []byte(text)), nil
	}
	value, err := defaultBytes(c.typ, text)
	if err != nil {
		return nil, errDefault
	}
	return appendValue(nil, value), nil
}

// defaultBytes reads a default value in the specification's JSON form.
func defaultBytes(typ, text string) ([]byte, error) {
	switch {
	case typ == "boolean":
		v, err := strconv.ParseBool(text)
		return putBool(nil, v), err
	case typ == "int", typ == "long":
		v, err := strconv.ParseInt(text, 10, 64)
		return putLong(nil, v), err
	case isFloating(typ):
		bits := 64
		if typ == "float" {
			bits = 32
		}
		v, err := strconv.ParseFloat(text, bits)
		return putFloat(nil, v), err
	case isDecimal(typ):
		return defaultDecimal(typ, text)
	case typ == "date":
		at, err := time.Parse(time.DateOnly, text)
		return putLong(nil, at.Unix()/86400), err
	case typ == "uuid":
		return hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	case typ == "binary", isFixed(typ):
		return hex.DecodeString(text)
	}
	return defaultTime(typ, text)
}

func defaultDecimal(typ, text string) ([]byte, error) {
	scale := scaleOf(typ)
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > scale {
		return nil, errDefault
	}
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", scale-len(fraction)), 10)
	if !ok {
		return nil, errDefault
	}
	const most = 16 // bytes of 38 digits
	if n.BitLen() >= 8*most {
		return nil, errDefault
	}
	if n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), 8*most))
	}
	return fewestBytes(n.FillBytes(make([]byte, most))), nil
}

func defaultTime(typ, text string) ([]byte, error) {
	layout := ""
	switch typ {
	case "time":
		layout = "15:04:05.999999999"
	case "timestamp", "timestamp_ns":
		layout = "2006-01-02T15:04:05.999999999"
	case "timestamptz", "timestamptz_ns":
		layout = time.RFC3339Nano
	default:
		return nil, errDefault
	}
	at, err := time.Parse(layout, text)
	if err != nil {
		return nil, err
	}
	if typ == "time" {
		at = at.AddDate(1970, 0, 0) // of year 0
	}
	if unitsOf(typ) == 1_000_000 {
		return putLong(nil, at.UnixMicro()), nil
	}
	return putLong(nil, at.UnixNano()), nil
}
