package metadata

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

// defaultFormatVersion is the format of a table that does not ask for another.
const defaultFormatVersion = 2

// CreateInput is a create-table request. PartitionSpec and WriteOrder may be nil or null.
type CreateInput struct {
	UUID, Location                    string
	FormatVersion                     int // 0 means 2; a property format-version overrides it
	Schema, PartitionSpec, WriteOrder json.RawMessage
	Properties                        map[string]string
	Now                               time.Time
}

// New makes the first document of a table. It assigns fresh ids: fields from 1, all of a level before
// the levels below it, partition fields from 1000, schema 0, spec 0, sort order 1 (0 if unsorted).
// Members of fields that it does not know survive. The error is Invalid.
func New(in CreateInput) (*Document, error) {
	version, err := in.formatVersion()
	if err != nil {
		return nil, err
	}
	schema, ids, err := freshSchema(in.Schema)
	if err != nil {
		return nil, err
	}
	b := newBuilder(nil, in.Now, version)
	steps := []func() error{
		func() error { return b.assignUUID(in.UUID) },
		func() error { return b.setLocation(in.Location) },
		func() error { return b.addSchema(schema) },
		func() error { return b.setCurrentSchema(lastAdded) },
		func() error { return b.addFreshSpec(in.PartitionSpec, ids) },
		func() error { return b.setDefaultSpec(lastAdded) },
		func() error { return b.addFreshOrder(in.WriteOrder, ids) },
		func() error { return b.setDefaultOrder(lastAdded) },
		func() error { return b.setProperties(persisted(in.Properties)) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	result, err := b.finish("")
	if err != nil {
		return nil, err
	}
	return result.Document, nil
}

func (in CreateInput) formatVersion() (int, error) {
	version := in.FormatVersion
	if version == 0 {
		version = defaultFormatVersion
	}
	if text, ok := in.Properties["format-version"]; ok {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, fault.New(fault.Invalid, "Invalid format-version: %q", text)
		}
		version = n
	}
	if version < 1 || version > 3 {
		return 0, fault.New(fault.Invalid, "Unsupported format version: v%d (supported: v3)", version)
	}
	return version, nil
}

// persisted gives the properties that a table stores, in the order of their keys.
func persisted(properties map[string]string) []member {
	var members []member
	for key, value := range properties {
		if !isReservedProperty(key) {
			members = append(members, member{key, quoted(value)})
		}
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	return members
}

// isReservedProperty tells whether a property mirrors other metadata and is never stored.
func isReservedProperty(key string) bool {
	switch key {
	case "format-version", "uuid", "snapshot-count", "current-snapshot-summary", "current-snapshot-id",
		"current-snapshot-timestamp-ms", "current-schema", "default-partition-spec", "default-sort-order":
		return true
	}
	return false
}

// freshIDs assigns field ids and remembers them by the ids of the request.
type freshIDs struct {
	next int
	of   map[int]int
}

func (ids *freshIDs) assign(old int) json.RawMessage {
	ids.next++
	ids.of[old] = ids.next
	return integerOf(ids.next)
}

// freshSchema rewrites a request's schema with fresh ids and gives how the ids map.
func freshSchema(raw json.RawMessage) (json.RawMessage, *freshIDs, error) {
	raw, err := cleanJSON(raw, "schema")
	if err != nil {
		return nil, nil, err
	}
	schema, err := parseSchema(raw)
	if err != nil {
		return nil, nil, err
	}
	seen := make(map[int]bool)
	walkFields(schema.Fields, func(f *Field) {
		if seen[f.ID] && err == nil {
			err = fault.New(fault.Invalid, "Invalid schema: multiple fields for id %d: %s", f.ID, f.Path)
		}
		seen[f.ID] = true
	})
	if err != nil {
		return nil, nil, err
	}
	ids := &freshIDs{of: make(map[int]int, len(seen))}
	fields := ids.fields(memberOf(raw, "fields"))
	identifiers := make([]json.RawMessage, 0, len(schema.IdentifierFieldIDs))
	for _, id := range schema.IdentifierFieldIDs {
		fresh, ok := ids.of[id]
		if !ok {
			return nil, nil, fault.New(fault.Invalid, "Cannot add field id %d as an identifier field: field does not exist", id)
		}
		identifiers = append(identifiers, integerOf(fresh))
	}
	members, _ := membersOf(raw)
	members = withMember(members, "type", quoted(structType))
	members = withMember(members, "schema-id", integer(0))
	members = withMember(members, "fields", fields)
	if len(identifiers) > 0 {
		members = withMember(members, "identifier-field-ids", joinElements(identifiers))
	}
	return joinMembers(members), ids, nil
}

// fields rewrites the fields of a struct: first all ids of this level, then the levels below.
func (ids *freshIDs) fields(array json.RawMessage) json.RawMessage {
	elements, _ := elementsOf(array)
	fields := make([][]member, len(elements))
	for i, element := range elements {
		fields[i], _ = membersOf(element)
		old, _ := intOf(memberOf(element, "id"))
		fields[i] = withMember(fields[i], "id", ids.assign(old))
	}
	for i, members := range fields {
		for j := range members {
			if members[j].key == "type" {
				members[j].value = ids.typ(members[j].value)
			}
		}
		elements[i] = joinMembers(members)
	}
	return joinElements(elements)
}

// typ rewrites the ids within a type.
func (ids *freshIDs) typ(raw json.RawMessage) json.RawMessage {
	members, ok := membersOf(raw)
	if !ok {
		return raw
	}
	parts := []string{}
	switch kind, _ := stringOf(memberOf(raw, "type")); kind {
	case structType:
		return joinMembers(withMember(members, "fields", ids.fields(memberOf(raw, "fields"))))
	case listType:
		parts = []string{"element"}
	case mapType:
		parts = []string{"key", "value"}
	}
	for _, part := range parts {
		old, _ := intOf(memberOf(raw, part+"-id"))
		members = withMember(members, part+"-id", ids.assign(old))
	}
	for _, part := range parts {
		members = withMember(members, part, ids.typ(memberOf(raw, part)))
	}
	return joinMembers(members)
}

// remap replaces the source ids of the fields of a spec or order by fresh ones.
func (ids *freshIDs) remap(fields []transformField, what string) ([][]member, error) {
	out := make([][]member, 0, len(fields))
	for _, f := range fields {
		fresh := make([]json.RawMessage, 0, len(f.sources))
		for _, source := range f.sources {
			id, ok := ids.of[source]
			if !ok {
				return nil, fault.New(fault.Invalid, "Cannot find source column for %s: field id %d", what, source)
			}
			fresh = append(fresh, integerOf(id))
		}
		members, _ := membersOf(f.raw)
		for i := range members {
			switch members[i].key {
			case "source-id":
				members[i].value = fresh[0]
			case "source-ids":
				members[i].value = joinElements(fresh)
			}
		}
		out = append(out, members)
	}
	return out, nil
}

func (b *builder) addFreshSpec(raw json.RawMessage, ids *freshIDs) error {
	raw, err := orUnset(raw, "partition-spec")
	if err != nil {
		return err
	}
	fields, err := readTransformFields(raw, "Invalid partition spec")
	if err != nil {
		return err
	}
	fresh, err := ids.remap(fields, "partition spec")
	if err != nil {
		return err
	}
	elements := make([]json.RawMessage, 0, len(fresh))
	for i, members := range fresh {
		elements = append(elements, joinMembers(withMember(members, "field-id", integerOf(initialPartitionID+1+i))))
	}
	members, _ := membersOf(raw)
	return b.addSpec(joinMembers(withMember(members, "fields", joinElements(elements))))
}

func (b *builder) addFreshOrder(raw json.RawMessage, ids *freshIDs) error {
	raw, err := orUnset(raw, "write-order")
	if err != nil {
		return err
	}
	fields, err := readTransformFields(raw, "Invalid sort order")
	if err != nil {
		return err
	}
	fresh, err := ids.remap(fields, "sort order")
	if err != nil {
		return err
	}
	elements := make([]json.RawMessage, 0, len(fresh))
	for _, members := range fresh {
		elements = append(elements, joinMembers(members))
	}
	members, _ := membersOf(raw)
	return b.addOrder(joinMembers(withMember(members, "fields", joinElements(elements))))
}

// orUnset gives an empty spec or order for one that was not sent.
func orUnset(raw json.RawMessage, what string) (json.RawMessage, error) {
	if isNull([]byte(strings.TrimSpace(string(raw)))) {
		return json.RawMessage(`{"fields":[]}`), nil
	}
	return cleanJSON(raw, what)
}
