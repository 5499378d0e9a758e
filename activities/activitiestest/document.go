package activitiestest

import (
	"encoding/json"
	"fmt"

	"github.com/sluice-data/sluice/internal/metadata"
)

// FirstSnapshotID is the first snapshot of every table, beyond what a float keeps exactly; each further one is one more.
const FirstSnapshotID int64 = 9_007_199_254_740_993

type snapshot struct {
	id, parent, sequence, timestamp int64
	files                           int
	expired                         bool
}

func (s snapshot) json(location string) map[string]any {
	files := int64(s.files)
	if files == 0 {
		files = s.sequence
	}
	m := map[string]any{
		"snapshot-id": s.id, "sequence-number": s.sequence, "timestamp-ms": s.timestamp, "schema-id": 0,
		"manifest-list": fmt.Sprintf("%s/metadata/snap-%d.avro", location, s.id),
		"summary": map[string]string{
			"operation": "append", "engine-name": "spark", "added-records": fmt.Sprint(RowsPerCommit), "added-data-files": "1",
			"total-records": fmt.Sprint(RowsPerCommit * s.sequence), "total-data-files": fmt.Sprint(files), "total-delete-files": "0",
		},
	}
	if s.parent != 0 {
		m["parent-snapshot-id"] = s.parent
	}
	return m
}

// publish writes the table's next metadata file and points the row at it. The caller holds the lock.
func (w *World) publish(t *Table) {
	m := map[string]any{
		"format-version": 2, "table-uuid": t.Row.UUID, "location": t.Row.Location, "last-sequence-number": len(t.snapshots),
		"last-updated-ms": 1_700_000_000_000 + len(t.snapshots), "last-column-id": 1, "current-schema-id": 0,
		"schemas": []any{map[string]any{"type": "struct", "schema-id": 0, "fields": []any{
			map[string]any{"id": 1, "name": "id", "required": false, "type": "long"},
		}}},
		"partition-specs": []any{map[string]any{"spec-id": 0, "fields": []any{}}}, "default-spec-id": 0, "last-partition-id": 999,
		"sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}}, "default-sort-order-id": 0,
		"properties": map[string]string{},
	}
	var snapshots []any
	for _, s := range t.snapshots {
		if !s.expired {
			snapshots = append(snapshots, s.json(t.Row.Location))
		}
	}
	if len(snapshots) > 0 {
		head := t.snapshots[len(t.snapshots)-1].id
		m["snapshots"], m["current-snapshot-id"] = snapshots, head
		m["refs"] = map[string]any{"main": map[string]any{"snapshot-id": head, "type": "branch"}}
		t.Row.CurrentSnapshotID = &head
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	doc, err := metadata.Parse(raw)
	if err != nil {
		panic(err)
	}
	t.versions++
	t.Row.Version++
	t.Row.MetadataLocation = fmt.Sprintf("%s/metadata/%05d.metadata.json", t.Row.Location, t.versions)
	w.docs[t.Row.MetadataLocation] = doc
}
