package tableio

import (
	"encoding/json"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/metadata"
)

// mainBranch is the branch that is written to.
const mainBranch = "main"

// commit writes the manifest list and gives the request that makes the snapshot main's head.
func (s *staging) commit(manifests []iceberg.ManifestFile) (catalog.CommitInput, error) {
	doc := s.d.Base
	list, rowIDs, err := s.list(manifests)
	if err != nil {
		return catalog.CommitInput{}, err
	}
	snapshot := map[string]any{
		"snapshot-id": s.id, "timestamp-ms": s.now().UnixMilli(), "manifest-list": list, "schema-id": s.layout.schema.ID,
	}
	var parent map[string]string
	var head *int64
	if s.head != nil {
		head, parent = &s.head.ID, s.head.Summary
		if parent == nil {
			parent = map[string]string{}
		}
		snapshot["parent-snapshot-id"] = s.head.ID
	}
	snapshot["summary"] = s.counts.summary(s.d.operation(), parent, s.d.Summary)
	if doc.FormatVersion() >= 2 {
		snapshot["sequence-number"] = doc.LastSequenceNumber() + 1
	}
	if next, ok := doc.NextRowID(); ok {
		snapshot["first-row-id"], snapshot["added-rows"] = next, rowIDs
	}
	in := catalog.CommitInput{Table: s.d.Table, Write: s.d.Write}
	in.Updates, in.Requirements, err = decoded([]any{
		map[string]any{"action": "add-snapshot", "snapshot": snapshot},
		map[string]any{"action": "set-snapshot-ref", "ref-name": mainBranch, "type": "branch", "snapshot-id": s.id},
	}, []any{
		map[string]any{"type": "assert-table-uuid", "uuid": doc.UUID()},
		map[string]any{"type": "assert-ref-snapshot-id", "ref": mainBranch, "snapshot-id": head},
	})
	return in, err
}

func decoded(updates, requirements []any) ([]metadata.Update, []metadata.Requirement, error) {
	u, err := raws(updates)
	if err != nil {
		return nil, nil, err
	}
	r, err := raws(requirements)
	if err != nil {
		return nil, nil, err
	}
	us, err := metadata.DecodeUpdates(u)
	if err != nil {
		return nil, nil, err
	}
	rs, err := metadata.DecodeRequirements(r)
	return us, rs, err
}

func raws(values []any) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(values))
	for i, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out[i] = raw
	}
	return out, nil
}
