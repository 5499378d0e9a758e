package models

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNameFlaw(t *testing.T) {
	t.Parallel()
	for name, flaw := range map[string]string{
		"":                       "is empty",
		strings.Repeat("x", 257): "is longer than 256 characters",
		"a\nb":                   "has a control character",
		"a\u0085b":               "has a control character",
		"SYSTEM$x":               "begins with SYSTEM$, which is reserved",
		"sysTEM$":                "begins with SYSTEM$, which is reserved",
		"  System$x":             "begins with SYSTEM$, which is reserved",
		"root ":                  "begins or ends with white space",
		"\u00a0root":             "begins or ends with white space",
		"root\u3000":             "begins or ends with white space",
		"ro\u200bot":             "has an invisible character", // zero width space
		"ro\u200dot":             "has an invisible character",
		"\ufeffroot":             "has an invisible character",
		"root\u00ad":             "has an invisible character",
		"root\u202e":             "has an invisible character",
		"root\u2028x":            "has an invisible character",
		"ro\u034fot":             "has an invisible character",
		"root\ufe0f":             "has an invisible character",
		"root\u3164":             "has an invisible character",
		"root\u2800":             "has an invisible character",
		"root\U000e0041":         "has an invisible character",
		"root\ufffd":             "is not valid UTF-8", // what a decoder makes of a lone surrogate
		"\xff":                   "is not valid UTF-8",
		".":                      "is a name that no URL can have",
		"..":                     "is a name that no URL can have",
	} {
		assert.Equal(t, flaw, NameFlaw(name), "%q", name)
	}
	for _, name := range []string{"x", strings.Repeat("ü", 256), "Größe / 東京 $", "a.b", "mySYSTEM$", "Jean-Luc d'Étaples", "e\u0301clair", "नमस्ते"} {
		assert.Empty(t, NameFlaw(name), name)
	}
}
