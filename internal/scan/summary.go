package scan

import (
	"slices"
	"strings"
)

// mostMembers is how long a list of an "in" may be for each member to be looked at; of a longer one the range counts.
const mostMembers = 200

// test is a predicate without its column: what holds of a value. nulls tells that rows with NULL or NaN may pass it too,
// as they may pass a negated comparison.
type test struct {
	op     op
	typ    valueType
	values []any // in order; none for unary operators
	nulls  bool
}

// summary is what is known of the values that a file, or the files of a manifest, have of a column or partition field.
type summary struct {
	hasNull, hasNaN   bool // may have
	onlyNull, onlyNaN bool // certainly
	lower, upper      any  // nil unknown
	exact             bool // lower is the only value there may be, but for NULL and NaN
}

// unknown is the summary of what nothing is known of.
func unknown() summary { return summary{hasNull: true, hasNaN: true} }

// may tells whether a row may pass the test. It errs on the side of yes.
func (t test) may(s summary) bool {
	if t.op.isUnary() {
		return t.mayUnary(s)
	}
	switch t.op {
	case opNotEqual, opNotIn:
		only := s.exact && !s.hasNull && !s.hasNaN && !isZero(s.lower)
		return !only || !t.among(s.lower)
	case opNotStartsWith:
		return s.hasNull || !t.isPrefixOf(s.lower) || !t.isPrefixOf(s.upper)
	}
	if t.nulls && (s.hasNull || s.hasNaN) {
		return true
	}
	return !s.onlyNull && t.mayCompare(s)
}

func (t test) mayUnary(s summary) bool {
	switch t.op {
	case opIsNull:
		return s.hasNull
	case opNotNull:
		return !s.onlyNull
	case opIsNaN:
		return s.hasNaN
	}
	return !s.onlyNaN
}

func (t test) mayCompare(s summary) bool {
	// Some engines order NaN above all numbers.
	nan := t.typ.kind == floatKind && s.hasNaN
	switch t.op {
	case opLess, opLessEqual:
		return s.lower == nil || t.below(s.lower, s.exact)
	case opGreater, opGreaterEqual:
		return nan || s.upper == nil || t.above(s.upper, s.exact)
	case opStartsWith:
		return !s.onlyNaN && t.mayStart(s)
	}
	return !s.onlyNaN && t.mayEqual(s)
}

// below tells whether a value of at least lower can be less than the literal.
func (t test) below(lower any, exact bool) bool {
	if t.typ.name == typeUUID && !exact {
		return true // older writers order UUIDs as signed numbers
	}
	order := compare(lower, t.values[0])
	return order < 0 || order == 0 && (t.op == opLessEqual || isZero(lower))
}

func (t test) above(upper any, exact bool) bool {
	if t.typ.name == typeUUID && !exact {
		return true
	}
	order := compare(upper, t.values[0])
	return order > 0 || order == 0 && (t.op == opGreaterEqual || isZero(upper))
}

// isZero: some engines tell -0.0 from 0.0 and order it below; here they are equal.
func isZero(v any) bool {
	f, ok := v.(float64)
	return ok && f == 0
}

func (t test) mayEqual(s summary) bool {
	if len(t.values) == 0 {
		return false // in of nothing
	}
	if s.exact {
		return t.among(s.lower)
	}
	if len(t.values) > mostMembers {
		return t.overlaps(s, t.values[0], t.values[len(t.values)-1])
	}
	return slices.ContainsFunc(t.values, func(v any) bool {
		return t.overlaps(s, v, v) || t.typ.name == typeUUID && overlapsSigned(s, v)
	})
}

// overlaps tells whether the range from low to high meets the summary's.
func (t test) overlaps(s summary, low, high any) bool {
	if t.typ.name == typeUUID && len(t.values) > mostMembers {
		return true
	}
	return (s.lower == nil || compare(s.lower, high) <= 0) && (s.upper == nil || compare(s.upper, low) >= 0)
}

// overlapsSigned is overlaps in the order of older writers' UUID bounds: two signed 64-bit halves.
func overlapsSigned(s summary, v any) bool {
	signed := func(v any) string {
		b := []byte(v.(string))
		b[0] ^= 0x80
		b[8] ^= 0x80
		return string(b)
	}
	return (s.lower == nil || signed(s.lower) <= signed(v)) && (s.upper == nil || signed(s.upper) >= signed(v))
}

// mayStart: a value that starts with the prefix lies between the prefix itself and whatever follows it.
func (t test) mayStart(s summary) bool {
	prefix := t.values[0].(string)
	cut := func(v any) string {
		text := v.(string)
		return text[:min(len(text), len(prefix))]
	}
	return (s.lower == nil || cut(s.lower) <= prefix) && (s.upper == nil || cut(s.upper) >= prefix)
}

// isPrefixOf is false for an unknown value.
func (t test) isPrefixOf(v any) bool {
	text, known := v.(string)
	return known && strings.HasPrefix(text, t.values[0].(string))
}

func (t test) among(v any) bool {
	_, found := slices.BinarySearchFunc(t.values, v, compare)
	return found
}

// decide says whether a value passes the test, where engines agree on it. nan tells that the value is NaN, v nil that it
// is NULL.
func (t test) decide(v any, nan bool) (result, known bool) {
	null := v == nil && !nan
	switch {
	case t.op.isUnary():
		return t.decideUnary(null, nan)
	case null:
		return false, !t.nulls && t.op != opNotEqual && t.op != opNotIn && t.op != opNotStartsWith
	case nan:
		return false, !t.nulls && (t.op == opEqual || t.op == opIn)
	case isZero(v) && t.op != opEqual && t.op != opIn:
		return false, false
	}
	return t.may(summary{lower: v, upper: v, exact: true}), true
}

func (t test) decideUnary(null, nan bool) (result, known bool) {
	switch t.op {
	case opIsNull:
		return null, true
	case opNotNull:
		return !null, true
	case opIsNaN:
		return nan, true
	}
	return !nan, !null // whether NULL is not NaN is disputed
}
