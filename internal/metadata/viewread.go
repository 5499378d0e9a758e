package metadata

import (
	"encoding/json"

	"github.com/sluice-data/sluice/internal/fault"
)

// initialPartitionID is one less than the first partition field id.
const initialPartitionID = 999

// viewReader reads the sections of a document and keeps the first error.
type viewReader struct {
	d     *Document
	base  *Document       // an older version to share with, or nil
	dirty map[string]bool // sections that differ from base
	err   error
}

// shared tells whether all of the sections are the base's.
func (r *viewReader) shared(sections ...string) bool {
	for _, name := range sections {
		if r.dirty[name] {
			return false
		}
	}
	return r.base != nil
}

// readView reads the views of a document. Those on sections that do not differ from base, which may be
// nil, are shared with it.
func readView(d, base *Document, dirty map[string]bool) (view, error) {
	r := viewReader{d: d, base: base, dirty: dirty}
	v := view{formatVersion: r.int("format-version", true)}
	if r.err == nil && (v.formatVersion < 1 || v.formatVersion > 3) {
		return v, fault.New(fault.Invalid, "Cannot read unsupported version %d", v.formatVersion)
	}
	v2 := v.formatVersion >= 2
	v.uuid = r.string("table-uuid", v2)
	v.location = r.string("location", true)
	v.lastSequence = r.int64("last-sequence-number", 0, v2)
	v.lastUpdated = r.int64("last-updated-ms", 0, true)
	v.lastColumn = r.int("last-column-id", true)
	v.current = r.int64("current-snapshot-id", -1, false)
	v.hasCurrent = v.current != -1
	v.nextRow = r.int64("next-row-id", 0, v.formatVersion >= 3)
	v.hasNextRow = v.formatVersion >= 3
	r.schemas(&v)
	r.specs(&v)
	r.orders(&v)
	if v.lastPartition = r.int("last-partition-id", v2); d.sectionValue("last-partition-id") == nil {
		v.lastPartition = highestPartitionID(v.specs)
	}
	r.properties(&v)
	r.refs(&v)
	if r.err != nil {
		return v, r.err
	}
	if r.shared("schemas", "schema", "current-schema-id", "format-version") {
		v.schema, v.currentSchemaSize = base.view.schema, base.view.currentSchemaSize
	} else {
		v.cacheSchema()
	}
	return v, nil
}

func (r *viewReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fault.New(fault.Invalid, "Cannot parse table metadata: "+format, args...)
	}
}

// section gives a section's value, nil when absent or null, which fails if it is required.
func (r *viewReader) section(name string, required bool) json.RawMessage {
	value := r.d.sectionValue(name)
	if value == nil && required {
		r.fail("missing %s", name)
	}
	return value
}

func (r *viewReader) int64(name string, absent int64, required bool) int64 {
	value := r.section(name, required)
	if value == nil {
		return absent
	}
	n, ok := int64Of(value)
	if !ok {
		r.fail("%s is not a 64-bit integer", name)
	}
	return n
}

func (r *viewReader) int(name string, required bool) int {
	value := r.section(name, required)
	if value == nil {
		return 0
	}
	n, ok := intOf(value)
	if !ok {
		r.fail("%s is not a 32-bit integer", name)
	}
	return n
}

func (r *viewReader) string(name string, required bool) string {
	value := r.section(name, required)
	if value == nil {
		return ""
	}
	s, ok := stringOf(value)
	if !ok || required && s == "" {
		r.fail("%s is not a non-empty string", name)
	}
	return s
}

// list indexes a section, or takes over the index of the base.
func (r *viewReader) list(name string, array json.RawMessage, key string) idList {
	if r.shared(name, "format-version") {
		switch key {
		case "schema-id":
			return idList{array: array, entries: r.base.view.schemas.entries}
		case "spec-id":
			return idList{array: array, entries: r.base.view.specs.entries}
		case "order-id":
			return idList{array: array, entries: r.base.view.orders.entries}
		}
	}
	list, err := readIDList(name, array, key)
	if err != nil && r.err == nil {
		r.err = err
	}
	return list
}

