package policy

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/sluice-data/sluice/models"
)

// RowFilterFor gives the row filters that apply to who acts with roles: all where the caller sees every row, because the table
// has no filters or one of the caller's is constant true; else the rows that any of exprs matches, and no rows where there are
// none. Nobody is above filters, stewards no more than others.
func RowFilterFor(roles []string, filters []models.RowFilter) (exprs []json.RawMessage, all bool) {
	if len(filters) == 0 {
		return nil, true
	}
	for _, f := range filters {
		if !slices.Contains(roles, f.Role) {
			continue
		}
		switch text := bytes.TrimSpace(f.Expression); {
		case len(text) == 0, bytes.Equal(text, []byte("null")): // says nothing, so it lets nothing through
		case bytes.Equal(text, []byte("true")):
			return nil, true
		default:
			exprs = append(exprs, f.Expression)
		}
	}
	return exprs, false
}
