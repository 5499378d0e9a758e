package metadata

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

// CreateViewInput is a create-view request.
type CreateViewInput struct {
	UUID, Location  string
	Schema, Version json.RawMessage // the version's ids are assigned: its version is 1, its schema 0
	Properties      map[string]string
	Now             time.Time
}

// NewView makes the first document of a view. Field ids stay as they are; members it does not know survive. The error
// is Invalid.
func NewView(in CreateViewInput) (*ViewDocument, error) {
	schema, err := cleanJSON(in.Schema, "schema")
	if err != nil {
		return nil, err
	}
	version, err := cleanJSON(in.Version, "view version")
	if err != nil {
		return nil, err
	}
	members, _ := membersOf(version)
	members = withMember(members, "version-id", integerOf(firstViewVersionID))
	version = joinMembers(withMember(members, "schema-id", integerOf(lastAdded)))
	b := newViewBuilder(nil, in.Now)
	steps := []func() error{
		func() error { return b.assignUUID(in.UUID) },
		func() error { return b.setLocation(in.Location) },
		func() error { return b.addSchema(schema) },
		func() error { return b.addVersion(version) },
		func() error { return b.setCurrentVersion(lastAdded) },
		func() error { return b.setProperties(encodedProperties(in.Properties)) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	result, err := b.finish()
	if err != nil {
		return nil, err
	}
	return result.Document, nil
}

// encodedProperties gives properties in the order of their keys.
func encodedProperties(properties map[string]string) []member {
	members := make([]member, 0, len(properties))
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		members = append(members, member{key, quoted(properties[key])})
	}
	return members
}

// ViewChanges tells what updates did to a view.
type ViewChanges struct {
	AddedVersions         []int
	LocationChanged       bool
	CurrentVersionChanged bool
	PropertiesSet         map[string]string // only keys whose value differs from before
	PropertiesRemoved     []string          // only keys that existed, sorted
}

// ViewResult is what ApplyView made of a document.
type ViewResult struct {
	Document *ViewDocument
	Changed  bool // false: Document is the base and there is nothing to write
	Changes  ViewChanges
}

// ApplyView makes the next version of a view's document. The base is not changed. The error is Invalid for updates
// that make no valid view; two queries for one dialect are Invalid about Argument.
func ApplyView(base *ViewDocument, updates []ViewUpdate, now time.Time) (*ViewResult, error) {
	b := newViewBuilder(base, now)
	for _, u := range updates {
		if u.apply == nil {
			return nil, fault.New(fault.Invalid, "Invalid update: %s was not decoded", u.Action)
		}
		if err := u.apply(b); err != nil {
			return nil, err
		}
	}
	return b.finish()
}

// viewBuilder is a view document under change. dirty names the sections whose value is no longer the base's.
type viewBuilder struct {
	base    *ViewDocument // nil for a new view
	now     int64         // Unix milliseconds
	dirty   map[string]bool
	changes ViewChanges

	uuid, location string
	schemas        []listed
	versions       []ViewVersion
	properties     *memberSet // in order, values as they are written
	current        int
	hasCurrent     bool
	became         int64 // when the current version became that, Unix milliseconds

	lastSchema, lastVersion *int // added or found again in this commit

	schemaIndex, versionIndex *layoutIndex // nil until one of its kind is added
	schemaSpent               int          // bytes, see schemaBudget
}

func newViewBuilder(base *ViewDocument, now time.Time) *viewBuilder {
	b := &viewBuilder{base: base, now: now.UnixMilli(), dirty: map[string]bool{}, properties: newMemberSet(nil)}
	if base == nil {
		return b
	}
	b.uuid, b.location, b.current, b.hasCurrent = base.uuid, base.location, base.current, true
	b.schemas, b.versions = slices.Clone(base.schemas), slices.Clone(base.versions)
	properties, _ := membersOf(base.json.sectionValue("properties"))
	b.properties = newMemberSet(properties)
	return b
}

func (b *viewBuilder) assignUUID(uuid string) error {
	if !isUUID(uuid) {
		return fault.New(fault.Invalid, "Cannot set uuid to %q", uuid)
	}
	if b.uuid == uuid {
		return nil
	}
	if b.uuid != "" {
		return fault.New(fault.Invalid, "Cannot reassign uuid: the view has uuid %s", b.uuid)
	}
	b.uuid = uuid
	b.dirty["view-uuid"] = true
	return nil
}

func (b *viewBuilder) upgrade(version int) error {
	switch {
	case version < viewFormatVersion:
		return fault.New(fault.Invalid, "Cannot downgrade v%d view to v%d", viewFormatVersion, version)
	case version > viewFormatVersion:
		return fault.New(fault.Invalid, "Cannot upgrade view to unsupported format version: v%d (supported: v%d)", version, viewFormatVersion)
	}
	return nil
}

func (b *viewBuilder) setLocation(location string) error {
	if location == "" {
		return fault.New(fault.Invalid, "Cannot set location to an empty string")
	}
	if location == b.location {
		return nil
	}
	b.location = location
	b.dirty["location"] = true
	b.changes.LocationChanged = b.base != nil
	return nil
}

// addSchema adds a schema or finds an equal one again. The id in raw is only a wish. Views have no format versions to
// bound the types of their columns.
func (b *viewBuilder) addSchema(raw json.RawMessage) error {
	if kind := memberOf(raw, "type"); kind != nil && string(kind) != `"struct"` {
		return fault.New(fault.Invalid, "Invalid schema: type is not struct")
	}
	p := schemaParser{budget: schemaBudget}
	schema, err := p.schema(raw)
	if err != nil {
		return err
	}
	if b.schemaSpent += p.spent; b.schemaSpent > schemaBudget {
		return fault.New(fault.TooLarge, "The schemas of this commit are larger than %d MB together. Split it.", schemaBudget>>20)
	}
	b.indexSchemas()
	key := schemaKey(schema)
	if known, ok := b.schemaIndex.find(key); ok {
		b.lastSchema = &known
		return nil
	}
	id := nextID(b.schemas, 0)
	const newestTypes = 3
	if err := checkSchema(schema, newestTypes); err != nil {
		return err
	}
	members, _ := membersOf(raw)
	members = withMember(members, "type", quoted(structType))
	b.schemas = append(b.schemas, listed{id: id, raw: joinMembers(withMember(members, "schema-id", integerOf(id)))})
	b.lastSchema = &id
	b.schemaIndex.add(key, id)
	b.dirty["schemas"] = true
	return nil
}

// indexSchemas prepares the search for an equal schema.
func (b *viewBuilder) indexSchemas() {
	if b.schemaIndex != nil {
		return
	}
	b.schemaIndex = newLayoutIndex(len(b.schemas))
	for _, l := range b.schemas {
		if schema, err := parseSchema(l.raw); err == nil {
			b.schemaIndex.add(schemaKey(schema), l.id)
		}
	}
}

func (b *viewBuilder) setProperties(properties []member) error {
	for _, m := range properties {
		if old := b.properties.written(m.key); old == nil || !sameJSON(old, m.value) {
			b.properties.set(m.key, m.value)
		}
	}
	return nil
}

func (b *viewBuilder) removeProperties(keys []string) error {
	for _, key := range keys {
		b.properties.remove(key)
	}
	return nil
}

// property gives a property's value as of now, "" when it is not set.
func (b *viewBuilder) property(key string) string {
	s, _ := stringOf(b.properties.written(key))
	return s
}

// noteProperties compares the properties before and after.
func (b *viewBuilder) noteProperties() {
	var before map[string]string
	if b.base != nil {
		before = b.base.properties
	}
	set, after := map[string]string{}, map[string]bool{}
	for _, m := range b.properties.left() {
		value, _ := stringOf(m.value)
		if old, ok := before[m.key]; !ok || old != value {
			set[m.key] = value
		}
		after[m.key] = true
	}
	for key := range before {
		if !after[key] {
			b.changes.PropertiesRemoved = append(b.changes.PropertiesRemoved, key)
		}
	}
	slices.Sort(b.changes.PropertiesRemoved)
	b.changes.PropertiesSet = set
	b.dirty["properties"] = b.base == nil || len(set)+len(b.changes.PropertiesRemoved) > 0
}

// finish checks the whole and writes the new document.
func (b *viewBuilder) finish() (*ViewResult, error) {
	b.noteProperties()
	unchanged := !slices.Contains(slices.Collect(maps.Values(b.dirty)), true)
	if b.base != nil && unchanged {
		return &ViewResult{Document: b.base}, nil
	}
	if err := b.checkDialects(); err != nil {
		return nil, err
	}
	if err := b.trimHistory(); err != nil {
		return nil, err
	}
	b.dirty["version-log"] = b.dirty["current-version-id"] || b.dirty["versions"]
	b.changes.CurrentVersionChanged = b.base != nil && b.current != b.base.current
	var base *Document
	if b.base != nil {
		base = b.base.json
	}
	l := newLayout(base)
	for _, name := range []string{
		"view-uuid", "format-version", "location", "schemas", "current-version-id", "versions", "version-log", "properties",
	} {
		if b.base == nil || b.dirty[name] {
			l.set(name, b.render(name))
		}
	}
	// What was written is read again in full: it is small, and never worse than what a client would find.
	doc, err := readViewDocument(l.assemble())
	if err != nil {
		return nil, err
	}
	return &ViewResult{Document: doc, Changed: true, Changes: b.changes}, nil
}

func (b *viewBuilder) render(name string) json.RawMessage {
	switch name {
	case "view-uuid":
		return quoted(b.uuid)
	case "format-version":
		return integerOf(viewFormatVersion)
	case "location":
		return quoted(b.location)
	case "schemas":
		return joinListed(b.schemas)
	case "current-version-id":
		return integerOf(b.current)
	case "versions":
		elements := make([]json.RawMessage, 0, len(b.versions))
		for _, v := range b.versions {
			elements = append(elements, v.Raw)
		}
		return joinElements(elements)
	case "version-log":
		return b.versionLog()
	}
	return b.properties.render()
}
