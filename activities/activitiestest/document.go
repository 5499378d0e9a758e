package activitiestest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
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
	schemas, columns := t.schemas()
	m := map[string]any{
		"format-version": 2, "table-uuid": t.Row.UUID, "location": t.Row.Location, "last-sequence-number": int64(len(t.snapshots)) + t.rolledBack,
		"last-updated-ms": 1_700_000_000_000 + len(t.snapshots), "last-column-id": columns, "current-schema-id": t.Schema,
		"schemas":         schemas,
		"partition-specs": []any{map[string]any{"spec-id": 0, "fields": []any{}}}, "default-spec-id": 0, "last-partition-id": 999,
		"sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}}, "default-sort-order-id": 0,
		"properties": t.properties(),
	}
	if t.versions > 0 {
		m["metadata-log"] = []any{map[string]any{"timestamp-ms": 1_700_000_000_000, "metadata-file": t.Row.MetadataLocation}}
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
	w.files.objects[t.Row.MetadataLocation] = maintenance.Sighting{Found: true, Size: int64(len(raw))}
}

// schemas gives a schema for each list of columns. A column has the same id in all.
// schemas gives the schemas, and how many columns there are in all of them.
func (t *Table) schemas() ([]any, int) {
	lists := t.Schemas
	if lists == nil {
		lists = [][]string{{"id"}}
	}
	var names []string
	var out []any
	for n, columns := range lists {
		fields := []any{}
		for _, name := range columns {
			id := slices.Index(names, name) + 1
			if id == 0 {
				names = append(names, name)
				id = len(names)
			}
			fields = append(fields, map[string]any{"id": id, "name": name, "required": false, "type": "long"})
		}
		out = append(out, map[string]any{"type": "struct", "schema-id": n, "fields": fields})
	}
	return out, len(names)
}

// properties gives what governance wants, as the test changed it.
func (t *Table) properties() map[string]string {
	out := models.Stamps{Prefix: ReservedPrefix}.Wanted(t.Row)
	for key, value := range t.Properties {
		if out[key] = value; value == "" {
			delete(out, key)
		}
	}
	return out
}
