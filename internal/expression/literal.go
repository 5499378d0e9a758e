package expression

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// errInexact marks a literal that the column's type cannot hold as it is. Engines differ in what they compare with then,
// so that nothing is left out for its sake.
var errInexact = errors.New("inexact")

// nearest gives what to compare with in place of an inexact literal: of a float the nearest one, of a time the next
// one on the side that leaves the comparison as it was. Nil: no value is equal to it.
func (t Type) nearest(v any, o op) any {
	switch v := v.(type) {
	case float64:
		if short := float64(float32(v)); t.name == typeFloat && !math.IsInf(short, 0) {
			return short
		}
	case int64: // rounded down
		switch o {
		case opLess, opGreaterEqual:
			return v + 1
		case opEqual, opNotEqual, opIn, opNotIn:
			return nil
		}
	}
	return v
}

const (
	secondsPerDay = 86400
	microsPerDay  = secondsPerDay * 1_000_000
)

// literal reads a filter's literal as a value of the type: dates and times as text or as counts since 1970, binary as
// hex. The error is errInexact, or says in a clause what is wrong.
func (t Type) literal(raw json.RawMessage) (any, error) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("is not valid JSON")
	}
	switch v := v.(type) {
	case bool:
		if t.kind == boolKind {
			return v, nil
		}
	case json.Number:
		return t.number(string(v))
	case string:
		return t.text(v)
	case nil:
		return nil, errors.New("is null; test for null with is-null or not-null")
	}
	return nil, t.mismatch(string(raw))
}

func (t Type) mismatch(literal string) error {
	if len(literal) > 64 {
		literal = literal[:64] + "…"
	}
	return fmt.Errorf("is %s, which is no %s", strings.ToValidUTF8(literal, "?"), t.name)
}

func (t Type) number(n string) (any, error) {
	switch t.kind {
	case intKind:
		i, err := strconv.ParseInt(n, 10, 64)
		if err == nil {
			return i, nil
		}
		if r, ok := rational(n); ok && r.IsInt() && r.Num().IsInt64() {
			return r.Num().Int64(), nil
		}
	case floatKind:
		return t.float(n)
	case decimalKind:
		if r, ok := rational(n); ok {
			return r, nil
		}
	}
	return nil, t.mismatch(n)
}

func (t Type) float(n string) (any, error) {
	f, err := strconv.ParseFloat(n, 64)
	if err != nil || math.IsNaN(f) {
		return nil, t.mismatch(n)
	}
	if t.name == typeFloat && float64(float32(f)) != f {
		return f, errInexact
	}
	if i, err := strconv.ParseInt(n, 10, 64); err == nil && (math.Abs(f) >= 1<<53 || int64(f) != i) {
		return f, errInexact
	}
	return f, nil
}

// rational reads a decimal number; exponents are bounded, or a short text would make a number of any size.
func rational(s string) (*big.Rat, bool) {
	if len(s) > 100 || strings.ContainsAny(s, "/_xXoObBpPiI") {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if exp, err := strconv.Atoi(s[i+1:]); err != nil || exp > 100 || exp < -100 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

func (t Type) text(s string) (any, error) {
	switch t.kind {
	case stringKind:
		return s, nil
	case decimalKind:
		if r, ok := rational(s); ok {
			return r, nil
		}
	case floatKind:
		switch s {
		case "Infinity", "+Infinity":
			return math.Inf(1), nil
		case "-Infinity":
			return math.Inf(-1), nil
		case "NaN":
			return nil, errors.New("is NaN; test for it with is-nan or not-nan")
		}
	case intKind:
		if v, ok := t.instant(s); ok {
			return v.value, v.err
		}
	case bytesKind:
		return t.binary(s)
	}
	return nil, t.mismatch(strconv.Quote(s))
}

func (t Type) binary(s string) (any, error) {
	if t.name == typeUUID {
		id, err := uuid.Parse(s)
		if err != nil || len(s) != 36 {
			return nil, t.mismatch(strconv.Quote(s))
		}
		return string(id[:]), nil
	}
	b, err := hex.DecodeString(s)
	if err != nil || t.width > 0 && len(b) != t.width {
		return nil, t.mismatch(strconv.Quote(s))
	}
	return string(b), nil
}

type parsed struct {
	value int64
	err   error // nil or errInexact
}

// instant reads the text of a date or time.
func (t Type) instant(s string) (parsed, bool) {
	const clock = "15:04:05"
	switch {
	case t.name == typeDate:
		d, err := time.Parse(time.DateOnly, s)
		return parsed{value: floorDiv(d.Unix(), secondsPerDay)}, err == nil
	case t.name == typeTime:
		d, err := time.Parse("2006-01-02T"+clock, "1970-01-01T"+withSeconds(s))
		return parsed{d.UnixMicro(), inexactUnless(d.Nanosecond()%1000 == 0)}, err == nil
	case !t.isTimestamp():
		return parsed{}, false
	}
	layout := "2006-01-02T" + clock
	body, zone := s, ""
	if t.hasZone() {
		layout += "Z07:00"
		body, zone = cutZone(s)
	}
	date, rest, ok := strings.Cut(body, "T")
	if !ok {
		return parsed{}, false
	}
	at, err := time.Parse(layout, date+"T"+withSeconds(rest)+zone)
	if err != nil {
		return parsed{}, false
	}
	if !t.isNanos() {
		return parsed{at.UnixMicro(), inexactUnless(at.Nanosecond()%1000 == 0)}, true
	}
	return parsed{value: at.UnixNano()}, at.Year() > 1677 && at.Year() < 2262
}

func inexactUnless(exact bool) error {
	if exact {
		return nil
	}
	return errInexact
}

// cutZone splits a time zone off the end: Z or an offset.
func cutZone(s string) (body, zone string) {
	if strings.HasSuffix(s, "Z") {
		return s[:len(s)-1], "Z"
	}
	if i := len(s) - len("+00:00"); i > 0 && (s[i] == '+' || s[i] == '-') {
		return s[:i], s[i:]
	}
	return s, ""
}

// withSeconds completes 15:04 to 15:04:00, as Java writes whole minutes.
func withSeconds(clock string) string {
	if len(clock) == len("15:04") {
		return clock + ":00"
	}
	return clock
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
