package expression

import (
	"encoding/json"
	"strings"
)

// leafJSON is a predicate as the protocol has it.
type leafJSON struct {
	Type   op                `json:"type"`
	Term   string            `json:"term"`
	Value  json.RawMessage   `json:"value,omitempty"`
	Values []json.RawMessage `json:"values,omitempty"`
}

// unboundTest reads a test with its column in front, or a comparison with the value in front.
func (p *textParser) unboundTest() (json.RawMessage, error) {
	if p.atValue() {
		literal := p.next
		if _, err := p.value(Type{}); err != nil {
			return nil, err
		}
		o := comparison(p.peek())
		if o == "" {
			return nil, p.expected("one of = <> < <= > >=")
		}
		p.take()
		col, err := p.column()
		if err != nil {
			return nil, err
		}
		after := p.next
		p.next = literal
		v, err := p.value(col.Type)
		p.next = after
		return written(leafJSON{Type: o.swapped(), Term: col.Path, Value: v}), err
	}
	col, err := p.column()
	if err != nil {
		return nil, err
	}
	if o := comparison(p.peek()); o != "" {
		p.take()
		v, err := p.value(col.Type)
		return written(leafJSON{Type: o, Term: col.Path, Value: v}), err
	}
	if p.skip("IS") {
		return p.unary(col)
	}
	negate := p.skip("NOT")
	raw, err := p.wordTest(col)
	if negate {
		raw = negatedJSON(raw)
	}
	return raw, err
}

func (p *textParser) unary(col Column) (json.RawMessage, error) {
	o, nan := opIsNull, opIsNaN
	if p.skip("NOT") {
		o, nan = opNotNull, opNotNaN
	}
	switch {
	case p.skip("NULL"):
	case p.skip("NAN"):
		o = nan
	default:
		return nil, p.expected("NULL or NAN")
	}
	return written(leafJSON{Type: o, Term: col.Path}), nil
}

// wordTest reads IN, BETWEEN and LIKE.
func (p *textParser) wordTest(col Column) (json.RawMessage, error) {
	switch {
	case p.skip("IN"):
		return p.members(col)
	case p.skip("BETWEEN"):
		low, err := p.value(col.Type)
		if err != nil {
			return nil, err
		}
		if !p.skip("AND") {
			return nil, p.expected("AND and the upper end")
		}
		high, err := p.value(col.Type)
		return joinedJSON("and", written(leafJSON{Type: opGreaterEqual, Term: col.Path, Value: low}),
			written(leafJSON{Type: opLessEqual, Term: col.Path, Value: high})), err
	case p.skip("LIKE"):
		return p.like(col)
	}
	return nil, p.expected("a test such as = < IN BETWEEN LIKE IS after the column")
}

func (p *textParser) members(col Column) (json.RawMessage, error) {
	if !p.skip("(") {
		return nil, p.expected("( and a list of values")
	}
	leaf := leafJSON{Type: opIn, Term: col.Path}
	for {
		v, err := p.value(col.Type)
		if err != nil {
			return nil, err
		}
		leaf.Values = append(leaf.Values, v)
		if p.skip(")") {
			return written(leaf), nil
		}
		if !p.skip(",") {
			return nil, p.expected(", or )")
		}
	}
}

// like reads a pattern that means how a text starts.
func (p *textParser) like(col Column) (json.RawMessage, error) {
	t := p.peek()
	if t.kind != textToken {
		return nil, p.expected("a pattern in single quotes")
	}
	p.take()
	var prefix strings.Builder
	escaped := false
	for i, c := range t.text {
		switch {
		case escaped || c != '\\' && c != '%' && c != '_':
			prefix.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '%' && i == len(t.text)-1:
			return written(leafJSON{Type: opStartsWith, Term: col.Path, Value: quoted(prefix.String())}), nil
		default:
			return nil, wrongLike(t)
		}
	}
	return nil, wrongLike(t)
}

func wrongLike(t token) error {
	return wrongText(t.at, `LIKE takes a pattern with one %%, at its end, such as 'abc%%'; write other %% and _ as \%% and \_, and use = for a whole text`)
}

// column reads a name, with dots between nested ones.
func (p *textParser) column() (Column, error) {
	at, path := p.peek().at, ""
	for {
		t := p.peek()
		if t.kind != wordToken && t.kind != nameToken {
			return Column{}, p.expected("the name of a column")
		}
		p.take()
		if path += t.text; !p.skip(".") {
			break
		}
		path += "."
	}
	col, err := p.columns.Find(path, false)
	if err != nil {
		return Column{}, located(err, at)
	}
	return col, nil
}

// atValue tells whether a value is next, and no column.
func (p *textParser) atValue() bool {
	switch t := p.peek(); t.kind {
	case textToken, numberToken:
		return true
	case symbolToken:
		return t.text == "-" || t.text == "+"
	case wordToken:
		return t.is("TRUE") || t.is("FALSE") || typeWord(t) && p.ahead().kind == textToken
	}
	return false
}

// typeWord tells whether a word in front of a text says what the text is.
func typeWord(t token) bool {
	return t.is("DATE") || t.is("TIMESTAMP") || t.is("TIMESTAMPTZ") || t.is("TIME")
}

// value reads a literal to be compared with values of the type.
func (p *textParser) value(typ Type) (json.RawMessage, error) {
	if t := p.peek(); t.is("NULL") {
		return nil, wrongText(t.at, "nothing compares with NULL; use IS NULL or IS NOT NULL")
	}
	if !p.atValue() {
		return nil, p.expected("a value such as 'text', 12, 1.5, TRUE or DATE '2026-01-31'")
	}
	t := p.take()
	switch {
	case t.kind == textToken:
		return quoted(typ.fullText(t.text)), nil
	case t.kind == numberToken:
		return json.RawMessage(t.text), nil
	case t.is("TRUE"), t.is("FALSE"):
		return json.RawMessage(strings.ToLower(t.text)), nil
	case typeWord(t):
		return quoted(typ.fullText(p.take().text)), nil
	}
	if p.peek().kind != numberToken {
		return nil, p.expected("a number after " + t.text)
	}
	if number := p.take().text; t.text == "-" {
		return json.RawMessage("-" + number), nil
	} else {
		return json.RawMessage(number), nil
	}
}

// fullText completes the text of a timestamp as SQL does: a blank for T, midnight for a date alone, UTC for no zone, full
// hours for an offset without minutes.
func (t Type) fullText(s string) string {
	const date = len("2026-01-31")
	if !t.isTimestamp() || len(s) < date {
		return s
	}
	switch {
	case len(s) == date:
		s += "T00:00:00"
	case s[date] == ' ':
		s = s[:date] + "T" + s[date+1:]
	}
	if !t.hasZone() {
		return s
	}
	switch at := strings.LastIndexAny(s, "Z+-"); {
	case at < date:
		s += "+00:00"
	case s[at] != 'Z' && len(s)-at == len("+00"):
		s += ":00"
	}
	return s
}
