package metadata

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// transformField is one field of a partition spec or of a sort order.
type transformField struct {
	sources   []int // one, or several for the multi-argument transforms of v3
	transform string
	name      string // partition fields only
	id        int    // partition fields only; 0 when it was not given
	direction string // sort fields only
	nullOrder string // sort fields only
	raw       json.RawMessage
}

// key is equal for partition fields that engines give one id: the same sources and transform.
func (f *transformField) key() string {
	key := []byte(f.transform)
	for _, source := range f.sources {
		key = strconv.AppendInt(append(key, '/'), int64(source), 10)
	}
	return string(key)
}

// readTransformFields reads the fields of a spec or order. The error is Invalid and starts with what.
func readTransformFields(raw json.RawMessage, what string) ([]transformField, error) {
	elements, ok := elementsOf(memberOf(raw, "fields"))
	if !ok {
		return nil, fault.New(fault.Invalid, "%s: missing or invalid field fields", what)
	}
	fields := make([]transformField, 0, len(elements))
	for _, element := range elements {
		f, bad := readTransformField(element)
		if bad != "" {
			return nil, fault.New(fault.Invalid, "%s: a field has a missing or invalid %s", what, bad)
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// readTransformField gives the name of the member that is wrong, if one is.
func readTransformField(raw json.RawMessage) (f transformField, bad string) {
	f.raw = raw
	ok := eachMember(raw, func(key, value []byte) {
		if !isNull(value) && !f.readMember(string(key), value) {
			bad = string(key)
		}
	})
	switch {
	case !ok:
		bad = "object"
	case bad != "":
	case len(f.sources) == 0:
		bad = "source-id"
	case f.transform == "":
		bad = "transform"
	}
	return f, bad
}

// readMember reads one member and tells whether it is well-typed. source-ids wins over source-id.
func (f *transformField) readMember(name string, value []byte) (valid bool) {
	valid = true
	switch name {
	case "source-id":
		var id int
		if id, valid = intOf(value); f.sources == nil {
			f.sources = []int{id}
		}
	case "source-ids":
		f.sources, valid = intsOf(value)
	case "transform":
		f.transform, valid = stringOf(value)
		f.transform = strings.ToLower(f.transform)
	case "name":
		f.name, valid = stringOf(value)
	case "field-id":
		f.id, valid = intOf(value)
		valid = valid && f.id > 0
	case "direction":
		f.direction, valid = stringOf(value)
		f.direction = strings.ToLower(f.direction)
	case "null-order":
		f.nullOrder, valid = stringOf(value)
		f.nullOrder = strings.ToLower(f.nullOrder)
	}
	return valid
}

// transformName splits "bucket[16]" into its name and argument; width is 0 without one, -1 if it is no number.
func transformName(transform string) (name string, width int) {
	name, rest, ok := strings.Cut(transform, "[")
	if !ok {
		return transform, 0
	}
	digits, ok := strings.CutSuffix(rest, "]")
	width, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return name, -1
	}
	return name, width
}

// canTransform tells whether engines know the transform and can apply it to the type.
func canTransform(transform, typ string) bool {
	name, width := transformName(transform)
	if hasWidth := name == "bucket" || name == "truncate"; hasWidth != (width > 0) || width < 0 {
		return false
	}
	base, _, _ := strings.Cut(strings.ReplaceAll(typ, "[", "("), "(")
	timestamp := strings.HasPrefix(base, "timestamp")
	switch name {
	case "void":
		return true
	case "identity":
		return !slices.Contains([]string{structType, listType, mapType, "variant", "geometry", "geography"}, base)
	case "year", "month", "day":
		return timestamp || base == "date"
	case "hour":
		return timestamp
	case "bucket":
		return timestamp || slices.Contains([]string{"int", "long", "decimal", "date", "time", "string", "uuid", "fixed", "binary"}, base)
	case "truncate":
		return slices.Contains([]string{"int", "long", "decimal", "string", "binary"}, base)
	}
	return false
}

// isTransform tells whether engines know the transform.
func isTransform(transform string) bool {
	name, _ := transformName(transform)
	switch name {
	case "void", "identity", "year", "month", "day", "hour", "bucket", "truncate":
		return true
	}
	return false
}

// checkSources tells whether every field's source exists in the schema, is reached by structs only,
// and suits the transform. Void fields may point to a column that is gone. Unknown transforms, which a
// newer engine may have written, pass unless they are new. The error is Invalid.
func checkSources(what string, fields []transformField, index *fieldIndex, isNew bool) error {
	for _, f := range fields {
		if f.transform == "void" {
			continue
		}
		for _, source := range f.sources {
			node := index.byID[source]
			if node == nil {
				return fault.New(fault.Invalid, "Cannot find source column for %s: field id %d (transform %s)", what, source, f.transform)
			}
			column := node.field
			known := isNew || isTransform(f.transform)
			if len(f.sources) == 1 && known && !canTransform(f.transform, column.Type) {
				return fault.New(fault.Invalid, "Invalid source type %s of column %s for transform %s in %s",
					column.Type, column.Path, f.transform, what)
			}
			for n := node.parent; n != nil; n = n.parent {
				if n.field.Type != structType {
					return fault.New(fault.Invalid, "Invalid parent of source column %s in %s: %s", column.Path, what, n.field.Type)
				}
			}
		}
	}
	return nil
}

// highestPartitionID is the highest partition field id of all specs, at least 999.
func highestPartitionID(specs idList) int {
	highest := initialPartitionID
	for _, spec := range specs.elements() {
		fields, _ := readTransformFields(spec.raw, "")
		for _, f := range fields {
			highest = max(highest, f.id)
		}
	}
	return highest
}

// checkSpec checks a new spec whose field ids are assigned. The error is Invalid.
func checkSpec(fields []transformField, index *fieldIndex, formatVersion int) error {
	const what = "Invalid partition spec"
	ids := make(map[int]bool)
	names := make(map[string]bool)
	for i, f := range fields {
		switch {
		case f.name == "":
			return fault.New(fault.Invalid, "%s: cannot use an empty partition name", what)
		case names[f.name]:
			return fault.New(fault.Invalid, "%s: cannot use partition name more than once: %s", what, f.name)
		case ids[f.id]:
			return fault.New(fault.Invalid, "%s: cannot use partition field id more than once: %d", what, f.id)
		case formatVersion == 1 && f.id != initialPartitionID+1+i:
			return fault.New(fault.Invalid, "%s: it does not use sequential ids that are required in v1: %d", what, f.id)
		case len(f.sources) > 1 && formatVersion < 3:
			return fault.New(fault.Invalid, "%s: several source-ids are not supported until v3", what)
		}
		ids[f.id], names[f.name] = true, true
		if column, ok := index.byPath[f.name]; ok && column.ID != f.sources[0] {
			return fault.New(fault.Invalid, "%s: cannot create partition from name that exists in schema: %s", what, f.name)
		}
	}
	return checkSources("partition spec", fields, index, true)
}

// checkOrder checks a new sort order. The error is Invalid.
func checkOrder(fields []transformField, index *fieldIndex) error {
	for _, f := range fields {
		if f.direction != "asc" && f.direction != "desc" {
			return fault.New(fault.Invalid, "Invalid sort order: missing or invalid direction")
		}
		if f.nullOrder != "nulls-first" && f.nullOrder != "nulls-last" {
			return fault.New(fault.Invalid, "Invalid sort order: missing or invalid null-order")
		}
	}
	return checkSources("sort order", fields, index, true)
}
