package metadata

import (
	"encoding/json"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
)

// finish checks the whole and writes the new document.
func (b *builder) finish(previousLocation string) (*Result, error) {
	b.noteProperties()
	if b.base != nil && len(b.dirty) == 0 {
		return &Result{Document: b.base}, nil
	}
	if err := b.checkWhole(); err != nil {
		return nil, err
	}
	for _, s := range b.added {
		b.changes.AddedSnapshots = append(b.changes.AddedSnapshots, *s)
	}
	b.changes.ReplacedTable = b.mainRemoved && (b.choseLayout || b.mainSetNew)
	b.v.lastUpdated = b.updateTime()
	b.dirty["last-updated-ms"] = true
	b.materialise()
	doc, err := b.write(previousLocation)
	if err != nil {
		return nil, err
	}
	return &Result{Document: doc, Changed: true, Changes: b.changes}, nil
}

// noteProperties compares the properties before and after.
func (b *builder) noteProperties() {
	var before map[string]string
	if b.base != nil {
		before = b.base.view.properties
	}
	set := make(map[string]string)
	for key, value := range b.v.properties {
		if old, ok := before[key]; !ok || old != value {
			set[key] = value
		}
	}
	for key := range before {
		if _, ok := b.v.properties[key]; !ok {
			b.changes.PropertiesRemoved = append(b.changes.PropertiesRemoved, key)
		}
	}
	slices.Sort(b.changes.PropertiesRemoved)
	b.changes.PropertiesSet = set
	if len(set)+len(b.changes.PropertiesRemoved) > 0 {
		b.dirty["properties"] = true
	}
}

// checkWhole checks what holds only when all updates are in.
func (b *builder) checkWhole() error {
	switch {
	case !b.hasSchema:
		return fault.New(fault.Invalid, "Invalid table: no current schema is set")
	case !b.hasSpec:
		return fault.New(fault.Invalid, "Invalid table: no default partition spec is set")
	case !b.hasOrder:
		return fault.New(fault.Invalid, "Invalid table: no default sort order is set")
	case b.v.location == "":
		return fault.New(fault.Invalid, "Invalid table: no location is set")
	case b.v.uuid == "" && (b.base == nil || b.v.formatVersion >= 2):
		return fault.New(fault.Invalid, "Invalid table: no uuid is set, it is required in format v%d", b.v.formatVersion)
	}
	if !b.dirty["current-schema-id"] && !b.dirty["default-spec-id"] && !b.dirty["default-sort-order-id"] {
		return nil
	}
	schema, err := b.currentSchema()
	if err != nil {
		return err
	}
	spec, _ := findListed(b.specs, b.v.defaultSpec)
	fields, err := readTransformFields(spec.raw, "Invalid partition spec")
	if err != nil {
		return err
	}
	if err := checkSources("partition spec", fields, schema.index, false); err != nil {
		return err
	}
	order, _ := findListed(b.orders, b.v.defaultOrder)
	if fields, err = readTransformFields(order.raw, "Invalid sort order"); err != nil {
		return err
	}
	return checkSources("sort order", fields, schema.index, false)
}

// materialise marks the sections that follow from others: format v1 keeps copies of the current schema
// and spec, and a list that old v1 documents leave out is written as soon as it has to differ.
func (b *builder) materialise() {
	groups := [][]string{
		{"schemas", "current-schema-id"},
		{"partition-specs", "default-spec-id", "last-partition-id"},
		{"sort-orders", "default-sort-order-id"},
	}
	for _, group := range groups {
		change := b.dirty["format-version"]
		for _, name := range group {
			change = change || b.dirty[name]
		}
		for _, name := range group {
			if b.base != nil && change && b.base.sectionValue(name) == nil {
				b.dirty[name] = true
			}
		}
	}
	if b.v.formatVersion == 1 {
		b.dirty["schema"] = b.dirty["current-schema-id"]
		b.dirty["partition-spec"] = b.dirty["default-spec-id"]
	}
}

// written lists the sections in the order in which a new document has them.
func writtenSections() []string {
	return []string{
		"format-version", "table-uuid", "location", "last-sequence-number", "last-updated-ms", "last-column-id",
		"schema", "current-schema-id", "schemas", "partition-spec", "default-spec-id", "partition-specs",
		"last-partition-id", "default-sort-order-id", "sort-orders", "properties", "current-snapshot-id",
		"next-row-id", keysSection, "refs", "snapshots", "statistics", "partition-statistics", "snapshot-log", "metadata-log",
	}
}

func (b *builder) write(previousLocation string) (*Document, error) {
	l := newLayout(b.base)
	var starts []int
	b.dirty["metadata-log"] = previousLocation != ""
	for _, name := range writtenSections() {
		if b.base == nil && !b.inNewDocument(name) || b.base != nil && !b.dirty[name] {
			continue
		}
		var parts [][]byte
		switch {
		case name == "snapshots":
			parts, starts = b.snapshotArray()
		case name == "snapshot-log":
			parts = b.snapshotLog()
		case name == "metadata-log" && b.base != nil:
			parts = [][]byte{b.metadataLog(previousLocation)}
		default:
			parts = [][]byte{b.render(name)}
		}
		l.set(name, parts...)
	}
	if b.v.formatVersion >= 2 {
		l.remove("schema")
		l.remove("partition-spec")
	}
	doc := l.assemble()
	if err := b.index(doc, starts); err != nil {
		return nil, err
	}
	return doc, nil
}

