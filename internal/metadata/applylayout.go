package metadata

import (
	"encoding/json"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
)

// addSchema adds a schema or finds an equal one again. The id in raw is only a wish.
func (b *builder) addSchema(raw json.RawMessage) error {
	if kind := memberOf(raw, "type"); kind != nil && string(kind) != `"struct"` {
		return fault.New(fault.Invalid, "Invalid schema: type is not struct")
	}
	schema, err := parseSchema(raw)
	if err != nil {
		return err
	}
	b.indexSchemas()
	key := schemaKey(schema)
	if known, ok := b.schemaIDs[key]; ok {
		b.lastSchema = &known
		return nil
	}
	id := b.v.currentSchema
	for _, l := range b.schemas {
		id = max(id, l.id+1)
	}
	if err := checkSchema(schema, b.v.formatVersion); err != nil {
		return err
	}
	members, _ := membersOf(raw)
	if given, ok := intOf(memberOf(raw, "schema-id")); !ok || given != id || memberOf(raw, "type") == nil {
		members = withMember(members, "type", quoted(structType))
		raw = joinMembers(withMember(members, "schema-id", integerOf(id)))
	}
	b.schemas = append(b.schemas, listed{id: id, raw: raw})
	b.lastSchema, b.schemaIDs[key] = &id, id
	b.changes.AddedSchemas++
	b.dirty["schemas"] = true
	if highest := schema.highestFieldID(); highest > b.v.lastColumn {
		b.v.lastColumn = highest
		b.dirty["last-column-id"] = true
	}
	return nil
}

// indexSchemas prepares the search for an equal schema; of several the first counts.
func (b *builder) indexSchemas() {
	if b.schemaIDs != nil {
		return
	}
	b.schemaIDs = make(map[string]int, len(b.schemas)+1)
	for _, l := range slices.Backward(b.schemas) {
		if schema, err := parseSchema(l.raw); err == nil {
			b.schemaIDs[schemaKey(schema)] = l.id
		}
	}
}

func (b *builder) setCurrentSchema(id int) error {
	if id == lastAdded {
		if b.lastSchema == nil {
			return fault.New(fault.Invalid, "Cannot set last added schema: no schema has been added")
		}
		id = *b.lastSchema
	}
	if b.hasSchema && id == b.v.currentSchema {
		return nil
	}
	next, ok := findListed(b.schemas, id)
	if !ok {
		return fault.New(fault.Invalid, "Cannot set current schema to unknown schema: %d", id)
	}
	if b.base != nil {
		if err := b.noteColumns(next); err != nil {
			return err
		}
	}
	b.v.currentSchema, b.hasSchema = id, true
	b.dirty["current-schema-id"] = true
	return nil
}

// noteColumns records the column changes of choosing another current schema.
func (b *builder) noteColumns(next listed) error {
	before, err := b.currentSchema()
	if err != nil {
		return err
	}
	after, err := parseSchema(next.raw)
	if err != nil {
		return err
	}
	b.changes.ColumnChanges = append(b.changes.ColumnChanges, DiffSchemas(before, after)...)
	b.changes.CurrentSchemaChanged = true
	return nil
}

// currentSchema decodes the current schema. Invalid when none is chosen yet.
func (b *builder) currentSchema() (Schema, error) {
	current, ok := findListed(b.schemas, b.v.currentSchema)
	if !ok || !b.hasSchema {
		return Schema{}, fault.New(fault.Invalid, "The table has no current schema")
	}
	return parseSchema(current.raw)
}

// addSpec adds a partition spec or finds an equal one again, and gives fields without an id one.
func (b *builder) addSpec(raw json.RawMessage) error {
	fields, err := readTransformFields(raw, "Invalid partition spec")
	if err != nil {
		return err
	}
	schema, err := b.currentSchema()
	if err != nil {
		return err
	}
	id := 0
	for _, l := range b.specs {
		if existing, err := readTransformFields(l.raw, ""); err == nil && sameSpecFields(existing, fields) {
			b.lastSpec = &l.id
			return nil
		}
		id = max(id, l.id+1)
	}
	b.assignPartitionIDs(fields)
	if err := checkSpec(fields, schema, b.v.formatVersion); err != nil {
		return err
	}
	if err := b.checkPartitionIDs(fields); err != nil {
		return err
	}
	b.specs = append(b.specs, listed{id: id, raw: encodeSpec(raw, fields, id)})
	b.lastSpec = &id
	b.changes.AddedSpecs++
	b.dirty["partition-specs"] = true
	for _, f := range fields {
		if f.id > b.v.lastPartition {
			b.v.lastPartition = f.id
			b.dirty["last-partition-id"] = true
		}
	}
	return nil
}

// assignPartitionIDs gives fields without an id the id of the same field in an older spec, or the next
// free one. In v1 the ids follow the positions.
func (b *builder) assignPartitionIDs(fields []transformField) {
	next := b.v.lastPartition
	taken := make(map[int]bool, len(fields))
	for _, f := range fields {
		next = max(next, f.id)
		taken[f.id] = true
	}
	older := make(map[string]int)
	for _, l := range b.specs {
		same, _ := readTransformFields(l.raw, "")
		for _, f := range same {
			older[f.key()] = f.id
		}
	}
	for i := range fields {
		f := &fields[i]
		id, known := older[f.key()]
		switch {
		case f.id != 0:
		case b.v.formatVersion == 1:
			f.id = initialPartitionID + 1 + i
		case known && id != 0 && !taken[id]:
			f.id = id
		default:
			next++
			f.id = next
		}
		taken[f.id] = true
	}
}

