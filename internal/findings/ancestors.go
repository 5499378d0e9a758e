package findings

import "github.com/sluice-data/sluice/internal/metadata"

// Ancestors tells which of some snapshots a snapshot builds on: by the table's metadata, and of those that are expired there by
// onLedger, which is not called when none is. The error is onLedger's.
func Ancestors(doc *metadata.Document, of int64, ids []int64, onLedger func(expired []int64) (map[int64]bool, error)) (map[int64]bool, error) {
	out := make(map[int64]bool, len(ids))
	var expired []int64
	for _, id := range ids {
		if _, ok := doc.Snapshot(id); ok {
			out[id] = doc.IsAncestor(id, of)
		} else {
			expired = append(expired, id)
		}
	}
	if len(expired) == 0 {
		return out, nil
	}
	known, err := onLedger(expired)
	for _, id := range expired {
		out[id] = known[id]
	}
	return out, err
}
