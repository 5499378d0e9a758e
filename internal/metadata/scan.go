package metadata

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/sluice-data/sluice/internal/fault"
)

// maxDepth bounds nesting, so that a hostile document cannot exhaust the stack. Jackson allows 1000;
// a schema needs about three levels per nested column.
const maxDepth = 500

// maxInputDepth bounds what clients send, which ends up a few levels deeper in the document: what was
// accepted once must always parse again.
const maxInputDepth = maxDepth - 20

// linearKeys is the number of keys up to which duplicates are found by comparing all of them.
const linearKeys = 24

// checker validates JSON and finds duplicate keys. keys is a stack of the keys of all open objects.
type checker struct {
	buf      []byte
	pos      int
	keys     [][]byte
	maxDepth int
}

// checkJSON tells whether raw is exactly one JSON value without duplicate keys, nested at most limit
// deep. The error is Invalid.
func checkJSON(raw []byte, limit int) error {
	if !utf8.Valid(raw) {
		return fault.New(fault.Invalid, "Cannot parse JSON: it is not valid UTF-8")
	}
	c := checker{buf: raw, maxDepth: limit}
	if err := c.value(0); err != nil {
		return err
	}
	c.space()
	if c.pos != len(c.buf) {
		return c.fail("data after the value")
	}
	return nil
}

func (c *checker) fail(what string) error {
	return fault.New(fault.Invalid, "Cannot parse JSON: %s at byte %d", what, c.pos)
}

func (c *checker) space() { c.pos = skipSpace(c.buf, c.pos) }

func (c *checker) value(depth int) error {
	c.space()
	if c.pos >= len(c.buf) {
		return c.fail("unexpected end")
	}
	switch b := c.buf[c.pos]; {
	case b == '{':
		return c.object(depth + 1)
	case b == '[':
		return c.array(depth + 1)
	case b == '"':
		return c.str()
	case b == 't':
		return c.word("true")
	case b == 'f':
		return c.word("false")
	case b == 'n':
		return c.word("null")
	case b == '-' || isDigit(b):
		return c.number()
	}
	return c.fail("unexpected character")
}

func (c *checker) object(depth int) error {
	if depth > c.maxDepth {
		return c.fail("nested too deeply")
	}
	base := len(c.keys)
	var seen map[string]bool
	c.pos++
	for first := true; ; first = false {
		c.space()
		if c.pos < len(c.buf) && c.buf[c.pos] == '}' && first {
			c.pos++
			break
		}
		if c.pos >= len(c.buf) || c.buf[c.pos] != '"' {
			return c.fail("expected a key")
		}
		start := c.pos
		if err := c.str(); err != nil {
			return err
		}
		if err := c.addKey(unquoteBytes(c.buf[start:c.pos]), base, &seen); err != nil {
			return err
		}
		c.space()
		if c.pos >= len(c.buf) || c.buf[c.pos] != ':' {
			return c.fail("expected a colon")
		}
		c.pos++
		if err := c.value(depth); err != nil {
			return err
		}
		if end, err := c.separator('}'); err != nil || end {
			c.keys = c.keys[:base]
			return err
		}
	}
	c.keys = c.keys[:base]
	return nil
}

// addKey records a key of the innermost object, whose keys start at base of the stack.
func (c *checker) addKey(key []byte, base int, seen *map[string]bool) error {
	open := c.keys[base:]
	if len(open) == maxKeys {
		return c.fail("too many members in one object")
	}
	if len(open) < linearKeys {
		for _, other := range open {
			if bytes.Equal(other, key) {
				return c.fail("duplicate key " + strconv.Quote(string(key)))
			}
		}
	} else {
		if *seen == nil {
			*seen = make(map[string]bool, 2*linearKeys)
			for _, other := range open {
				(*seen)[string(other)] = true
			}
		}
		if (*seen)[string(key)] {
			return c.fail("duplicate key " + strconv.Quote(string(key)))
		}
		(*seen)[string(key)] = true
	}
	c.keys = append(c.keys, key)
	return nil
}

func (c *checker) array(depth int) error {
	if depth > c.maxDepth {
		return c.fail("nested too deeply")
	}
	c.pos++
	c.space()
	if c.pos < len(c.buf) && c.buf[c.pos] == ']' {
		c.pos++
		return nil
	}
	for {
		if err := c.value(depth); err != nil {
			return err
		}
		if end, err := c.separator(']'); err != nil || end {
			return err
		}
	}
}

// separator consumes a comma or the closing bracket, and tells which.
func (c *checker) separator(closing byte) (end bool, err error) {
	c.space()
	if c.pos >= len(c.buf) {
		return false, c.fail("unexpected end")
	}
	b := c.buf[c.pos]
	if b != ',' && b != closing {
		return false, c.fail("expected a comma or the end")
	}
	c.pos++
	return b == closing, nil
}

func (c *checker) str() error {
	buf := c.buf
	for pos := c.pos + 1; pos < len(buf); pos++ {
		b := buf[pos]
		if b >= ' ' && b != '"' && b != '\\' {
			continue
		}
		c.pos = pos
		switch b {
		case '"':
			c.pos++
			return nil
		case '\\':
			c.pos++
			if err := c.escape(); err != nil {
				return err
			}
			pos = c.pos
		default:
			return c.fail("control character in a string")
		}
	}
	c.pos = len(buf)
	return c.fail("unexpected end of a string")
}

// escape checks what follows a backslash and stops at its last byte.
func (c *checker) escape() error {
	if c.pos >= len(c.buf) {
		return c.fail("unexpected end of a string")
	}
	switch c.buf[c.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			c.pos++
			if c.pos >= len(c.buf) || !isHex(c.buf[c.pos]) {
				return c.fail("invalid escape")
			}
		}
		return nil
	}
	return c.fail("invalid escape")
}

func (c *checker) word(want string) error {
	if !bytes.HasPrefix(c.buf[c.pos:], []byte(want)) {
		return c.fail("unexpected character")
	}
	c.pos += len(want)
	return nil
}

func (c *checker) number() error {
	if c.buf[c.pos] == '-' {
		c.pos++
	}
	if c.pos < len(c.buf) && c.buf[c.pos] == '0' {
		c.pos++
	} else if !c.digits() {
		return c.fail("invalid number")
	}
	if c.pos < len(c.buf) && c.buf[c.pos] == '.' {
		c.pos++
		if !c.digits() {
			return c.fail("invalid number")
		}
	}
	if c.pos < len(c.buf) && (c.buf[c.pos] == 'e' || c.buf[c.pos] == 'E') {
		c.pos++
		if c.pos < len(c.buf) && (c.buf[c.pos] == '+' || c.buf[c.pos] == '-') {
			c.pos++
		}
		if !c.digits() {
			return c.fail("invalid number")
		}
	}
	return nil
}

func (c *checker) digits() bool {
	start := c.pos
	for c.pos < len(c.buf) && isDigit(c.buf[c.pos]) {
		c.pos++
	}
	return c.pos > start
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isHex(b byte) bool {
	return isDigit(b) || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

func skipSpace(buf []byte, pos int) int {
	for pos < len(buf) && (buf[pos] == ' ' || buf[pos] == '\n' || buf[pos] == '\t' || buf[pos] == '\r') {
		pos++
	}
	return pos
}
