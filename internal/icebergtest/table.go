package icebergtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apache/iceberg-go"
)

// Table is what a writer must know of a table's metadata.
type Table struct {
	UUID           string
	Location       string
	FormatVersion  int
	LastSequence   int64
	NextRowID      int64
	Head           *int64 // main's snapshot
	HeadList       string // its manifest list
	SnapshotCount  int
	Schema         *iceberg.Schema
	SchemaID       int
	snapshotsByID  map[int64]string
	snapshotParent map[int64]*int64
}

// Parse reads a table from metadata JSON.
func Parse(metadata []byte) (Table, error) {
	var doc struct {
		FormatVersion   int               `json:"format-version"`
		UUID            string            `json:"table-uuid"`
		Location        string            `json:"location"`
		LastSequence    int64             `json:"last-sequence-number"`
		NextRowID       int64             `json:"next-row-id"`
		Current         *int64            `json:"current-snapshot-id"`
		CurrentSchemaID int               `json:"current-schema-id"`
		Schemas         []json.RawMessage `json:"schemas"`
		Snapshots       []struct {
			ID       int64  `json:"snapshot-id"`
			Parent   *int64 `json:"parent-snapshot-id"`
			Manifest string `json:"manifest-list"`
		} `json:"snapshots"`
	}
	if err := json.Unmarshal(metadata, &doc); err != nil {
		return Table{}, err
	}
	t := Table{
		UUID: doc.UUID, Location: strings.TrimRight(doc.Location, "/"), FormatVersion: doc.FormatVersion,
		LastSequence: doc.LastSequence, NextRowID: doc.NextRowID, SnapshotCount: len(doc.Snapshots), SchemaID: doc.CurrentSchemaID,
		snapshotsByID: map[int64]string{}, snapshotParent: map[int64]*int64{},
	}
	for _, s := range doc.Snapshots {
		t.snapshotsByID[s.ID], t.snapshotParent[s.ID] = s.Manifest, s.Parent
	}
	if doc.Current != nil && *doc.Current >= 0 {
		t.Head, t.HeadList = doc.Current, t.snapshotsByID[*doc.Current]
	}
	for _, raw := range doc.Schemas {
		schema := &iceberg.Schema{}
		if err := json.Unmarshal(raw, schema); err != nil {
			return Table{}, err
		}
		if schema.ID == doc.CurrentSchemaID {
			t.Schema = schema
		}
	}
	if t.Schema == nil {
		return Table{}, fmt.Errorf("the metadata has no schema %d", doc.CurrentSchemaID)
	}
	return t, nil
}

// Lineage gives main's snapshots from the head back to the first that is still there.
func (t Table) Lineage() []int64 {
	var ids []int64
	for id := t.Head; id != nil; id = t.snapshotParent[*id] {
		if _, ok := t.snapshotsByID[*id]; !ok {
			break
		}
		ids = append(ids, *id)
	}
	return ids
}

// ManifestList gives the location of a snapshot's manifest list.
func (t Table) ManifestList(id int64) string { return t.snapshotsByID[id] }
