package metadata

import (
	"bytes"
	"encoding/json"
	"maps"
	"sync"

	"github.com/sluice-data/sluice/internal/fault"
)

// view is what the server understands of a document outside its snapshots.
type view struct {
	formatVersion                            int
	uuid, location                           string
	lastSequence, lastUpdated                int64
	lastColumn, lastPartition                int
	currentSchema, defaultSpec, defaultOrder int
	current                                  int64 // snapshot id, meaningful if hasCurrent
	hasCurrent                               bool
	nextRow                                  int64 // meaningful if hasNextRow
	hasNextRow                               bool
	refs                                     map[string]Ref
	refsWritten                              bool // false: refs is synthesised from current-snapshot-id
	properties                               map[string]string
	schemas, specs, orders                   idList
	schema                                   func() (Schema, error) // decodes the current schema once
	currentSchemaSize                        int
}

// idList is an array of objects that have an id. Positions are relative to the array, so that the
// entries can be shared by versions that hold the same array.
type idList struct {
	array   json.RawMessage
	entries []idEntry
}

type idEntry struct{ id, start, end int }

func (l idList) raw(e idEntry) json.RawMessage { return json.RawMessage(l.array[e.start:e.end:e.end]) }

func (l idList) find(id int) (json.RawMessage, bool) {
	for _, e := range l.entries {
		if e.id == id {
			return l.raw(e), true
		}
	}
	return nil, false
}

func (l idList) elements() []listed {
	out := make([]listed, 0, len(l.entries))
	for _, e := range l.entries {
		out = append(out, listed{id: e.id, raw: l.raw(e)})
	}
	return out
}

// readIDList indexes a section; an element without the id key counts as 0, as old v1 writers leave it out.
func readIDList(section string, array json.RawMessage, key string) (idList, error) {
	list := idList{array: array}
	var bad error
	ok := eachElement(array, func(value []byte, start int) {
		e := idEntry{start: start, end: start + len(value)}
		raw := memberOf(value, key)
		if id, isInt := intOf(raw); isInt {
			e.id = id
		} else if raw != nil || !isObject(value) {
			bad = fault.New(fault.Invalid, "Cannot parse table metadata: %s has an element without a valid %s", section, key)
		}
		if len(list.entries) == maxElements {
			bad = tooMany(section)
			return
		}
		list.entries = append(list.entries, e)
	})
	if !ok {
		bad = fault.New(fault.Invalid, "Cannot parse table metadata: %s is not an array", section)
	}
	return list, bad
}

func tooMany(section string) error {
	return fault.New(fault.Invalid, "Cannot parse table metadata: %s has more than %d elements", section, maxElements)
}

// FormatVersion is 1, 2 or 3.
func (d *Document) FormatVersion() int { return d.view.formatVersion }

// UUID identifies the table over renames; empty only in old v1 documents.
func (d *Document) UUID() string { return d.view.uuid }

// Location is the table's base location as it is written.
func (d *Document) Location() string { return d.view.location }

// LastColumnID is the highest column id assigned: later columns get higher ones.
func (d *Document) LastColumnID() int { return d.view.lastColumn }

// LastSequenceNumber is the highest sequence number assigned; 0 in v1.
func (d *Document) LastSequenceNumber() int64 { return d.view.lastSequence }

// LastUpdatedMs is the time of the last change in Unix milliseconds.
func (d *Document) LastUpdatedMs() int64 { return d.view.lastUpdated }

// NextRowID is the next row id to assign; false before v3.
func (d *Document) NextRowID() (int64, bool) { return d.view.nextRow, d.view.hasNextRow }

// CurrentSnapshotID is the snapshot of main; false when the table has none (-1, null or absent).
func (d *Document) CurrentSnapshotID() (int64, bool) { return d.view.current, d.view.hasCurrent }

// Refs gives a copy of the branches and tags. In a document without refs, main is made from current-snapshot-id.
func (d *Document) Refs() map[string]Ref { return maps.Clone(d.view.refs) }

// Properties gives a copy of the table properties.
func (d *Document) Properties() map[string]string { return maps.Clone(d.view.properties) }

// DefaultSpecID is the id of the partition spec that writers use.
func (d *Document) DefaultSpecID() int { return d.view.defaultSpec }

// CurrentSchema decodes the current schema, once per document. Invalid when it is malformed.
func (d *Document) CurrentSchema() (Schema, error) { return d.view.schema() }

// Schema decodes the schema of that id; false when there is none.
func (d *Document) Schema(id int) (Schema, bool, error) {
	raw, ok := d.view.schemas.find(id)
	if !ok {
		return Schema{}, false, nil
	}
	if id == d.view.currentSchema {
		schema, err := d.view.schema()
		return schema, true, err
	}
	schema, err := parseSchema(raw)
	return schema, true, err
}

// SchemaIDs gives the ids of all schemas in document order.
func (d *Document) SchemaIDs() []int {
	ids := make([]int, 0, len(d.view.schemas.entries))
	for _, e := range d.view.schemas.entries {
		ids = append(ids, e.id)
	}
	return ids
}

// CurrentSchemaID is the id of the current schema.
func (d *Document) CurrentSchemaID() int { return d.view.currentSchema }

// PartitionSpecRaw gives the JSON of the partition spec of that id, with spec-id and fields.
func (d *Document) PartitionSpecRaw(id int) (json.RawMessage, bool) { return d.view.specs.find(id) }

// cacheSchema makes the loader of the current schema on bytes of its own, so that versions that share
// it do not keep each other's documents in memory.
func (v *view) cacheSchema() {
	raw, _ := v.schemas.find(v.currentSchema)
	own := bytes.Clone(raw)
	v.currentSchemaSize = len(own)
	v.schema = sync.OnceValues(func() (Schema, error) { return parseSchema(own) })
}
