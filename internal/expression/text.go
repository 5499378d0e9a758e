package expression

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// The bounds of a text filter: its bytes, and how deep its brackets and NOTs nest.
const (
	mostText    = 256 << 10
	deepestText = 100
)

// ParseText reads a condition like SQL's WHERE: = <> != < <= > >= IN BETWEEN LIKE 'x%' IS NULL IS NAN, AND OR NOT and
// brackets. Names are the schema's in their case, with dots between nested ones, in double quotes where they need them.
// Nothing at all means all rows. Errors are fault.Invalid and say at which character, from 1, what was expected.
func ParseText(text string, schema metadata.Schema) (*Filter, error) {
	if len(text) > mostText {
		return nil, fault.New(fault.Invalid, "The filter is longer than the limit of %d bytes. Use a shorter one and filter further yourself.", mostText)
	}
	if !utf8.ValidString(text) {
		return nil, fault.New(fault.Invalid, "The filter is not UTF-8 text.")
	}
	if strings.TrimSpace(text) == "" {
		return All(), nil
	}
	list, err := tokens(text)
	if err != nil {
		return nil, err
	}
	columns := NewColumns(schema)
	p := textParser{tokens: list, columns: columns}
	raw, err := p.either(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != endToken {
		return nil, p.expected("AND, OR or the end")
	}
	return ParseIn(raw, columns, false)
}

// textParser writes a text filter as an expression of the protocol.
type textParser struct {
	tokens  []token
	next    int
	columns Columns
}

func (p *textParser) peek() token { return p.tokens[p.next] }

// ahead gives the token after the next one.
func (p *textParser) ahead() token { return p.tokens[min(p.next+1, len(p.tokens)-1)] }

func (p *textParser) take() token {
	t := p.tokens[p.next]
	p.next = min(p.next+1, len(p.tokens)-1)
	return t
}

// skip takes the keyword or symbol if it is next.
func (p *textParser) skip(word string) bool {
	if !p.peek().is(word) {
		return false
	}
	p.take()
	return true
}

func (p *textParser) expected(what string) error {
	return wrongText(p.peek().at, "expected %s, found %s", what, p.peek().shown())
}

func (p *textParser) either(depth int) (json.RawMessage, error) {
	return p.chain("OR", depth, p.both)
}

func (p *textParser) both(depth int) (json.RawMessage, error) {
	return p.chain("AND", depth, p.not)
}

// chain reads operands with the word between them.
func (p *textParser) chain(word string, depth int, operand func(int) (json.RawMessage, error)) (json.RawMessage, error) {
	var parts []json.RawMessage
	for {
		part, err := operand(depth)
		if err != nil {
			return nil, err
		}
		if parts = append(parts, part); !p.skip(word) {
			return balanced(strings.ToLower(word), parts), nil
		}
	}
}

// balanced joins the parts of a chain, so that a long one nests no deeper than it must.
func balanced(name string, parts []json.RawMessage) json.RawMessage {
	if len(parts) == 1 {
		return parts[0]
	}
	middle := len(parts) / 2
	return joinedJSON(name, balanced(name, parts[:middle]), balanced(name, parts[middle:]))
}

func joinedJSON(name string, left, right json.RawMessage) json.RawMessage {
	return written(struct {
		Type  string          `json:"type"`
		Left  json.RawMessage `json:"left"`
		Right json.RawMessage `json:"right"`
	}{name, left, right})
}

func negatedJSON(child json.RawMessage) json.RawMessage {
	return written(struct {
		Type  string          `json:"type"`
		Child json.RawMessage `json:"child"`
	}{"not", child})
}

// written is the JSON of what can always be written.
func written(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}

func (p *textParser) not(depth int) (json.RawMessage, error) {
	if depth > deepestText {
		return nil, wrongText(p.peek().at, "brackets and NOT nest deeper than %d", deepestText)
	}
	if p.skip("NOT") {
		child, err := p.not(depth + 1)
		return negatedJSON(child), err
	}
	if p.skip("(") {
		inner, err := p.either(depth + 1)
		if err != nil {
			return nil, err
		}
		if !p.skip(")") {
			return nil, p.expected("AND, OR or )")
		}
		return inner, nil
	}
	if t := p.peek(); (t.is("TRUE") || t.is("FALSE")) && comparison(p.ahead()) == "" {
		p.take()
		return json.RawMessage(strings.ToLower(t.text)), nil
	}
	return p.test()
}

// test reads one test of a column. It is bound at once, so that an error can say where it is.
func (p *textParser) test() (json.RawMessage, error) {
	at := p.peek().at
	raw, err := p.unboundTest()
	if err != nil {
		return nil, err
	}
	if _, err := parseFilter(raw, p.columns, false); err != nil {
		return nil, located(err, at)
	}
	return raw, nil
}

// located adds where in the text an error is.
func located(err error, at int) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	return fault.New(f.Code, "%s It is at character %d of the filter.", f.Message, at)
}

// comparison gives the operator that a token is, or nothing.
func comparison(t token) op {
	if t.kind != symbolToken {
		return ""
	}
	switch t.text {
	case "=":
		return opEqual
	case "<>", "!=":
		return opNotEqual
	case "<":
		return opLess
	case "<=":
		return opLessEqual
	case ">":
		return opGreater
	case ">=":
		return opGreaterEqual
	}
	return ""
}
