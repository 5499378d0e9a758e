package metadata

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
)

// addSchema adds a schema or finds an equal one again. The id in raw is only a wish.
func (b *builder) addSchema(raw json.RawMessage) error {
	if kind := memberOf(raw, "type"); kind != nil && string(kind) != `"struct"` {
		return fault.New(fault.Invalid, "Invalid schema: type is not struct")
	}
	p := schemaParser{budget: schemaBudget}
	schema, err := p.schema(raw)
	if err != nil {
		return err
	}
	if err := b.spendSchema(p.spent); err != nil {
		return err
	}
	b.indexSchemas()
	key := schemaKey(schema)
	if known, ok := b.schemaIndex.find(key); ok {
		b.lastSchema = &known
		return nil
	}
	id := nextID(b.schemas, b.v.currentSchema)
	if err := checkSchema(schema, b.v.formatVersion); err != nil {
		return err
	}
	if err := b.advanceColumns(schema); err != nil {
		return err
	}
	members, _ := membersOf(raw)
	if given, ok := intOf(memberOf(raw, "schema-id")); !ok || given != id || memberOf(raw, "type") == nil {
		members = withMember(members, "type", quoted(structType))
		raw = joinMembers(withMember(members, "schema-id", integerOf(id)))
	}
	b.schemas = append(b.schemas, listed{id: id, raw: raw})
	b.lastSchema = &id
	b.schemaIndex.add(key, id)
	b.changes.AddedSchemas++
	b.dirty["schemas"] = true
	return nil
}

// advanceColumns raises the last column id. A new table may start anywhere; another counts on, or one wish for a high
// id would leave no ids for the columns to come.
func (b *builder) advanceColumns(schema Schema) error {
	highest := schema.highestFieldID()
	if highest <= b.v.lastColumn {
		return nil
	}
	if free := b.v.lastColumn + maxFields + idGap; b.base != nil && highest > free {
		return fault.New(fault.Invalid, "Invalid schema: field id %d is too far beyond the last column id %d. Assign the next free ids.",
			highest, b.v.lastColumn)
	}
	b.v.lastColumn = highest
	b.dirty["last-column-id"] = true
	return nil
}

// indexSchemas prepares the search for an equal schema.
func (b *builder) indexSchemas() {
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
	b.v.currentSchema, b.hasSchema, b.current = id, true, nil
	b.dirty["current-schema-id"] = true
	return nil
}

// noteColumns records the column changes of choosing another current schema.
func (b *builder) noteColumns(next listed) error {
	before, err := b.currentSchema()
	if err != nil {
		return err
	}
	if err := b.spendSchema(len(before.Raw) + len(next.raw)); err != nil {
		return err
	}
	after, err := parseSchema(next.raw)
	if err != nil {
		return err
	}
	b.changes.ColumnChanges = append(b.changes.ColumnChanges, DiffSchemas(before.Schema, after)...)
	b.changes.CurrentSchemaChanged = true
	return nil
}

// currentSchema decodes the current schema, once for all updates. Invalid when none is chosen yet.
func (b *builder) currentSchema() (*indexedSchema, error) {
	if b.current != nil {
		return b.current, nil
	}
	current, ok := findListed(b.schemas, b.v.currentSchema)
	if !ok || !b.hasSchema {
		return nil, fault.New(fault.Invalid, "The table has no current schema")
	}
	schema, err := parseSchema(current.raw)
	if err != nil {
		return nil, err
	}
	b.current = indexed(schema)
	return b.current, nil
}

// layoutSchema is what a new spec or sort order is checked against: the current schema, and in a new table whose
// current schema is chosen at the end, as DuckDB does, the one added last. The end checks both against the current one.
func (b *builder) layoutSchema() (*indexedSchema, error) {
	if b.hasSchema || b.lastSchema == nil {
		return b.currentSchema()
	}
	last, _ := findListed(b.schemas, *b.lastSchema)
	schema, err := parseSchema(last.raw)
	if err != nil {
		return nil, err
	}
	return indexed(schema), nil
}

