package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// stamps is the governance properties that Sluice writes into a table's own metadata, so that whoever reads the
// table elsewhere knows what governs it.
type stamps struct{ prefix string }

// reserved tells whether a key starts with the prefix. Case does not count, as for the policy: no look-alike is stored.
func (s stamps) reserved(key string) bool {
	return s.prefix != "" && strings.HasPrefix(strings.ToLower(key), strings.ToLower(s.prefix))
}

// stamped tells whether a key is one that Sluice itself stamps on tables, whatever the value.
func (s stamps) stamped(key string) bool {
	name, ok := strings.CutPrefix(key, s.prefix)
	return ok && (name == "write-policy" || name == "classification" || name == "identity-columns" || strings.HasPrefix(name, "column-sensitivity."))
}

// wanted gives the properties that the row's governance asks for.
func (s stamps) wanted(row models.Table) map[string]string {
	w := map[string]string{
		s.prefix + "write-policy":   string(row.WritePolicy),
		s.prefix + "classification": string(row.Classification),
	}
	if len(row.IdentityColumns.V) > 0 {
		w[s.prefix+"identity-columns"] = strings.Join(row.IdentityColumns.V, ",")
	}
	for column, g := range row.Columns.V {
		if g.Sensitivity != "" {
			w[s.prefix+"column-sensitivity."+column] = string(g.Sensitivity)
		}
	}
	return w
}

// updates gives what makes a document's reserved properties the wanted ones, with the keys it changes: none when
// they are right already.
func (s stamps) updates(properties map[string]string, row models.Table) ([]metadata.Update, []string, error) {
	wanted := s.wanted(row)
	set := map[string]string{}
	for key, value := range wanted {
		if have, ok := properties[key]; !ok || have != value {
			set[key] = value
		}
	}
	var gone []string
	for key := range properties {
		if _, ok := wanted[key]; !ok && s.reserved(key) {
			gone = append(gone, key)
		}
	}
	slices.Sort(gone)
	var raw []json.RawMessage
	if len(set) > 0 {
		raw = append(raw, mustJSON(map[string]any{"action": "set-properties", "updates": set}))
	}
	if len(gone) > 0 {
		raw = append(raw, mustJSON(map[string]any{"action": "remove-properties", "removals": gone}))
	}
	updates, err := metadata.DecodeUpdates(raw)
	return updates, append(slices.Sorted(maps.Keys(set)), gone...), err
}

// mustJSON is for maps of strings, which always marshal.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
