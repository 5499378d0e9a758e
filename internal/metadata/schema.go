package metadata

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// The nested types; every other type is a primitive named by its text.
const (
	structType = "struct"
	listType   = "list"
	mapType    = "map"
)

// Schema is the typed view of one schema.
type Schema struct {
	ID                 int
	IdentifierFieldIDs []int
	Fields             []Field
	Raw                json.RawMessage // as it was written; must not be modified
}

// Field is a column or a nested field. The element of a list is a child named "element", the
// children of a map are "key" and "value"; their Raw is the JSON of their type.
type Field struct {
	ID       int
	Name     string
	Required bool
	Type     string // primitive name without spaces, or struct, list, map
	Doc      string
	Path     string // full name, parts joined by dots
	Raw      json.RawMessage
	Children []Field
}

// FieldByName finds a field by its full dotted name. It looks at all of them: see fieldIndex for more than one name.
func (s Schema) FieldByName(path string) (Field, bool) {
	var found Field
	ok := false
	walkFields(s.Fields, func(f *Field) {
		if f.Path == path && !ok {
			found, ok = *f, true
		}
	})
	return found, ok
}

// Walk calls fn with every field, nested ones too, parents before children.
func (s Schema) Walk(fn func(Field)) {
	walkFields(s.Fields, func(f *Field) { fn(*f) })
}

// walkFields calls fn with every field, parents before children.
func walkFields(fields []Field, fn func(*Field)) {
	for i := range fields {
		fn(&fields[i])
		walkFields(fields[i].Children, fn)
	}
}

// parseSchema reads a schema leniently: only its structure must hold. The error is Invalid; what would take more time
// and memory than its bytes warrant is refused.
func parseSchema(raw json.RawMessage) (Schema, error) {
	p := schemaParser{budget: schemaBudget}
	return p.schema(raw)
}

// schemaParser reads one schema. budget is the bytes that it may yet look at: each counts for every level it nests.
type schemaParser struct {
	budget, spent, depth int
}

func (p *schemaParser) schema(raw json.RawMessage) (Schema, error) {
	s := Schema{Raw: raw}
	bad := ""
	hasFields := false
	ok := eachMember(raw, func(key, value []byte) {
		valid := true
		switch string(key) {
		case "schema-id":
			if !isNull(value) {
				s.ID, valid = intOf(value)
			}
		case "identifier-field-ids":
			if !isNull(value) {
				s.IdentifierFieldIDs, valid = intsOf(value)
			}
		case "fields":
			hasFields = true
		}
		if !valid {
			bad = string(key)
		}
	})
	if !ok {
		return s, fault.New(fault.Invalid, "Invalid schema: not an object")
	}
	if bad != "" || !hasFields {
		return s, fault.New(fault.Invalid, "Invalid schema: missing or invalid field %s", orDefault(bad, "fields"))
	}
	var err error
	s.Fields, err = p.fields(memberOf(raw, "fields"), "")
	return s, err
}

func orDefault(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func (p *schemaParser) fields(array json.RawMessage, parent string) ([]Field, error) {
	elements, ok := elementsOf(array)
	if !ok {
		return nil, fault.New(fault.Invalid, "Invalid schema: fields of %s is not an array", orDefault(parent, "the schema"))
	}
	fields := make([]Field, 0, len(elements))
	for _, raw := range elements {
		f, err := p.field(raw, parent)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

func (p *schemaParser) field(raw json.RawMessage, parent string) (Field, error) {
	f := Field{Raw: raw}
	var typ json.RawMessage
	var hasID, hasName bool
	eachMember(raw, func(key, value []byte) {
		switch string(key) {
		case "id":
			f.ID, hasID = intOf(value)
		case "name":
			f.Name, hasName = stringOf(value)
		case "required":
			f.Required, _ = boolOf(value)
		case "doc":
			f.Doc, _ = stringOf(value)
		case "type":
			typ = value
		}
	})
	if err := p.name(&f, parent); err != nil {
		return f, err
	}
	if !hasID || !hasName {
		return f, fault.New(fault.Invalid, "Invalid schema: a field of %s has no valid id or name", orDefault(parent, "the schema"))
	}
	return f, p.typ(&f, typ)
}

// name gives a field its full name and counts what it takes to read it.
func (p *schemaParser) name(f *Field, parent string) error {
	if p.spent += len(f.Raw); p.spent > p.budget {
		return fault.New(fault.Invalid, "Invalid schema: it is too large, or nests too much of itself")
	}
	if len(parent)+len(f.Name) >= maxPathBytes {
		return fault.New(fault.Invalid, "Invalid schema: the full name of a field is longer than %d bytes", maxPathBytes)
	}
	f.Path = joinPath(parent, f.Name)
	return nil
}

func joinPath(parent, name string) string {
	if parent == "" {
		return name
	}
	return strings.Join([]string{parent, name}, ".")
}

// typ fills Type and Children.
func (p *schemaParser) typ(f *Field, raw json.RawMessage) error {
	if p.depth++; p.depth > maxNesting {
		return fault.New(fault.Invalid, "Invalid schema: types nest deeper than %d levels", maxNesting)
	}
	defer func() { p.depth-- }()
	if name, ok := stringOf(raw); ok {
		f.Type = normalType(name)
		return nil
	}
	if !isObject(raw) {
		return fault.New(fault.Invalid, "Invalid schema: field %s has no valid type", f.Path)
	}
	f.Type, _ = stringOf(memberOf(raw, "type"))
	var err error
	switch f.Type {
	case structType:
		f.Children, err = p.fields(memberOf(raw, "fields"), f.Path)
	case listType:
		f.Children, err = p.parts(f, raw, "element")
	case mapType:
		f.Children, err = p.parts(f, raw, "key", "value")
	default:
		err = fault.New(fault.Invalid, "Invalid schema: field %s has no valid type", f.Path)
	}
	return err
}

// parts reads the element of a list, or the key and value of a map.
func (p *schemaParser) parts(f *Field, raw json.RawMessage, parts ...string) ([]Field, error) {
	children := make([]Field, 0, len(parts))
	for _, part := range parts {
		child := Field{Name: part, Raw: memberOf(raw, part), Required: part == "key"}
		if err := p.name(&child, f.Path); err != nil {
			return nil, err
		}
		var ok bool
		if child.ID, ok = intOf(memberOf(raw, part+"-id")); !ok {
			return nil, fault.New(fault.Invalid, "Invalid schema: field %s has no valid %s-id", f.Path, part)
		}
		if part != "key" {
			child.Required, _ = boolOf(memberOf(raw, part+"-required"))
		}
		if err := p.typ(&child, child.Raw); err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	return children, nil
}

// isNested tells whether the type has children.
func (f *Field) isNested() bool {
	return f.Type == structType || f.Type == listType || f.Type == mapType
}

// highestFieldID is the highest id of all fields; 0 without fields.
func (s Schema) highestFieldID() int {
	highest := 0
	walkFields(s.Fields, func(f *Field) { highest = max(highest, f.ID) })
	return highest
}

// schemaKey is equal for schemas of equal structure: fields with all their members in order, and the
// set of identifier fields. Schema ids do not count.
func schemaKey(s Schema) string {
	ids := slices.Clone(s.IdentifierFieldIDs)
	slices.Sort(ids)
	key := []byte{}
	for _, id := range slices.Compact(ids) {
		key = append(strconv.AppendInt(key, int64(id), 10), ',')
	}
	return string(appendCanonical(key, memberOf(s.Raw, "fields")))
}