// inNewDocument tells whether a new document of this format version has the section.
func (b *builder) inNewDocument(name string) bool {
	switch name {
	case "schema", "partition-spec":
		return b.v.formatVersion == 1
	case "last-sequence-number":
		return b.v.formatVersion >= 2
	case "next-row-id":
		return b.v.formatVersion >= 3
	case keysSection:
		return b.keys != nil && len(b.keys.at) > 0
	}
	return true
}

// render encodes one section other than the snapshots and the logs.
func (b *builder) render(name string) json.RawMessage {
	switch name {
	case "format-version":
		return integerOf(b.v.formatVersion)
	case "table-uuid":
		return quoted(b.v.uuid)
	case "location":
		return quoted(b.v.location)
	case "last-sequence-number":
		return integer(b.v.lastSequence)
	case "last-updated-ms":
		return integer(b.v.lastUpdated)
	case "last-column-id":
		return integerOf(b.v.lastColumn)
	case "current-schema-id":
		return integerOf(b.v.currentSchema)
	case "default-spec-id":
		return integerOf(b.v.defaultSpec)
	case "last-partition-id":
		return integerOf(b.v.lastPartition)
	case "default-sort-order-id":
		return integerOf(b.v.defaultOrder)
	case "next-row-id":
		return integer(b.v.nextRow)
	case "properties":
		return b.renderProperties()
	case "refs":
		return b.writtenRefs().render()
	case "current-snapshot-id":
		return b.renderCurrent()
	}
	return b.renderList(name)
}

// renderProperties keeps the order and spelling of what was there, and puts new properties behind.
func (b *builder) renderProperties() json.RawMessage {
	var members []member
	if b.base != nil {
		members, _ = membersOf(b.base.sectionValue("properties"))
	}
	written := make(map[string]bool, len(members))
	kept := members[:0]
	for _, m := range members {
		if _, ok := b.v.properties[m.key]; !ok {
			continue
		}
		if raw, ok := b.setValues[m.key]; ok {
			m.value = raw
		}
		kept, written[m.key] = append(kept, m), true
	}
	for _, key := range b.setKeys {
		if _, ok := b.v.properties[key]; ok && !written[key] {
			kept, written[key] = append(kept, member{key, b.setValues[key]}), true
		}
	}
	return joinMembers(kept)
}

// renderCurrent writes a missing current snapshot as engines of the format version do: -1, since v3 null.
func (b *builder) renderCurrent() json.RawMessage {
	if !b.v.hasCurrent && b.v.formatVersion >= 3 {
		return json.RawMessage("null")
	}
	return integer(b.v.current)
}

func (b *builder) renderList(name string) json.RawMessage {
	switch name {
	case "schemas":
		return joinListed(b.schemas)
	case "partition-specs":
		return joinListed(b.specs)
	case "sort-orders":
		return joinListed(b.orders)
	case "schema":
		current, _ := findListed(b.schemas, b.v.currentSchema)
		return current.raw
	case "partition-spec":
		spec, _ := findListed(b.specs, b.v.defaultSpec)
		return memberOf(spec.raw, "fields")
	}
	return joinElements(b.loaded(name))
}

func joinListed(list []listed) json.RawMessage {
	elements := make([]json.RawMessage, 0, len(list))
	for _, l := range list {
		elements = append(elements, l.raw)
	}
	return joinElements(elements)
}

// snapshotArray gives the parts of the new snapshots section, and where each snapshot starts that is
// not at its old place: the added ones, or all if some were removed.
func (b *builder) snapshotArray() (parts [][]byte, starts []int) {
	var added, kept []json.RawMessage
	for _, s := range b.added {
		added = append(added, s.Raw)
	}
	if b.base == nil {
		return appendedArray(nil, 0, added)
	}
	array, x := b.base.sectionValue("snapshots"), b.base.snapshots
	if len(b.removed) == 0 {
		end := 0
		if x.len() > 0 {
			end = x.at(x.len() - 1).end
		}
		return appendedArray(array, end, added)
	}
	for i := range x.len() {
		if e := x.at(i); !b.removed[e.id] {
			kept = append(kept, array[e.start:e.end])
		}
	}
	return appendedArray(nil, 0, slices.Concat(kept, added))
}

// index gives the new document its views and indexes, taking from the base what did not change.
func (b *builder) index(doc *Document, starts []int) (err error) {
	if doc.snapshots, err = b.indexSnapshots(starts); err != nil {
		return err
	}
	if b.base != nil && !b.dirty["snapshot-log"] {
		doc.log = b.base.log
	} else if b.spliced != nil {
		doc.log = *b.spliced
	} else if doc.log, err = readLogEnd(doc.sectionValue("snapshot-log")); err != nil {
		return err
	}
	doc.view, err = readView(doc, b.base, b.dirty)
	return err
}

func (b *builder) indexSnapshots(starts []int) (snapshotIndex, error) {
	var x snapshotIndex
	if b.base != nil {
		x = b.base.snapshots
	}
	if !b.dirty["snapshots"] {
		return x, nil
	}
	if len(b.removed) > 0 {
		kept := make([]indexEntry, 0, x.len())
		for i := range x.len() {
			e := x.at(i)
			if b.removed[e.id] {
				continue
			}
			length := e.end - e.start
			e.start = starts[len(kept)]
			e.end = e.start + length
			kept = append(kept, e)
		}
		starts = starts[len(kept):]
		x = newSnapshotIndex(kept)
	}
	for i, s := range b.added {
		e, err := indexSnapshot(s.Raw)
		if err != nil {
			return x, err
		}
		e.start, e.end = starts[i], starts[i]+len(s.Raw)
		x = x.appended(e)
	}
	return x, nil
}
