package rows

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"

	"github.com/google/uuid"
)

// jsonRow adds the row that text is, well-formed JSON.
func (t *table) jsonRow(text []byte) {
	if !t.spend(len(text)) {
		return
	}
	s := &t.scanner
	s.text, s.at = text, 0
	if s.peek() != '{' {
		t.fail("must be an object of columns, such as {\"id\": 1}, not " + kindOf(text))
		return
	}
	t.jsonMembers(s, t.root, "column")
}

// jsonMembers reads an object into the parts of a struct. Each part has one more value afterwards.
func (t *table) jsonMembers(s *scanner, into *column, what string) {
	s.at++
	depth := len(t.path)
	seen := t.marks(len(into.parts))
	for next := 0; s.peek() != '}' && s.at < len(s.text); {
		name, ok := s.str()
		place, known := into.place(name, next)
		next = place + 1
		if !ok || !known {
			t.path = append(t.path[:depth], step{name: shown(name)})
			t.unknown(into, what)
			s.skip()
			continue
		}
		p := into.parts[place]
		t.path = append(t.path[:depth], step{name: p.field.Name})
		if seen[place] {
			t.fail("is given twice")
			s.skip()
			continue
		}
		seen[place] = true
		t.jsonValue(s, p)
	}
	s.at++
	for place, p := range into.parts {
		if !seen[place] {
			t.path = append(t.path[:depth], step{name: p.field.Name})
			t.missing(p)
		}
	}
	t.path = t.path[:depth]
	t.flags = t.flags[:len(t.flags)-len(into.parts)]
}

// marks gives n flags that are false, from a stack that nested objects share.
func (t *table) marks(n int) []bool {
	start := len(t.flags)
	for range n {
		t.flags = append(t.flags, false)
	}
	return t.flags[start : start+n : start+n]
}

// missing adds what a member is that the row does not have.
func (t *table) missing(p *column) {
	if p.absent != nil {
		outer := t.scanner
		t.scanner = scanner{text: p.absent}
		t.jsonValue(&t.scanner, p)
		t.scanner = outer
		return
	}
	if !p.field.Nullable {
		t.fail("is required and is missing")
	}
	p.null()
}

// jsonValue reads the next value into a column, which has one more value afterwards, whatever the text is.
func (t *table) jsonValue(s *scanner, c *column) {
	first := s.peek()
	if first == 'n' {
		s.word()
		if !c.field.Nullable {
			t.fail("is required and is null")
		}
		c.null()
		return
	}
	before, start := c.values, s.at
	if !t.jsonGiven(s, c, first) {
		c.null()
		if s.at == start {
			s.skip()
		}
	}
	if c.values != before+1 {
		panic(fmt.Sprintf("column %s has %d values, not %d", c.field.Name, c.values, before+1))
	}
}

// jsonGiven reads a value that is not null. Where it is wrong it says so, adds nothing and gives false.
func (t *table) jsonGiven(s *scanner, c *column, first byte) bool {
	switch c.kind {
	case structs:
		if first != '{' {
			return t.mismatch(s, "an object")
		}
		t.jsonMembers(s, c, "field")
		c.mark(true)
		return true
	case lists:
		if first != '[' {
			return t.mismatch(s, "an array")
		}
		return t.jsonList(s, c)
	case maps:
		if first != '[' {
			return t.mismatch(s, `an array of {"key": …, "value": …}`)
		}
		return t.jsonMap(s, c)
	case booleans:
		if first != 't' && first != 'f' {
			return t.mismatch(s, "true or false")
		}
		s.word()
		c.addBoolean(first == 't')
		return true
	case integers, floats, doubles, decimals:
		return t.jsonNumber(s, c, first)
	}
	if first != '"' {
		return t.mismatch(s, expectation(c))
	}
	text, ok := s.str()
	if !ok {
		t.fail("is text that is not Unicode: send valid UTF-8, without half of a surrogate pair")
		return false
	}
	return t.textValue(c, text)
}

