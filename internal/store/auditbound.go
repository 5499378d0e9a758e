package store

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/models"
)

// An audit event is kept for ever, and much of it is what a client sent: no request may make it large. In bytes and
// in numbers of elements.
const (
	maxAuditDetails = 16 << 10
	maxAuditReason  = 4 << 10
	maxDetailText   = 256 // of a text within details that are too large
	maxDetailItems  = 20
)

// boundDetails gives details that fit. Those that do not lose long texts, the ends of lists and what else is too much,
// and say so: "truncated" is true. What cannot be encoded is left to the insert, which fails on it.
func boundDetails(details models.JSON[map[string]any]) models.JSON[map[string]any] {
	text, err := json.Marshal(details.V)
	if err != nil || len(text) <= maxAuditDetails {
		return details
	}
	// As JSON, whatever types they were: numbers as they are written.
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var plain map[string]any
	if err := decoder.Decode(&plain); err != nil {
		return details
	}
	cut := make(map[string]any, len(plain)+1)
	size := 0
	for _, key := range slices.Sorted(maps.Keys(plain)) {
		value := shortened(plain[key])
		encoded, err := json.Marshal(value)
		if err != nil {
			return details
		}
		if entry := len(key) + len(encoded); size+entry <= maxAuditDetails/2 {
			cut[key] = value
			size += entry
		}
	}
	cut["truncated"] = true
	return models.JSON[map[string]any]{V: cut}
}

// shortened cuts texts, lists and objects, at every depth.
func shortened(value any) any {
	switch v := value.(type) {
	case string:
		return cutText(v, maxDetailText)
	case []any:
		out := make([]any, 0, min(len(v), maxDetailItems))
		for _, item := range v[:min(len(v), maxDetailItems)] {
			out = append(out, shortened(item))
		}
		return out
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		out := make(map[string]any, min(len(keys), maxDetailItems))
		for _, key := range keys[:min(len(keys), maxDetailItems)] {
			out[cutText(key, maxDetailText)] = shortened(v[key])
		}
		return out
	}
	return value
}

// cutText gives the first bytes of a text that is longer, without half a character.
func cutText(s string, longest int) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}
