package expression

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
)

// MostBytes is how long a filter may be.
const MostBytes = 1 << 20

// The bounds of a filter: how deep it nests and how many predicates it has.
const (
	deepestFilter  = 200
	mostPredicates = 5000
)

// parser binds a filter to the columns of a schema while it reads it.
type parser struct {
	columns    Columns
	ignoreCase bool
	predicates int
}

// node is an object of the filter.
type node map[string]json.RawMessage

// parseFilter reads a filter. Errors are fault.Invalid and name the column, or say which part is wrong.
func parseFilter(raw json.RawMessage, cols Columns, ignoreCase bool) (expression, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return constant(true), nil
	}
	if len(raw) > MostBytes {
		return nil, fault.New(fault.Invalid, "The filter is larger than the limit of %d bytes. Use a shorter one and filter further yourself.", MostBytes)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, fault.New(fault.Invalid, "The filter is not valid JSON.")
	}
	p := parser{columns: cols, ignoreCase: ignoreCase}
	return p.predicate(compact.Bytes(), false, 0)
}

// predicate reads one node; negate tells that it is within an odd number of NOTs.
func (p *parser) predicate(raw json.RawMessage, negate bool, depth int) (expression, error) {
	if p.predicates++; depth > deepestFilter || p.predicates > mostPredicates {
		return nil, fault.New(fault.Invalid, "The filter nests deeper than %d or has more than %d parts. Use a simpler one and filter further yourself.", deepestFilter, mostPredicates)
	}
	if v, ok := boolean(raw); ok {
		return constant(v != negate), nil
	}
	n, ok := object(raw)
	if !ok {
		return nil, wrongFilter("an expression is %s, not an object, true or false", clip(raw))
	}
	kind, _ := text(n["type"])
	switch kind {
	case "true", "false":
		return constant((kind == "true") != negate), nil
	case "and", "or":
		return p.junction(n, (kind == "and") != negate, negate, depth)
	case "not":
		if n["child"] == nil {
			return nil, wrongFilter("%q needs a child", kind)
		}
		return p.predicate(n["child"], !negate, depth+1)
	}
	return p.leaf(op(kind), n, raw, negate)
}

func (p *parser) junction(n node, and, negate bool, depth int) (expression, error) {
	if n["left"] == nil || n["right"] == nil {
		return nil, wrongFilter("\"and\" and \"or\" need left and right")
	}
	left, err := p.predicate(n["left"], negate, depth+1)
	if err != nil {
		return nil, err
	}
	right, err := p.predicate(n["right"], negate, depth+1)
	if err != nil {
		return nil, err
	}
	return join(and, left, right), nil
}

func (p *parser) leaf(o op, n node, raw json.RawMessage, negate bool) (expression, error) {
	pred := &predicate{raw: raw, negated: negate}
	var err error
	switch {
	case o.isUnary():
		err = p.bindUnary(pred, o, n)
	case o.isSet():
		err = p.bindSet(pred, o, n)
	case o.isComparison():
		o, err = p.bindComparison(pred, o, n)
	default:
		err = wrongFilter("%s is no expression type", clip(n["type"]))
	}
	if err != nil {
		return nil, err
	}
	if o.isSet() && len(pred.literals) == 0 {
		return constant((o == opNotIn) != negate), nil // a set of nothing, which has not even NULL
	}
	pred.op, pred.asked = o, o
	if negate {
		pred.op = o.opposite()
		pred.nulls = slices.Contains([]op{opLess, opLessEqual, opGreater, opGreaterEqual}, o)
	}
	return pred, nil
}

func (p *parser) bindUnary(pred *predicate, o op, n node) error {
	term := either(n["term"], n["child"])
	if err := p.bindTerm(pred, term); err != nil {
		return err
	}
	if (o == opIsNaN || o == opNotNaN) && pred.typ.kind != floatKind && !pred.vague {
		return fault.New(fault.Invalid, "The filter tests column %q for NaN, but its type is %s. Only float and double have NaN.", pred.column.Path, pred.column.Type.name)
	}
	return nil
}

