package findings

import (
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Suggestion says that the values of a column look like those of a tag, and how many of those that were looked at do. It has
// no values.
type Suggestion struct {
	Column  string // dotted
	Tag     string
	Matches int64
	Values  int64 // that were looked at and not NULL
}

// OfSuggestion finds a column that looks like personal data and of which nobody said anything; false where somebody did.
func OfSuggestion(t models.Table, s Suggestion) (models.Finding, bool) {
	if Said(t, s.Column) {
		return models.Finding{}, false
	}
	f := aboutTable(models.FindingSuggestedTag, t)
	f.Subject = "column " + s.Column
	f.SubjectKey = SuggestionKey(s.Column)
	f.Evidence.V = map[string]any{
		"column": s.Column, "tag": s.Tag, "matches": s.Matches, "values": s.Values,
		"sensitivity": string(policy.DefaultLevel(s.Tag)), "mask": policy.DefaultMask(s.Tag),
		"remedy": "Classify the column, such as with this tag and sensitivity. If its values are something else, say how sensitive they are, public too.",
	}
	return f, true
}

// SuggestionKey is the subject key of what is suggested for a column.
func SuggestionKey(column string) string {
	return models.SubjectKey(string(models.FindingSuggestedTag), column)
}

// SuggestedColumn gives the column that a finding suggests a tag for, "" of any other finding.
func SuggestedColumn(f models.Finding) string {
	column, _ := f.Evidence.V["column"].(string)
	if f.Kind != models.FindingSuggestedTag {
		return ""
	}
	return column
}

// Said tells whether governance says anything of a column, or of a column that it is nested in.
func Said(t models.Table, column string) bool {
	for i := range len(column) + 1 {
		if i < len(column) && column[i] != '.' {
			continue
		}
		if t.Columns.V[column[:i]] != (models.ColumnGovernance{}) {
			return true
		}
	}
	return false
}
