package metadata

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// The functions of this file work on JSON that checkJSON has accepted: they do not check it again.

// member is one member of a JSON object. value is a slice of the object's bytes.
type member struct {
	key   string
	value json.RawMessage
}

// skipValue gives the position after the value that starts at pos.
func skipValue(buf []byte, pos int) int {
	switch buf[pos] {
	case '"':
		return skipString(buf, pos)
	case '{', '[':
		depth := 0
		for {
			switch buf[pos] {
			case '"':
				pos = skipString(buf, pos)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return pos + 1
				}
			}
			pos++
		}
	}
	for pos < len(buf) {
		switch buf[pos] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return pos
		}
		pos++
	}
	return pos
}

func skipString(buf []byte, pos int) int {
	for pos++; ; pos++ {
		switch buf[pos] {
		case '"':
			return pos + 1
		case '\\':
			pos++
		}
	}
}

// eachMember calls fn with every member of the object raw, in order. A key without escapes and the
// value are slices of raw. It gives false without a call when raw is not an object.
func eachMember(raw []byte, fn func(key, value []byte)) bool {
	pos := skipSpace(raw, 0)
	if pos >= len(raw) || raw[pos] != '{' {
		return false
	}
	pos = skipSpace(raw, pos+1)
	for raw[pos] != '}' {
		end := skipString(raw, pos)
		key := unquoteBytes(raw[pos:end])
		pos = skipSpace(raw, skipSpace(raw, end)+1)
		end = skipValue(raw, pos)
		fn(key, raw[pos:end:end])
		pos = skipSpace(raw, end)
		if raw[pos] == ',' {
			pos = skipSpace(raw, pos+1)
		}
	}
	return true
}

// eachElement calls fn with every element of the array raw and its offset in raw. It gives false
// without a call when raw is not an array.
func eachElement(raw []byte, fn func(value []byte, offset int)) bool {
	pos := skipSpace(raw, 0)
	if pos >= len(raw) || raw[pos] != '[' {
		return false
	}
	pos = skipSpace(raw, pos+1)
	for raw[pos] != ']' {
		end := skipValue(raw, pos)
		fn(raw[pos:end:end], pos)
		pos = skipSpace(raw, end)
		if raw[pos] == ',' {
			pos = skipSpace(raw, pos+1)
		}
	}
	return true
}

func membersOf(raw []byte) ([]member, bool) {
	var members []member
	ok := eachMember(raw, func(key, value []byte) {
		members = append(members, member{key: string(key), value: value})
	})
	return members, ok
}

func elementsOf(raw []byte) ([]json.RawMessage, bool) {
	var elements []json.RawMessage
	ok := eachElement(raw, func(value []byte, _ int) { elements = append(elements, value) })
	return elements, ok
}

// memberOf gives one member of an object; nil when it is absent or null.
func memberOf(raw []byte, name string) json.RawMessage {
	var found json.RawMessage
	eachMember(raw, func(key, value []byte) {
		if string(key) == name && !isNull(value) {
			found = value
		}
	})
	return found
}

func isNull(raw []byte) bool   { return len(raw) == 0 || string(raw) == "null" }
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func isArray(raw []byte) bool  { return len(raw) > 0 && raw[0] == '[' }
func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// int64Of reads an integer written without fraction and exponent, as Java's parser does.
func int64Of(raw []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// intOf reads a 32-bit integer: Iceberg's ids of schemas, fields, specs and orders.
func intOf(raw []byte) (int, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 32)
	return int(n), err == nil
}

func boolOf(raw []byte) (value, ok bool) {
	switch string(raw) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// stringOf decodes a JSON string.
func stringOf(raw []byte) (string, bool) {
	if !isString(raw) {
		return "", false
	}
	return string(unquoteBytes(raw)), true
}

// unquoteBytes gives the content of a quoted JSON string: a slice of it when nothing is escaped.
func unquoteBytes(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return quoted
	}
	return []byte(s)
}

// appendString appends s as a JSON string, escaping only what JSON demands.
func appendString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	out = append(out, '"')
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b < ' ':
			out = append(out, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		default:
			out = append(out, b)
		}
	}
	return append(out, '"')
}

func quoted(s string) json.RawMessage { return appendString(nil, s) }
func integer(n int64) json.RawMessage { return strconv.AppendInt(nil, n, 10) }
func integerOf(n int) json.RawMessage { return integer(int64(n)) }

// joinElements writes a JSON array of elements already encoded.
func joinElements(elements []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, element := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, element...)
	}
	return append(out, ']')
}

// joinMembers writes a JSON object of members already encoded.
func joinMembers(members []member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, m.key), ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

// withMember replaces the member of that key in place, or adds it at the end.
func withMember(members []member, key string, value json.RawMessage) []member {
	for i := range members {
		if members[i].key == key {
			members[i].value = value
			return members
		}
	}
	return append(members, member{key: key, value: value})
}
