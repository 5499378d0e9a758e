package dataplane

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// snapshotAt is the state of a table that is read: a snapshot with the schema to read it by.
type snapshotAt struct {
	id     *int64 // nil: the table is empty
	schema metadata.Schema
	rows   *int64 // of the snapshot, where its summary says
}

// head is the newest state of a table: the head of main, by the current schema.
func head(doc *metadata.Document) (snapshotAt, error) {
	schema, err := doc.CurrentSchema()
	if err != nil {
		return snapshotAt{}, err
	}
	at := snapshotAt{schema: schema}
	if id, ok := doc.CurrentSnapshotID(); ok {
		at.id, at.rows = &id, recordsOf(doc, id)
	} else {
		at.rows = new(int64)
	}
	return at, nil
}

// past is an earlier state of a table: a snapshot by the schema that was current then.
func past(table catalog.DataTable, id int64) (snapshotAt, error) {
	doc := table.Document
	snapshot, ok := doc.Snapshot(id)
	if !ok {
		return snapshotAt{}, noSnapshot(table, "snapshot "+strconv.FormatInt(id, 10))
	}
	schemaID := doc.CurrentSchemaID()
	if snapshot.SchemaID != nil {
		schemaID = *snapshot.SchemaID
	}
	return withSchema(table, id, schemaID)
}

func withSchema(table catalog.DataTable, id int64, schemaID int) (snapshotAt, error) {
	schema, ok, err := table.Document.Schema(schemaID)
	if err != nil {
		return snapshotAt{}, err
	}
	if !ok {
		return snapshotAt{}, fault.New(fault.NotFound, "Table %s no longer has the schema of snapshot %d. Read a newer snapshot.", table.Name, id)
	}
	return snapshotAt{id: &id, schema: schema, rows: recordsOf(table.Document, id)}, nil
}

func noSnapshot(table catalog.DataTable, what string) error {
	return fault.New(fault.NotFound, "Table %s has no %s: it never had, or it was expired. Read a newer one.", table.Name, what)
}

// asOf finds the snapshot that was the head of main at a time.
func asOf(table catalog.DataTable, at time.Time) (int64, error) {
	raw, _ := table.Document.Section("snapshot-log")
	var log []struct {
		Snapshot int64 `json:"snapshot-id"`
		Since    int64 `json:"timestamp-ms"`
	}
	if raw != nil {
		if err := json.Unmarshal(raw, &log); err != nil {
			return 0, fault.Wrap(err, fault.Internal, "The history of table %s cannot be read.", table.Name)
		}
	}
	if len(log) == 0 {
		return inHistory(table, at)
	}
	found := false
	var id int64
	for _, entry := range log {
		if entry.Since <= at.UnixMilli() {
			id, found = entry.Snapshot, true
		}
	}
	if !found {
		return 0, noSnapshot(table, "snapshot that was current at "+at.UTC().Format(time.RFC3339Nano))
	}
	return id, nil
}

// inHistory finds the snapshot by the parents of the head, for a table that has no log of its heads.
func inHistory(table catalog.DataTable, at time.Time) (int64, error) {
	id, ok := table.Document.CurrentSnapshotID()
	for range table.Document.SnapshotCount() {
		snapshot, there := table.Document.Snapshot(id)
		if !ok || !there {
			break
		}
		if snapshot.TimestampMs <= at.UnixMilli() {
			return id, nil
		}
		if ok = snapshot.ParentID != nil; ok {
			id = *snapshot.ParentID
		}
	}
	return 0, noSnapshot(table, "snapshot that was current at "+at.UTC().Format(time.RFC3339Nano))
}

// recordsOf gives the rows of a snapshot as its summary says; nil where it does not.
func recordsOf(doc *metadata.Document, id int64) *int64 {
	snapshot, ok := doc.Snapshot(id)
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(snapshot.Summary["total-records"], 10, 64)
	if err != nil || n < 0 {
		return nil
	}
	return &n
}
