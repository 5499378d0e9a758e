package dataplane

import (
	"encoding/json"

	"github.com/sluice-data/sluice/internal/metadata"
)

// writeDefaults gives what rows get that leave a column out, by field id, for the columns that have such a value.
func writeDefaults(schema metadata.Schema) map[int][]byte {
	out := map[int][]byte{}
	gatherDefaults(schema.Raw, out)
	return out
}

// gatherDefaults walks a type as the metadata has it: an object for a nested one, a text for any other.
func gatherDefaults(raw json.RawMessage, out map[int][]byte) {
	var nested struct {
		Fields []struct {
			ID      int             `json:"id"`
			Type    json.RawMessage `json:"type"`
			Default json.RawMessage `json:"write-default"`
		} `json:"fields"`
		Element json.RawMessage `json:"element"`
		Value   json.RawMessage `json:"value"`
	}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &nested) != nil {
		return
	}
	for _, f := range nested.Fields {
		if len(f.Default) > 0 && string(f.Default) != "null" {
			out[f.ID] = f.Default
		}
		gatherDefaults(f.Type, out)
	}
	gatherDefaults(nested.Element, out)
	gatherDefaults(nested.Value, out)
}
