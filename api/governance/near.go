package governance

import (
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// likely names what a mistyped word may have meant, or everything where nothing is near.
func likely(word string, names []string) string {
	word = strings.ToLower(word)
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.Contains(name, word) && fault.Distance(word, name) > 2+len(word)/8
	})
	if len(near) == 0 {
		return "Those there are: " + strings.Join(names, ", ")
	}
	return "Near to it: " + strings.Join(near, ", ")
}
