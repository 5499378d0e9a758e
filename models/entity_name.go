package models

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// reservedNamePrefix is what no name begins with, in any case.
const reservedNamePrefix = "SYSTEM$"

// maxEntityName is the longest name of a principal, a role or a catalog, in characters.
const maxEntityName = 256

// NameFlaw says why nothing that people name, such as a principal, can be called so: a clause that goes on from the name,
// "" when it can. What looks like another name and is not it must not be one: a second root would be taken for the first.
func NameFlaw(name string) string {
	switch {
	case name == "":
		return "is empty"
	case !utf8.ValidString(name), strings.ContainsRune(name, utf8.RuneError): // which decoders put for what is not
		return "is not valid UTF-8"
	case utf8.RuneCountInString(name) > maxEntityName:
		return "is longer than 256 characters"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character"
	case strings.ContainsFunc(name, invisible):
		return "has an invisible character"
	case reserved(strings.TrimSpace(name)):
		return "begins with " + reservedNamePrefix + ", which is reserved"
	case strings.TrimSpace(name) != name:
		return "begins or ends with white space"
	case name == "." || name == "..":
		return "is a name that no URL can have"
	}
	return ""
}

func reserved(name string) bool {
	return len(name) >= len(reservedNamePrefix) && strings.EqualFold(name[:len(reservedNamePrefix)], reservedNamePrefix)
}

// invisible tells characters that most fonts show nothing for: those that format, those that Unicode says to ignore, and
// the empty pattern of braille.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800'
}
