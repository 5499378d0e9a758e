package rows

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner walks over JSON that is known to be well-formed.
type scanner struct {
	text []byte
	at   int
	room []byte // for strings with escapes
}

// peek gives the first character of the next value, or what closes the object or list.
func (s *scanner) peek() byte {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n', ',', ':':
			s.at++
		default:
			return s.text[s.at]
		}
	}
	return 0
}

// skip goes behind the next value.
func (s *scanner) skip() {
	switch s.peek() {
	case '"':
		s.quoted()
		return
	case '{', '[':
	default:
		s.word()
		return
	}
	for depth := 0; s.at < len(s.text); {
		switch s.text[s.at] {
		case '"':
			s.quoted()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
}

// word gives a number, true, false or null.
func (s *scanner) word() []byte {
	start := s.at
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n', ',', ':', ']', '}', '"', '[', '{':
			if s.at == start { // no value at all, which well-formed text has not
				s.at++
			}
			return s.text[start:s.at]
		}
		s.at++
	}
	return s.text[start:s.at]
}

// quoted goes behind a string and gives what is between its quotes; plain is false when it has escapes.
func (s *scanner) quoted() (inner []byte, plain bool) {
	start := s.at + 1
	plain = true
	for i := start; i < len(s.text); i++ {
		switch s.text[i] {
		case '"':
			s.at = i + 1
			return s.text[start:i], plain
		case '\\':
			plain = false
			i++
		}
	}
	s.at = len(s.text) // which well-formed text does not come to
	return s.text[min(start, len(s.text)):], plain
}

// str gives the string that is next; it is valid until the next call. ok is false when it is not Unicode.
func (s *scanner) str() (v []byte, ok bool) {
	start := s.at
	inner, plain := s.quoted()
	if plain {
		return inner, utf8.Valid(inner)
	}
	room, err := jsontext.AppendUnquote(s.room[:0], s.text[start:s.at])
	s.room = room
	return room, err == nil
}
