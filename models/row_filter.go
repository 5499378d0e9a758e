package models

import (
	"encoding/json"
	"slices"
)

// RowFilter lets the members of a principal role see the rows that match. A table without any shows its rows to
// everybody who may read it; one with some shows nobody more than what the filters of their roles match together.
type RowFilter struct {
	Role       string          `json:"role"`       // name of a principal role
	Filter     string          `json:"filter"`     // as it was written, such as region = 'EU'
	Expression json.RawMessage `json:"expression"` // the same as an Iceberg expression
}

// Columns gives the dotted names of the columns that the filter's expression names, in order.
func (f RowFilter) Columns() []string {
	var expression any
	if json.Unmarshal(f.Expression, &expression) != nil {
		return nil
	}
	names := termsOf(nil, expression)
	slices.Sort(names)
	return slices.Compact(names)
}

// termsOf adds the references in an Iceberg expression: a term is a name, or a transform or reference of another term.
func termsOf(names []string, node any) []string {
	members, ok := node.(map[string]any)
	if !ok {
		return names
	}
	for key, value := range members {
		name, isName := value.(string)
		switch {
		case key == "term" && isName:
			names = append(names, name)
		case key == "term" || key == "left" || key == "right" || key == "child":
			names = termsOf(names, value)
		}
	}
	return names
}
