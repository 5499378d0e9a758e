package expression

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/apache/iceberg-go"
)

// op is an operator as the protocol spells it.
type op string

// The operators of predicates.
const (
	opIsNull        op = "is-null"
	opNotNull       op = "not-null"
	opIsNaN         op = "is-nan"
	opNotNaN        op = "not-nan"
	opLess          op = "lt"
	opLessEqual     op = "lt-eq"
	opGreater       op = "gt"
	opGreaterEqual  op = "gt-eq"
	opEqual         op = "eq"
	opNotEqual      op = "not-eq"
	opStartsWith    op = "starts-with"
	opNotStartsWith op = "not-starts-with"
	opIn            op = "in"
	opNotIn         op = "not-in"
)

// opposite gives the operator that is true where o is false, but for nulls and NaN.
func (o op) opposite() op {
	switch o {
	case opIsNull:
		return opNotNull
	case opNotNull:
		return opIsNull
	case opIsNaN:
		return opNotNaN
	case opNotNaN:
		return opIsNaN
	case opLess:
		return opGreaterEqual
	case opLessEqual:
		return opGreater
	case opGreater:
		return opLessEqual
	case opGreaterEqual:
		return opLess
	case opEqual:
		return opNotEqual
	case opNotEqual:
		return opEqual
	case opStartsWith:
		return opNotStartsWith
	case opNotStartsWith:
		return opStartsWith
	case opIn:
		return opNotIn
	}
	return opIn
}

// swapped gives the operator for the operands in the other order.
func (o op) swapped() op {
	switch o {
	case opLess:
		return opGreater
	case opLessEqual:
		return opGreaterEqual
	case opGreater:
		return opLess
	case opGreaterEqual:
		return opLessEqual
	}
	return o
}

func (o op) isUnary() bool {
	return o == opIsNull || o == opNotNull || o == opIsNaN || o == opNotNaN
}

func (o op) isSet() bool { return o == opIn || o == opNotIn }

func (o op) isComparison() bool {
	switch o {
	case opLess, opLessEqual, opGreater, opGreaterEqual, opEqual, opNotEqual, opStartsWith, opNotStartsWith:
		return true
	}
	return false
}

// expression is a bound filter without NOT: negations are in the predicates.
type expression interface {
	// may tells whether a row may match, given what is known of each predicate.
	may(predicateMay func(*predicate) bool) bool
	// reduce replaces predicates by true or false where decide knows them.
	reduce(decide func(*predicate) (result, known bool)) expression
	// selectRows gives the rows for which it is TRUE.
	selectRows(column lookup, rows int) (Bitmap, error)
	// appendJSON writes it, predicates by leaf.
	appendJSON(b []byte, leaf func(*predicate, []byte) []byte) []byte
}

type constant bool

type junction struct {
	and         bool
	left, right expression
}

// predicate is one test of a column, or of a transform of it.
type predicate struct {
	test
	column    Column
	transform iceberg.Transform // nil for the column itself
	vague     bool              // engines differ in what it means exactly, or it is not for us to evaluate: it may always match
	foreign   bool              // it is not for us to evaluate
	other     *Column           // that it is compared with, of a foreign one
	asked     op                // before it was negated
	negated   bool              // raw is within a NOT
	raw       json.RawMessage   // as the client wrote it
	literals  [][]byte          // as the client wrote them
}

func (c constant) may(func(*predicate) bool) bool { return bool(c) }

func (c constant) reduce(func(*predicate) (bool, bool)) expression { return c }

func (c constant) appendJSON(b []byte, _ func(*predicate, []byte) []byte) []byte {
	if c {
		return append(b, "true"...)
	}
	return append(b, "false"...)
}

func (j junction) may(m func(*predicate) bool) bool {
	if j.and {
		return j.left.may(m) && j.right.may(m)
	}
	return j.left.may(m) || j.right.may(m)
}

func (j junction) reduce(decide func(*predicate) (bool, bool)) expression {
	return join(j.and, j.left.reduce(decide), j.right.reduce(decide))
}

// join makes a junction, unless one side decides it.
func join(and bool, left, right expression) expression {
	if c, ok := left.(constant); ok {
		if bool(c) == and {
			return right
		}
		return c
	}
	if c, ok := right.(constant); ok {
		if bool(c) == and {
			return left
		}
		return c
	}
	return junction{and, left, right}
}

func (j junction) appendJSON(b []byte, leaf func(*predicate, []byte) []byte) []byte {
	name := "or"
	if j.and {
		name = "and"
	}
	b = append(append(b, `{"type":"`...), name...)
	b = j.left.appendJSON(append(b, `","left":`...), leaf)
	b = j.right.appendJSON(append(b, `,"right":`...), leaf)
	return append(b, '}')
}

func (p *predicate) may(m func(*predicate) bool) bool { return p.vague || m(p) }

// mayColumn tells whether a predicate may hold by what is known of its column. Of transforms it says nothing.
func (p *predicate) mayColumn(stats func(fieldID int) Summary) bool {
	return p.transform != nil || p.test.may(stats(p.column.ID).of(p.typ))
}

func (p *predicate) reduce(decide func(*predicate) (bool, bool)) expression {
	if p.vague {
		return p
	}
	if result, known := decide(p); known {
		return constant(result)
	}
	return p
}

func (p *predicate) appendJSON(b []byte, leaf func(*predicate, []byte) []byte) []byte {
	if !p.negated {
		return leaf(p, b)
	}
	return append(leaf(p, append(b, `{"type":"not","child":`...)), '}')
}

// appendSent writes the predicate as the client wrote it.
func (p *predicate) appendSent(b []byte) []byte { return append(b, p.raw...) }

// appendBound writes the predicate with the schema's name of its column, before it was negated.
func (p *predicate) appendBound(b []byte) []byte {
	if p.foreign {
		return append(b, p.raw...)
	}
	o := p.asked
	b = append(append(b, `{"type":"`...), o...)
	b = append(b, `","term":`...)
	if p.transform != nil {
		b = append(append(b, `{"type":"transform","transform":`...), quoted(p.transform.String())...)
		b = append(append(b, `,"term":`...), quoted(p.column.Path)...)
		b = append(b, '}')
	} else {
		b = append(b, quoted(p.column.Path)...)
	}
	switch {
	case o.isUnary():
	case o.isSet():
		b = append(append(b, `,"values":[`...), bytes.Join(p.literals, []byte(","))...)
		b = append(b, ']')
	default:
		b = append(append(b, `,"value":`...), p.literals[0]...)
	}
	return append(b, '}')
}

// predicates gives all predicates of a filter.
func predicates(e expression) iter.Seq[*predicate] {
	return func(yield func(*predicate) bool) { eachPredicate(e, yield) }
}

func eachPredicate(e expression, yield func(*predicate) bool) bool {
	switch e := e.(type) {
	case junction:
		return eachPredicate(e.left, yield) && eachPredicate(e.right, yield)
	case *predicate:
		return yield(e)
	}
	return true
}
