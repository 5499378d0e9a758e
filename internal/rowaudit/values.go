package rowaudit

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
)

// HashValues gives the identity hash of the row with these values of its identity columns, each written as in answers of the
// data plane: it is how people find out whether and when a row landed. Every column must be there, null with the value nil.
// fault.Invalid names the column whose value is missing, too many, or not of its type.
func (h *Hasher) HashValues(values map[string]any) ([HashSize]byte, error) {
	var text []byte
	for name := range values {
		if !slices.Contains(h.columns, name) {
			return [HashSize]byte{}, fault.New(fault.Invalid, "Rows are not told apart by %q: give values of %s.", name, strings.Join(h.columns, ", "))
		}
	}
	for i, name := range h.columns {
		value, ok := values[name]
		if !ok {
			return [HashSize]byte{}, fault.New(fault.Invalid, "The value of %s is missing: give one, or null.", name)
		}
		var err error
		if text, err = appendValue(text, h.types[i], value); err != nil {
			return [HashSize]byte{}, fault.New(fault.Invalid, "The value of %s is not of the column's type: %s.", name, err)
		}
	}
	return newSummer(h.key).of(text), nil
}

// appendValue appends the encoding of a value as JSON has it.
func appendValue(to []byte, typ arrow.DataType, value any) ([]byte, error) {
	if value == nil {
		return append(to, kindNull), nil
	}
	if value, ok := value.(bool); ok {
		if typ.ID() != arrow.BOOL {
			return nil, fmt.Errorf("it cannot be %t", value)
		}
		return appendBoolean(to, value), nil
	}
	text, err := textOf(value)
	if err != nil {
		return nil, err
	}
	switch t := typ.(type) {
	case *arrow.Int32Type:
		return appendParsed(to, kindInteger, text, 32)
	case *arrow.Int64Type:
		return appendParsed(to, kindInteger, text, 64)
	case *arrow.Float32Type:
		f, err := strconv.ParseFloat(text, 32)
		return appendFloat(to, f), wrong(err, "a number")
	case *arrow.Float64Type:
		f, err := strconv.ParseFloat(text, 64)
		return appendFloat(to, f), wrong(err, "a number")
	case *arrow.Decimal128Type:
		return appendDecimalText(to, t, text)
	case *arrow.StringType, *arrow.LargeStringType:
		if _, ok := value.(string); !ok {
			return nil, fmt.Errorf("write it as a string")
		}
		return appendBytes(to, kindString, text), nil
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.FixedSizeBinaryType:
		raw, err := base64.StdEncoding.DecodeString(text)
		return appendBytes(to, kindBytes, raw), wrong(err, "base64")
	case arrow.ExtensionType:
		id, err := uuid.Parse(text)
		return appendBytes(to, kindUUID, id[:]), wrong(err, "a uuid")
	}
	return appendTimeText(to, typ, text)
}

// textOf gives the text of a string or of a number that lost nothing.
func textOf(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			return strconv.FormatFloat(v, 'f', 0, 64), nil
		}
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	return "", fmt.Errorf("give a single value")
}

func wrong(err error, what string) error {
	if err != nil {
		return fmt.Errorf("it is not %s", what)
	}
	return nil
}

func appendParsed(to []byte, kind byte, text string, bits int) ([]byte, error) {
	n, err := strconv.ParseInt(text, 10, bits)
	return appendNumber(to, kind, n), wrong(err, fmt.Sprintf("a whole number of %d bits", bits))
}

// appendDecimalText takes digits and one point alone, so that none is lost or made up.
func appendDecimalText(to []byte, t *arrow.Decimal128Type, text string) ([]byte, error) {
	_, fraction, _ := strings.Cut(text, ".")
	plain := strings.Trim(strings.TrimPrefix(text, "-"), "0123456789")
	if plain != "" && plain != "." || len(strings.TrimRight(fraction, "0")) > int(t.Scale) || len(text) > 2*decimal128.MaxPrecision {
		return nil, fmt.Errorf("it is not a decimal(%d,%d)", t.Precision, t.Scale)
	}
	n, err := decimal128.FromString(text, t.Precision, t.Scale)
	return appendDecimal(to, n, t.Scale), wrong(err, fmt.Sprintf("a decimal(%d,%d)", t.Precision, t.Scale))
}

const (
	dateLayout  = "2006-01-02"
	timeLayout  = "15:04:05.999999999"
	stampLayout = "2006-01-02T15:04:05.999999999"
	day         = 24 * 60 * 60 // seconds
)

// appendTimeText appends dates and times.
func appendTimeText(to []byte, typ arrow.DataType, text string) ([]byte, error) {
	switch t := typ.(type) {
	case *arrow.Date32Type:
		at, err := time.Parse(dateLayout, text)
		return appendNumber(to, kindDate, at.Unix()/day), wrong(err, "a date such as 2026-01-31")
	case *arrow.Time64Type:
		at, err := time.Parse(timeLayout, text)
		return appendNumber(to, kindTime, at.Sub(at.Truncate(24*time.Hour)).Microseconds()), wrong(err, "a time such as 12:34:56.123456")
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			at, err := time.Parse(time.RFC3339Nano, text)
			return appendInstant(to, kindTimestampTZ, at.Unix(), int64(at.Nanosecond())), wrong(err, "a time such as 2026-01-31T12:34:56Z")
		}
		at, err := time.Parse(stampLayout, text)
		return appendInstant(to, kindTimestamp, at.Unix(), int64(at.Nanosecond())), wrong(err, "a time such as 2026-01-31T12:34:56")
	}
	return nil, fmt.Errorf("rows cannot be looked up by values of type %s", typ)
}