// schemas reads the schema list, or the single schema of old v1 documents.
func (r *viewReader) schemas(v *view) {
	if array := r.section("schemas", v.formatVersion >= 2); array != nil {
		v.schemas = r.list("schemas", array, "schema-id")
		v.currentSchema = r.int("current-schema-id", true)
	} else if single := r.section("schema", true); single != nil {
		if members, ok := membersOf(single); ok && memberOf(single, "schema-id") == nil {
			single = joinMembers(withMember(members, "schema-id", integer(0)))
		}
		v.schemas = r.list("schema", joinElements([]json.RawMessage{single}), "schema-id")
		if len(v.schemas.entries) == 1 {
			v.currentSchema = v.schemas.entries[0].id
		}
	}
	if _, ok := v.schemas.find(v.currentSchema); !ok {
		r.fail("cannot find schema with current-schema-id=%d", v.currentSchema)
	}
}

// specs reads the spec list, or the field list of old v1 documents.
func (r *viewReader) specs(v *view) {
	if array := r.section("partition-specs", v.formatVersion >= 2); array != nil {
		v.specs = r.list("partition-specs", array, "spec-id")
		v.defaultSpec = r.int("default-spec-id", true)
	} else {
		fields := r.section("partition-spec", false)
		if fields == nil {
			fields = json.RawMessage("[]")
		}
		spec := joinMembers([]member{{"spec-id", integer(0)}, {"fields", fields}})
		v.specs = r.list("partition-spec", joinElements([]json.RawMessage{spec}), "spec-id")
	}
	if _, ok := v.specs.find(v.defaultSpec); !ok {
		r.fail("cannot find partition spec with default-spec-id=%d", v.defaultSpec)
	}
}

func (r *viewReader) orders(v *view) {
	array := r.section("sort-orders", v.formatVersion >= 2)
	if array == nil {
		array = json.RawMessage(`[{"order-id":0,"fields":[]}]`)
	} else {
		v.defaultOrder = r.int("default-sort-order-id", true)
	}
	v.orders = r.list("sort-orders", array, "order-id")
	if _, ok := v.orders.find(v.defaultOrder); !ok {
		r.fail("cannot find sort order with default-sort-order-id=%d", v.defaultOrder)
	}
}

func (r *viewReader) properties(v *view) {
	if r.shared("properties") {
		v.properties = r.base.view.properties
		return
	}
	v.properties = make(map[string]string)
	value := r.section("properties", false)
	if value == nil {
		return
	}
	ok := eachMember(value, func(key, value []byte) {
		s, ok := stringOf(value)
		if !ok {
			r.fail("property %s is not a string", key)
		}
		v.properties[string(key)] = s
	})
	if !ok {
		r.fail("properties is not an object")
	}
}

// refs reads the refs, or makes main from current-snapshot-id in documents that have none.
func (r *viewReader) refs(v *view) {
	if r.shared("refs", "current-snapshot-id") {
		v.refs, v.refsWritten = r.base.view.refs, r.base.view.refsWritten
		return
	}
	v.refs = make(map[string]Ref)
	value := r.section("refs", false)
	v.refsWritten = value != nil
	if value == nil {
		if v.hasCurrent {
			v.refs[mainBranch] = Ref{SnapshotID: v.current, Type: branchType}
		}
		return
	}
	ok := eachMember(value, func(key, value []byte) {
		ref, err := decodeRef(value)
		if err != nil {
			r.fail("ref %s: %s", key, fault.PublicMessage(err))
		}
		v.refs[string(key)] = ref
	})
	if !ok {
		r.fail("refs is not an object")
	}
}

// checkSnapshots holds the sections together as engines do when they open a table.
func (d *Document) checkSnapshots() error {
	v := &d.view
	for name, ref := range v.refs {
		if _, ok := d.snapshots.find(ref.SnapshotID); !ok {
			return fault.New(fault.Invalid, "Cannot parse table metadata: ref %s points to unknown snapshot %d", name, ref.SnapshotID)
		}
	}
	main, ok := v.refs[mainBranch]
	if ok != v.hasCurrent && (ok || !v.refsWritten) || ok && main.SnapshotID != v.current {
		return fault.New(fault.Invalid, "Cannot parse table metadata: current-snapshot-id does not match branch main")
	}
	if _, known := d.snapshots.find(v.current); v.hasCurrent && !known {
		return fault.New(fault.Invalid, "Cannot parse table metadata: current snapshot %d is unknown", v.current)
	}
	if highest := d.snapshots.highestSequence(); v.formatVersion >= 2 && highest > v.lastSequence {
		return fault.New(fault.Invalid, "Cannot parse table metadata: sequence number %d of a snapshot is above last-sequence-number %d",
			highest, v.lastSequence)
	}
	return nil
}
