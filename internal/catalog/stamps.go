package catalog

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// stampUpdates gives what makes a document's reserved properties those that its governance asks for, with the keys it
// changes: none when they are right already.
func stampUpdates(s models.Stamps, properties map[string]string, row models.Table) ([]metadata.Update, []string, error) {
	set, gone := s.Drift(properties, row)
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
