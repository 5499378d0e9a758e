package writers

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-data/sluice/models"
)

// longest is how many bytes of a client's text are kept as a key, a job or a unit.
const longest = 200

// Shorten makes a client's text fit to be kept and shown. What it changes gets the digest of the whole, so that different
// texts stay different.
func Shorten(text string) string {
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if clean == text && len(text) <= longest {
		return text
	}
	digest := "#" + models.SubjectKey(text)
	keep := min(len(clean), longest-len(digest))
	for keep > 0 && keep < len(clean) && !utf8.RuneStart(clean[keep]) {
		keep--
	}
	return clean[:keep] + digest
}