// addSpec adds a partition spec or finds an equal one again, and gives fields without an id one.
func (b *builder) addSpec(raw json.RawMessage) error {
	fields, err := readTransformFields(raw, "Invalid partition spec")
	if err != nil {
		return err
	}
	schema, err := b.layoutSchema()
	if err != nil {
		return err
	}
	b.indexSpecs()
	key := specKey(fields)
	if known, ok := b.specIndex.find(key); ok {
		b.lastSpec = &known
		return nil
	}
	id := nextID(b.specs, 0)
	b.assignPartitionIDs(fields)
	if err := checkSpec(fields, schema.index, b.v.formatVersion); err != nil {
		return err
	}
	if err := b.checkPartitionIDs(fields); err != nil {
		return err
	}
	b.specs = append(b.specs, listed{id: id, raw: encodeSpec(raw, fields, id)})
	b.lastSpec = &id
	b.specIndex.add(key, id)
	b.partitions.add(id, fields)
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

// nextID gives the id after those of the list, at least least.
func nextID(list []listed, least int) int {
	for _, l := range list {
		least = max(least, l.id+1)
	}
	return least
}

// indexSpecs prepares the search for an equal spec and for what field ids are used for.
func (b *builder) indexSpecs() {
	if b.specIndex != nil {
		return
	}
	b.specIndex, b.partitions = newLayoutIndex(len(b.specs)), newPartitionUses()
	for _, l := range b.specs {
		if fields, err := readTransformFields(l.raw, ""); err == nil {
			b.specIndex.add(specKey(fields), l.id)
			b.partitions.add(l.id, fields)
		}
	}
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
	for i := range fields {
		f := &fields[i]
		if f.id != 0 {
			continue
		}
		if b.v.formatVersion == 1 {
			f.id = initialPartitionID + 1 + i
		} else if id := b.partitions.idOf(f.key()); id != 0 && !taken[id] {
			f.id = id
		} else {
			next++
			f.id = next
		}
		taken[f.id] = true
	}
}

// checkPartitionIDs refuses an id that means something else in another spec: engines then cannot read
// the table's partitions as one type. v1 tables re-use ids by position. An id far beyond the others would leave none
// for the fields to come.
func (b *builder) checkPartitionIDs(fields []transformField) error {
	free := b.v.lastPartition + len(fields) + idGap
	for _, f := range fields {
		if f.id > free && b.base != nil || f.id > math.MaxInt32 {
			return fault.New(fault.Invalid, "Invalid partition spec: field id %d is too far beyond the last partition field id %d",
				f.id, b.v.lastPartition)
		}
		if b.v.formatVersion == 1 {
			continue
		}
		if spec, used := b.partitions.conflict(f); used {
			return fault.New(fault.Invalid, "Invalid partition spec: field id %d is used by another field of spec %d", f.id, spec)
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
	schema, err := b.layoutSchema()
	if err != nil {
		return err
	}
	b.indexOrders()
	key := orderKey(fields)
	if known, ok := b.orderIndex.find(key); ok {
		b.lastOrder = &known
		return nil
	}
	if err := checkOrder(fields, schema.index); err != nil {
		return err
	}
	id := 0
	if len(fields) > 0 {
		id = nextID(b.orders, 1)
	}
	members, _ := membersOf(raw)
	b.orders = append(b.orders, listed{id: id, raw: joinMembers(withMember(members, "order-id", integerOf(id)))})
	b.lastOrder = &id
	b.orderIndex.add(key, id)
	b.changes.AddedSortOrders++
	b.dirty["sort-orders"] = true
	return nil
}

// indexOrders prepares the search for an equal sort order.
func (b *builder) indexOrders() {
	if b.orderIndex != nil {
		return
	}
	b.orderIndex = newLayoutIndex(len(b.orders))
	for _, l := range b.orders {
		if fields, err := readTransformFields(l.raw, ""); err == nil {
			b.orderIndex.add(orderKey(fields), l.id)
		}
	}
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
	for _, id := range removed {
		b.dirty["partition-specs"] = true
		if b.specIndex != nil {
			b.specIndex.remove(id)
			b.partitions.remove(id)
		}
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
	for _, id := range removed {
		b.dirty["schemas"] = true
		if b.schemaIndex != nil {
			b.schemaIndex.remove(id)
		}
	}
	return nil
}

// without takes the elements of those ids out of the list, and gives the ids that were there.
func without(list []listed, ids []int) (kept []listed, removed []int) {
	gone := idSet(ids)
	kept = slices.DeleteFunc(list, func(l listed) bool {
		if gone[l.id] {
			removed = append(removed, l.id)
		}
		return gone[l.id]
	})
	return kept, removed
}
