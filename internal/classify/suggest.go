package classify

import (
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Suggestion says that the values of a column look like those of a tag.
type Suggestion = findings.Suggestion

// Suggestions gives the columns of which governance says nothing and whose values so far, twenty at least, are in four of five
// cases one thing as a whole. Of two things it is the more sensitive one.
func (c *Classifier) Suggestions() []Suggestion {
	var out []Suggestion
	for _, col := range c.columns {
		if col.said || col.looked < leastValues {
			continue
		}
		best := -1
		for tag, n := range col.matches {
			if n*100 >= suggestShare*col.looked && (best < 0 || rank(policy.DefaultLevel(c.tags[tag])) > rank(policy.DefaultLevel(c.tags[best]))) {
				best = tag
			}
		}
		if best >= 0 {
			out = append(out, Suggestion{Column: col.path, Tag: c.tags[best], Matches: col.matches[best], Values: col.looked})
		}
	}
	return out
}

func isZero(g models.ColumnGovernance) bool { return g == models.ColumnGovernance{} }
