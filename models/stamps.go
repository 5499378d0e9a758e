package models

import (
	"maps"
	"slices"
	"strings"
)

// Stamps is the governance properties that Sluice writes into a table's own metadata, so that whoever reads the table
// elsewhere knows what governs it.
type Stamps struct {
	Prefix string // such as "sluice."
}

// Reserved tells whether a key starts with the prefix. Case does not count, as for the policy: no look-alike is stored.
func (s Stamps) Reserved(key string) bool {
	return s.Prefix != "" && strings.HasPrefix(strings.ToLower(key), strings.ToLower(s.Prefix))
}

// Stamped tells whether a key is one that Sluice itself stamps on tables, whatever the value.
func (s Stamps) Stamped(key string) bool {
	name, ok := strings.CutPrefix(key, s.Prefix)
	return ok && (name == "write-policy" || name == "classification" || name == "identity-columns" || strings.HasPrefix(name, "column-sensitivity."))
}

// Wanted gives the properties that the table's governance asks for.
func (s Stamps) Wanted(t Table) map[string]string {
	w := map[string]string{
		s.Prefix + "write-policy":   string(t.WritePolicy),
		s.Prefix + "classification": string(t.Classification),
	}
	if len(t.IdentityColumns.V) > 0 {
		w[s.Prefix+"identity-columns"] = strings.Join(t.IdentityColumns.V, ",")
	}
	for column, g := range t.Columns.V {
		if g.Sensitivity != "" {
			w[s.Prefix+"column-sensitivity."+column] = string(g.Sensitivity)
		}
	}
	return w
}

// Drift gives how a table's properties differ from what its governance asks for: what is to be set, and the keys that are to
// go, in order.
func (s Stamps) Drift(properties map[string]string, t Table) (set map[string]string, gone []string) {
	set = s.Wanted(t)
	for key := range properties {
		if _, ok := set[key]; !ok && s.Reserved(key) {
			gone = append(gone, key)
		}
	}
	maps.DeleteFunc(set, func(key, value string) bool {
		have, ok := properties[key]
		return ok && have == value
	})
	slices.Sort(gone)
	return set, gone
}