// checkPartitionIDs refuses an id that means something else in another spec: engines then cannot read
// the table's partitions as one type. v1 tables re-use ids by position.
func (b *builder) checkPartitionIDs(fields []transformField) error {
	if b.v.formatVersion == 1 {
		return nil
	}
	byID := make(map[int]transformField, len(fields))
	for _, f := range fields {
		byID[f.id] = f
	}
	for _, l := range b.specs {
		older, _ := readTransformFields(l.raw, "")
		for _, o := range older {
			f, shared := byID[o.id]
			same := slices.Equal(o.sources, f.sources) && (o.transform == f.transform || o.transform == "void" || f.transform == "void")
			if shared && !same {
				return fault.New(fault.Invalid, "Invalid partition spec: field id %d is used by another field of spec %d", f.id, l.id)
			}
		}
	}
	return nil
}

func encodeSpec(raw json.RawMessage, fields []transformField, id int) json.RawMessage {
	elements := make([]json.RawMessage, 0, len(fields))
	for _, f := range fields {
		element := f.raw
		if memberOf(element, "field-id") == nil {
			members, _ := membersOf(element)
			element = joinMembers(withMember(members, "field-id", integerOf(f.id)))
		}
		elements = append(elements, element)
	}
	members, _ := membersOf(raw)
	members = withMember(members, "spec-id", integerOf(id))
	return joinMembers(withMember(members, "fields", joinElements(elements)))
}

func (b *builder) setDefaultSpec(id int) error {
	if id == lastAdded {
		if b.lastSpec == nil {
			return fault.New(fault.Invalid, "Cannot set last added spec: no spec has been added")
		}
		id = *b.lastSpec
	}
	if b.hasSpec && id == b.v.defaultSpec {
		return nil
	}
	if _, ok := findListed(b.specs, id); !ok {
		return fault.New(fault.Invalid, "Cannot set default spec to unknown spec: %d", id)
	}
	b.v.defaultSpec, b.hasSpec = id, true
	b.dirty["default-spec-id"] = true
	b.changes.DefaultSpecChanged = b.base != nil
	return nil
}

func (b *builder) addOrder(raw json.RawMessage) error {
	fields, err := readTransformFields(raw, "Invalid sort order")
	if err != nil {
		return err
	}
	schema, err := b.currentSchema()
	if err != nil {
		return err
	}
	id := min(1, len(fields))
	for _, l := range b.orders {
		if existing, err := readTransformFields(l.raw, ""); err == nil && sameOrderFields(existing, fields) {
			b.lastOrder = &l.id
			return nil
		}
		if len(fields) > 0 {
			id = max(id, l.id+1)
		}
	}
	if err := checkOrder(fields, schema); err != nil {
		return err
	}
	members, _ := membersOf(raw)
	b.orders = append(b.orders, listed{id: id, raw: joinMembers(withMember(members, "order-id", integerOf(id)))})
	b.lastOrder = &id
	b.changes.AddedSortOrders++
	b.dirty["sort-orders"] = true
	return nil
}

func (b *builder) setDefaultOrder(id int) error {
	if id == lastAdded {
		if b.lastOrder == nil {
			return fault.New(fault.Invalid, "Cannot set last added sort order: no sort order has been added")
		}
		id = *b.lastOrder
	}
	if b.hasOrder && id == b.v.defaultOrder {
		return nil
	}
	if _, ok := findListed(b.orders, id); !ok {
		return fault.New(fault.Invalid, "Cannot set default sort order to unknown sort order: %d", id)
	}
	b.v.defaultOrder, b.hasOrder = id, true
	b.dirty["default-sort-order-id"] = true
	b.changes.DefaultSortOrderChanged = b.base != nil
	return nil
}

func (b *builder) removeSpecs(ids []int) error {
	if slices.Contains(ids, b.v.defaultSpec) {
		return fault.New(fault.Invalid, "Cannot remove the default partition spec")
	}
	var removed []int
	b.specs, removed = without(b.specs, ids)
	b.changes.RemovedSpecs = append(b.changes.RemovedSpecs, removed...)
	if len(removed) > 0 {
		b.dirty["partition-specs"] = true
	}
	return nil
}

func (b *builder) removeSchemas(ids []int) error {
	if slices.Contains(ids, b.v.currentSchema) {
		return fault.New(fault.Invalid, "Cannot remove the current schema")
	}
	var removed []int
	b.schemas, removed = without(b.schemas, ids)
	b.changes.RemovedSchemas = append(b.changes.RemovedSchemas, removed...)
	if len(removed) > 0 {
		b.dirty["schemas"] = true
		b.schemaIDs = nil
	}
	return nil
}

// without gives the list without the elements of those ids, and the ids that were there.
func without(list []listed, ids []int) (kept []listed, removed []int) {
	for _, l := range list {
		if slices.Contains(ids, l.id) {
			removed = append(removed, l.id)
		} else {
			kept = append(kept, l)
		}
	}
	return kept, removed
}
