package governance

import (
	"slices"
	"strings"
)

// likely names what a mistyped word may have meant, or everything where nothing is near.
func likely(word string, names []string) string {
	word = strings.ToLower(word)
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.Contains(name, word) && distance(word, name) > 2+len(word)/8
	})
	if len(near) == 0 {
		return "Those there are: " + strings.Join(names, ", ")
	}
	return "Near to it: " + strings.Join(near, ", ")
}

// distance counts the letters to insert, delete or replace to make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
