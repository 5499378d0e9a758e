package expression

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
	typ    Type
	values []any // in order; none for unary operators
	nulls  bool
}

// Summary is what is known of the values that a file, a part of it, or the files of a manifest have of a column or
// partition field. Bounds are as Type.Bound gives them.
type Summary struct {
	Lower, Upper      any  // nil unknown
	HasNull, HasNaN   bool // may have
	OnlyNull, OnlyNaN bool // certainly
	Exact             bool // Lower is the only value there may be, but for NULL and NaN
}

// Unknown is the Summary of what nothing is known of.
func Unknown() Summary { return Summary{HasNull: true, HasNaN: true} }

// SetBounds takes bounds that make sense together. Equal ones leave room for one value.
func (s *Summary) SetBounds(lower, upper any) {
	if lower == nil || upper == nil {
		s.Lower, s.Upper = lower, upper
		return
	}
	if order := compare(lower, upper); order <= 0 {
		s.Lower, s.Upper, s.Exact = lower, upper, order == 0
	}
}

// of leaves out bounds that are no values of the type.
func (s Summary) of(t Type) Summary {
	if s.Lower != nil && !t.holds(s.Lower) || s.Upper != nil && !t.holds(s.Upper) {
		s.Lower, s.Upper, s.Exact = nil, nil, false
	}
	s.Exact = s.Exact && s.Lower != nil
	return s
}

// may tells whether a row may pass the test. It errs on the side of yes.
func (t test) may(s Summary) bool {
	if t.op.isUnary() {
		return t.mayUnary(s)
	}
	switch t.op {
	case opNotEqual, opNotIn:
		only := s.Exact && !s.HasNull && !s.HasNaN && !isZero(s.Lower)
		return !only || !t.among(s.Lower)
	case opNotStartsWith:
		return s.HasNull || !t.isPrefixOf(s.Lower) || !t.isPrefixOf(s.Upper)
	}
	if t.nulls && (s.HasNull || s.HasNaN) {
		return true
	}
	return !s.OnlyNull && t.mayCompare(s)
}

func (t test) mayUnary(s Summary) bool {
	switch t.op {
	case opIsNull:
		return s.HasNull
	case opNotNull:
		return !s.OnlyNull
	case opIsNaN:
		return s.HasNaN
	}
	return !s.OnlyNaN
}

func (t test) mayCompare(s Summary) bool {
	// Some engines order NaN above all numbers.
	nan := t.typ.kind == floatKind && s.HasNaN
	switch t.op {
	case opLess, opLessEqual:
		return s.Lower == nil || t.below(s.Lower, s.Exact)
	case opGreater, opGreaterEqual:
		return nan || s.Upper == nil || t.above(s.Upper, s.Exact)
	case opStartsWith:
		return !s.OnlyNaN && t.mayStart(s)
	}
	return !s.OnlyNaN && t.mayEqual(s)
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

func (t test) mayEqual(s Summary) bool {
	if len(t.values) == 0 {
		return false // in of nothing
	}
	if s.Exact {
		return t.among(s.Lower)
	}
	if len(t.values) > mostMembers {
		return t.overlaps(s, t.values[0], t.values[len(t.values)-1])
	}
	return slices.ContainsFunc(t.values, func(v any) bool {
		return t.overlaps(s, v, v) || t.typ.name == typeUUID && overlapsSigned(s, v)
	})
}

// overlaps tells whether the range from low to high meets the summary's.
func (t test) overlaps(s Summary, low, high any) bool {
	if t.typ.name == typeUUID && len(t.values) > mostMembers {
		return true
	}
	return (s.Lower == nil || compare(s.Lower, high) <= 0) && (s.Upper == nil || compare(s.Upper, low) >= 0)
}

// overlapsSigned is overlaps in the order of older writers' UUID bounds: two signed 64-bit halves.
func overlapsSigned(s Summary, v any) bool {
	signed := func(v any) string {
		b := []byte(v.(string))
		b[0] ^= 0x80
		b[8] ^= 0x80
		return string(b)
	}
	return (s.Lower == nil || signed(s.Lower) <= signed(v)) && (s.Upper == nil || signed(s.Upper) >= signed(v))
}

// mayStart: a value that starts with the prefix lies between the prefix itself and whatever follows it.
func (t test) mayStart(s Summary) bool {
	prefix := t.values[0].(string)
	cut := func(v any) string {
		text := v.(string)
		return text[:min(len(text), len(prefix))]
	}
	return (s.Lower == nil || cut(s.Lower) <= prefix) && (s.Upper == nil || cut(s.Upper) >= prefix)
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
	return t.may(Summary{Lower: v, Upper: v, Exact: true}), true
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
