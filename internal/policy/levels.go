package policy

import (
	"strings"

	"github.com/sluice-data/sluice/models"
)

// LevelAt gives the level of a column of a table by its dotted name, as MasksFor does: what governance says of it or of a
// column that it is nested in, whichever is higher, else the level of the table. What is in a list or map of it does not count.
func LevelAt(table models.Classification, columns map[string]models.ColumnGovernance, path string) models.Classification {
	level, said := known(table), false
	for name := range around(path) {
		own := columns[name].Sensitivity
		if own == "" {
			continue
		}
		if own = known(own); !said || own.Rank() > level.Rank() {
			level, said = own, true
		}
	}
	return level
}

// TagsAt gives the tags of a column by its dotted name, in lower case: its own, and those of the columns that it is nested in.
func TagsAt(columns map[string]models.ColumnGovernance, path string) []string {
	var tags []string
	for name := range around(path) {
		if tag := columns[name].Tag; tag != "" {
			tags = append(tags, strings.ToLower(tag))
		}
	}
	return tags
}

// around gives the names of what a column is nested in from the outermost in, and at last its own.
func around(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range len(path) {
			if path[i] == '.' && !yield(path[:i]) {
				return
			}
		}
		yield(path)
	}
}
