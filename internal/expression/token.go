package expression

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-data/sluice/internal/fault"
)

// tokenKind tells what a token of a text filter is.
type tokenKind uint8

const (
	endToken    tokenKind = iota
	wordToken             // a keyword or name
	nameToken             // a name in double quotes
	textToken             // a text in single quotes
	numberToken           // without its sign, as JSON has numbers
	symbolToken
)

// token is a part of a text filter.
type token struct {
	kind tokenKind
	text string // without quotes; of words as they were written
	at   int    // the character it starts at, from 1
}

// is tells whether the token is the keyword or symbol, which is given in upper case.
func (t token) is(word string) bool {
	return t.kind == wordToken && strings.EqualFold(t.text, word) || t.kind == symbolToken && t.text == word
}

// shown is the token for a message.
func (t token) shown() string {
	const most = 40
	text := t.text
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	switch t.kind {
	case endToken:
		return "the end"
	case textToken:
		return "'" + text + "'"
	case nameToken:
		return `"` + text + `"`
	}
	return text
}

// wrongText is the error of a text filter that cannot be read.
func wrongText(at int, format string, args ...any) error {
	return fault.New(fault.Invalid, "The filter cannot be read at character %d: %s.", at, fmt.Sprintf(format, args...))
}

// tokenizer cuts a text filter into tokens.
type tokenizer struct {
	text []rune
	next int
}

func tokens(text string) ([]token, error) {
	z := tokenizer{text: []rune(text)}
	var out []token
	for {
		t, err := z.token()
		if err != nil {
			return nil, err
		}
		if out = append(out, t); t.kind == endToken {
			return out, nil
		}
	}
}

// peek gives a character ahead, 0 beyond the end.
func (z *tokenizer) peek(ahead int) rune {
	if z.next+ahead < len(z.text) {
		return z.text[z.next+ahead]
	}
	return 0
}

func (z *tokenizer) token() (token, error) {
	for unicode.IsSpace(z.peek(0)) {
		z.next++
	}
	at := z.next + 1
	if z.next == len(z.text) {
		return token{at: at}, nil
	}
	switch c := z.peek(0); {
	case c == '\'':
		return z.quoted(textToken, c, "text")
	case c == '"':
		return z.quoted(nameToken, c, "name")
	case isDigit(c), c == '.' && isDigit(z.peek(1)):
		return z.number()
	case isWordStart(c):
		from := z.next
		for isWordStart(z.peek(0)) || isDigit(z.peek(0)) {
			z.next++
		}
		return token{wordToken, string(z.text[from:z.next]), at}, nil
	}
	for _, symbol := range []string{"<>", "!=", "<=", ">=", "=", "<", ">", "(", ")", ",", ".", "-", "+"} {
		if strings.HasPrefix(string(z.text[z.next:min(z.next+2, len(z.text))]), symbol) {
			z.next += len(symbol)
			return token{symbolToken, symbol, at}, nil
		}
	}
	return token{}, wrongText(at, "%q means nothing here", z.peek(0))
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

func isWordStart(c rune) bool { return c == '_' || unicode.IsLetter(c) }

// quoted reads up to the next quote that is not doubled.
func (z *tokenizer) quoted(kind tokenKind, quote rune, what string) (token, error) {
	at := z.next + 1
	var text []rune
	for z.next++; z.next < len(z.text); z.next++ {
		if c := z.text[z.next]; c != quote {
			text = append(text, c)
			continue
		}
		if z.next++; z.peek(0) != quote {
			return token{kind, string(text), at}, nil
		}
		text = append(text, quote)
	}
	return token{}, wrongText(at, "the %s that starts here does not end; close it with %c", what, quote)
}

// number reads digits with a fraction and an exponent, and writes them as JSON does.
func (z *tokenizer) number() (token, error) {
	at := z.next + 1
	whole := strings.TrimLeft(z.digits(), "0")
	if whole == "" {
		whole = "0"
	}
	if z.peek(0) == '.' {
		z.next++
		if fraction := z.digits(); fraction != "" {
			whole += "." + fraction
		}
	}
	if c := z.peek(0); c == 'e' || c == 'E' {
		z.next++
		whole += "e"
		if sign := z.peek(0); sign == '-' || sign == '+' {
			z.next++
			whole += string(sign)
		}
		exponent := z.digits()
		if exponent == "" {
			return token{}, wrongText(z.next+1, "expected the digits of an exponent")
		}
		whole += exponent
	}
	if isWordStart(z.peek(0)) {
		return token{}, wrongText(z.next+1, "expected a space after the number; put names that start with a digit in double quotes")
	}
	return token{numberToken, whole, at}, nil
}

func (z *tokenizer) digits() string {
	from := z.next
	for isDigit(z.peek(0)) {
		z.next++
	}
	return string(z.text[from:z.next])
}