func (p *parser) bindSet(pred *predicate, o op, n node) error {
	if err := p.bindTerm(pred, either(n["term"], n["child"])); err != nil {
		return err
	}
	list := n["values"]
	if wrapped, ok := object(list); ok {
		if kind, _ := text(wrapped["type"]); kind != "literals" {
			return wrongFilter("values must be a list of literals")
		}
		list = wrapped["values"]
	}
	var values []json.RawMessage
	if list == nil || json.Unmarshal(list, &values) != nil || values == nil {
		return wrongFilter("\"in\" and \"not-in\" need a list of values")
	}
	for _, v := range values {
		if err := p.addLiteral(pred, o, v); err != nil {
			return err
		}
	}
	slices.SortFunc(pred.values, compare)
	pred.values = slices.CompactFunc(pred.values, func(a, b any) bool { return compare(a, b) == 0 })
	return nil
}

// bindComparison reads term and value, or left and right in either order. A comparison of two columns is left to the
// engine.
func (p *parser) bindComparison(pred *predicate, o op, n node) (op, error) {
	term, value := n["term"], n["value"]
	if term == nil {
		if term, value = n["left"], n["right"]; isLiteral(term) {
			if o == opStartsWith || o == opNotStartsWith || isLiteral(value) {
				return o, wrongFilter("%q compares no column", o)
			}
			term, value, o = value, term, o.swapped()
		}
	}
	if err := p.bindTerm(pred, term); err != nil {
		return o, err
	}
	if value == nil {
		return o, wrongFilter("%q needs a value", o)
	}
	if !isLiteral(value) {
		var with predicate
		err := p.bindTerm(&with, value)
		pred.vague, pred.foreign, pred.other = true, true, &with.column
		return o, err
	}
	if (o == opStartsWith || o == opNotStartsWith) && pred.typ.kind != stringKind && !pred.vague {
		return o, fault.New(fault.Invalid, "The filter tests how column %q starts, but its type is %s, not string.", pred.column.Path, pred.column.Type.name)
	}
	return o, p.addLiteral(pred, o, value)
}

// addLiteral binds one literal to the type that the predicate compares.
func (p *parser) addLiteral(pred *predicate, o op, raw json.RawMessage) error {
	if wrapped, ok := object(raw); ok {
		raw = wrapped["value"]
		if kind, _ := text(wrapped["type"]); kind != "literal" || raw == nil {
			return wrongFilter("a value is %s, not a literal", clip(raw))
		}
	}
	if pred.typ.kind == noKind {
		return fault.New(fault.Invalid, "The filter compares column %q, but values of its type %s cannot be compared. Only is-null and not-null can test it.", pred.column.Path, pred.column.Type.name)
	}
	v, err := pred.typ.literal(raw)
	inexact := err == errInexact //nolint:errorlint // it is never wrapped
	if err != nil && !inexact {
		return fault.New(fault.Invalid, "The filter's literal for column %q %s.", pred.column.Path, err)
	}
	pred.literals = append(pred.literals, raw)
	if inexact {
		pred.vague = true
		if v = pred.typ.nearest(v, o); v == nil {
			return nil
		}
	}
	pred.values = append(pred.values, v)
	return nil
}

func wrongFilter(format string, args ...any) error {
	f := fault.New(fault.Invalid, format, args...)
	f.Message = "The filter is not an Iceberg expression: " + f.Message + "."
	return f
}

func either(a, b json.RawMessage) json.RawMessage {
	if a != nil {
		return a
	}
	return b
}

func boolean(raw json.RawMessage) (value, ok bool) {
	s := string(raw)
	return s == "true", s == "true" || s == "false"
}

func object(raw json.RawMessage) (node, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	var n node
	return n, json.Unmarshal(raw, &n) == nil
}

func text(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	return s, json.Unmarshal(raw, &s) == nil
}

// isLiteral tells whether an operand is a bare value or a literal object, and not a reference or function.
func isLiteral(raw json.RawMessage) bool {
	n, ok := object(raw)
	if !ok {
		return raw != nil
	}
	kind, _ := text(n["type"])
	return kind == "literal"
}

func clip(raw json.RawMessage) string {
	const most = 80
	if len(raw) == 0 {
		return "missing"
	}
	if len(raw) > most {
		return string(bytes.ToValidUTF8(raw[:most], []byte("?"))) + "…"
	}
	return string(raw)
}