func (t *table) jsonList(s *scanner, c *column) bool {
	s.at++
	depth, element := len(t.path), c.parts[0]
	for place := 0; s.peek() != ']' && s.at < len(s.text); place++ {
		t.path = append(t.path[:depth], step{place: place})
		if !t.spend(int(element.cost)) {
			s.at = len(s.text)
			break
		}
		t.jsonValue(s, element)
	}
	s.at++
	t.path = t.path[:depth]
	c.addParts()
	return true
}

func (t *table) jsonMap(s *scanner, c *column) bool {
	s.at++
	depth := len(t.path)
	for place := 0; s.peek() != ']' && s.at < len(s.text); place++ {
		t.path = append(t.path[:depth], step{place: place})
		if !t.spend(int(c.parts[0].cost + c.parts[1].cost)) {
			s.at = len(s.text)
			break
		}
		if s.peek() != '{' {
			t.mismatch(s, `an object of "key" and "value"`)
			s.skip()
			continue
		}
		t.jsonMembers(s, c, "member")
	}
	s.at++
	t.path = t.path[:depth]
	c.addParts()
	t.repeated(c)
	return true
}

// jsonNumber reads a number, which integers and decimals may be as text too.
func (t *table) jsonNumber(s *scanner, c *column, first byte) bool {
	var text []byte
	switch {
	case first == '"':
		var ok bool
		if text, ok = s.str(); !ok {
			return t.wrong(text, "is no number")
		}
		if c.kind == floats || c.kind == doubles {
			return t.namedFloat(c, text)
		}
	case first == '-' || isDigit(first):
		text = s.word()
	default:
		return t.mismatch(s, "a number")
	}
	switch c.kind {
	case integers:
		v, message := parseInteger(text, c.integerBits)
		if message != "" {
			return t.wrong(text, message)
		}
		c.addInteger(v)
	case decimals:
		return t.decimal(c, text)
	default:
		v, err := strconv.ParseFloat(string(text), 8*c.width)
		if err != nil {
			return t.wrong(text, "is outside of what the column can hold")
		}
		c.addFloat(v)
	}
	return true
}

func (t *table) namedFloat(c *column, text []byte) bool {
	switch string(text) {
	case "NaN":
		c.addFloat(math.NaN())
	case "Infinity":
		c.addFloat(math.Inf(1))
	case "-Infinity":
		c.addFloat(math.Inf(-1))
	default:
		return t.wrong(text, `is no number; text may be "NaN", "Infinity" or "-Infinity"`)
	}
	return true
}

// textValue adds a value that is written as text.
func (t *table) textValue(c *column, text []byte) bool {
	var v int64
	var message string
	switch c.kind {
	case texts:
		c.addBytes(text)
		return true
	case uuids:
		id, err := uuid.ParseBytes(text)
		if err != nil || len(text) != 36 {
			return t.wrong(text, "is no UUID as 01234567-89ab-cdef-0123-456789abcdef")
		}
		c.addBytes(id[:])
		return true
	case binaries, fixeds:
		return t.base64Value(c, text)
	case dates:
		v, message = parseDate(string(text))
	case times:
		v, message = parseClock(string(text), c.digits)
	case timestamps:
		v, message = parseMoment(string(text), c.digits, c.zoned)
	}
	if message != "" {
		return t.wrong(text, message)
	}
	c.addInteger(v)
	return true
}

func (t *table) base64Value(c *column, text []byte) bool {
	before := len(c.data)
	data, err := base64.StdEncoding.Strict().AppendDecode(c.data, text)
	if err != nil {
		return t.wrong(text, "is no base64 of the standard alphabet with padding")
	}
	if n := len(data) - before; c.kind == fixeds && n != c.width {
		return t.wrong(nil, fmt.Sprintf("has %d bytes, and the column takes exactly %d", n, c.width))
	}
	c.data = data
	c.addedBytes()
	return true
}
