package classify

import (
	"strings"

	"github.com/sluice-data/sluice/internal/policy"
)

// tagSet is a set of the tags that are detected, by their places in detected.
type tagSet uint8

// The detected tags.
const (
	email tagSet = 1 << iota
	phone
	pan
	iban
	nationalID
	ip
)

const detectorCount = 6

// detectedTags gives the names of the tags in order of their bits.
func detectedTags() [detectorCount]string {
	return [detectorCount]string{policy.TagEmail, policy.TagPhone, policy.TagPAN, policy.TagIBAN, policy.TagNationalID, policy.TagIP}
}

// found is what a text has in it.
type found struct {
	strong tagSet // by itself
	weak   tagSet // if the column is full of it
	whole  tagSet // of both: all of the text is one
}

func (f *found) add(tag tagSet, strong bool, start, end int, text string) {
	if strong {
		f.strong |= tag
	} else {
		f.weak |= tag
	}
	if start == 0 && end == len(text) {
		f.whole |= tag
	}
}

// detect finds what is in a text.
func detect(text string) found {
	var f found
	i := nextMark(text, 0)
	if i == len(text) {
		return f
	}
	text = strings.TrimSpace(text)
	for i = nextMark(text, 0); i < len(text); i = nextMark(text, i) {
		switch text[i] {
		case '@':
			findEmail(&f, text, i)
			i++
		case ':':
			i = findIPv6(&f, text, i)
		default:
			i = findNumbers(&f, text, i)
		}
	}
	return f
}

// Words of eight equal bytes.
const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	lows   = 0x7f * ones
	halves = 0xf0 * ones
)

// hasMark tells whether one of eight bytes is a digit, ':' or '@'.
func hasMark(word uint64) bool {
	// Digits and ':' are 0x30 to 0x3a: their upper half is 3, with 5 added too.
	number := word&halves ^ 0x30*ones | (word&lows+5*ones)&halves ^ 0x30*ones
	at := word ^ '@'*ones
	return ((number-ones)&^number|(at-ones)&^at)&highs != 0
}

// wordOf gives the eight bytes from i on. The compiler makes one load of it.
func wordOf[T string | []byte](text T, i int) uint64 {
	_ = text[i+7]
	return uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16 | uint64(text[i+3])<<24 |
		uint64(text[i+4])<<32 | uint64(text[i+5])<<40 | uint64(text[i+6])<<48 | uint64(text[i+7])<<56
}

// nextMark gives the place of the first digit, ':' or '@' from i on, the end of the text where there is none.
func nextMark[T string | []byte](text T, i int) int {
	for i+8 <= len(text) && !hasMark(wordOf(text, i)) {
		i += 8
	}
	for ; i < len(text); i++ {
		if c := text[i]; c >= '0' && c <= ':' || c == '@' {
			return i
		}
	}
	return i
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

// isWord tells whether a byte is part of a word: a letter, a digit, an underscore or of a character that is not ASCII.
func isWord(c byte) bool { return isDigit(c) || isLetter(c) || c == '_' || c >= 0x80 }

// wordAt tells whether there is a byte of a word at i, which may be outside the text.
func wordAt(text string, i int) bool { return i >= 0 && i < len(text) && isWord(text[i]) }
