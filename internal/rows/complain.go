package rows

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-data/sluice/internal/fault"
)

// wrong says what is wrong with a value, which it quotes when it is short. It gives false, for the caller to give.
func (t *table) wrong(text []byte, message string) bool {
	const mostQuoted = 64
	if len(text) > 0 && len(text) <= mostQuoted && utf8.Valid(text) {
		message = fmt.Sprintf("%q %s", text, message)
	}
	t.fail(message)
	return false
}

// mismatch says that the next value is of another kind than the column takes.
func (t *table) mismatch(s *scanner, want string) bool {
	t.fail("must be " + want + ", not " + kindOf(s.text[s.at:]))
	return false
}

func kindOf(text []byte) string {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 {
		return "nothing"
	}
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// expectation says what a column takes that takes text.
func expectation(c *column) string {
	switch c.kind {
	case uuids:
		return "a UUID as text"
	case binaries, fixeds:
		return "bytes as base64 text"
	case dates:
		return "a date as text, such as \"2026-01-31\""
	case times:
		return "a time as text, such as \"12:34:56\""
	case timestamps:
		return "a timestamp as text, such as \"2026-01-31T12:34:56\""
	}
	return "text"
}

// unknown says that the struct has no such part, and which one may have been meant.
func (t *table) unknown(in *column, what string) {
	name := t.path[len(t.path)-1].name
	message := "is no " + what + " of the table"
	if what == "member" {
		message = `is none of "key" and "value"`
	} else if close := nearest(in, name); close != "" {
		message += fmt.Sprintf(": did you mean %q?", close)
	}
	t.fail(message)
}

// shown gives a name that a client made up as errors may repeat it.
func shown(name []byte) string {
	const most = 128
	return strings.ToValidUTF8(string(name[:min(len(name), most)]), "\ufffd")
}

// nearest gives the part whose name is most like the given one, "" when none is much like it.
func nearest(in *column, name string) string {
	const longest = 128 // bytes that are worth comparing
	best, least := "", max(len(name)/3, 1)+1
	for _, p := range in.parts {
		if strings.EqualFold(p.field.Name, name) {
			return p.field.Name
		}
		if len(p.field.Name) > longest {
			continue
		}
		if d := fault.Distance(strings.ToLower(p.field.Name), strings.ToLower(name)); d < least {
			best, least = p.field.Name, d
		}
	}
	return best
}

// repeated says that the last map has a key twice: readers would see one of the values, and not all the same one.
func (t *table) repeated(c *column) {
	n := len(c.offsets)
	start, end := int(c.offsets[n-2]), int(c.offsets[n-1])
	if end-start < 2 || c.parts[0].parts != nil {
		return
	}
	keys := c.parts[0]
	seen := make(map[string]bool, end-start)
	for i := start; i < end; i++ {
		key := string(keys.raw(i))
		if seen[key] {
			t.path = append(t.path, step{place: i - start})
			t.fail("has a key that another entry of the map has")
			t.path = t.path[:len(t.path)-1]
			return
		}
		seen[key] = true
	}
}

// raw gives the bytes that a value without parts is kept as.
func (c *column) raw(i int) []byte {
	switch {
	case c.kind == booleans:
		return []byte{c.data[i/bitsOfByte] >> (i % bitsOfByte) & 1}
	case c.offsets != nil:
		return c.data[c.offsets[i]:c.offsets[i+1]]
	}
	return c.data[i*c.width : (i+1)*c.width]
}

// defaultValue gives the JSON of a default as rows would have it. Iceberg writes bytes as hexadecimal digits.
func defaultValue(c *column, text []byte) ([]byte, error) {
	value := jsontext.Value(bytes.Clone(text))
	if !value.IsValid() || value.Compact() != nil {
		return nil, invalidDefault(c, "cannot be read")
	}
	switch c.kind {
	case maps:
		return nil, invalidDefault(c, "is a map")
	case binaries, fixeds:
		digits, ok := strings.CutPrefix(strings.TrimSuffix(string(value), `"`), `"`)
		raw, err := hex.DecodeString(digits)
		if !ok || err != nil {
			return nil, invalidDefault(c, "cannot be read")
		}
		return []byte(`"` + base64.StdEncoding.EncodeToString(raw) + `"`), nil
	}
	return value, nil
}
