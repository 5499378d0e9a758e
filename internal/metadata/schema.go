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

// FieldByName finds a field by its full dotted name.
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

// walkFields calls fn with every field, parents before children.
func walkFields(fields []Field, fn func(*Field)) {
	for i := range fields {
		fn(&fields[i])
		walkFields(fields[i].Children, fn)
	}
}

// parseSchema reads a schema leniently: only its structure must hold. The error is Invalid.
func parseSchema(raw json.RawMessage) (Schema, error) {
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
	s.Fields, err = parseFields(memberOf(raw, "fields"), "")
	return s, err
}

func orDefault(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func parseFields(array json.RawMessage, parent string) ([]Field, error) {
	elements, ok := elementsOf(array)
	if !ok {
		return nil, fault.New(fault.Invalid, "Invalid schema: fields of %s is not an array", orDefault(parent, "the schema"))
	}
	fields := make([]Field, 0, len(elements))
	for _, raw := range elements {
		f, err := parseField(raw, parent)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

func parseField(raw json.RawMessage, parent string) (Field, error) {
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
	f.Path = joinPath(parent, f.Name)
	if !hasID || !hasName {
		return f, fault.New(fault.Invalid, "Invalid schema: a field of %s has no valid id or name", orDefault(parent, "the schema"))
	}
	return f, f.parseType(typ)
}

func joinPath(parent, name string) string {
	if parent == "" {
		return name
	}
	return strings.Join([]string{parent, name}, ".")
}

// parseType fills Type and Children.
func (f *Field) parseType(raw json.RawMessage) error {
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
		f.Children, err = parseFields(memberOf(raw, "fields"), f.Path)
	case listType:
		f.Children, err = f.parseParts(raw, "element")
	case mapType:
		f.Children, err = f.parseParts(raw, "key", "value")
	default:
		err = fault.New(fault.Invalid, "Invalid schema: field %s has no valid type", f.Path)
	}
	return err
}

// parseParts reads the element of a list, or the key and value of a map.
func (f *Field) parseParts(raw json.RawMessage, parts ...string) ([]Field, error) {
	children := make([]Field, 0, len(parts))
	for _, part := range parts {
		child := Field{Name: part, Path: joinPath(f.Path, part), Raw: memberOf(raw, part), Required: part == "key"}
		var ok bool
		if child.ID, ok = intOf(memberOf(raw, part+"-id")); !ok {
			return nil, fault.New(fault.Invalid, "Invalid schema: field %s has no valid %s-id", f.Path, part)
		}
		if part != "key" {
			child.Required, _ = boolOf(memberOf(raw, part+"-required"))
		}
		if err := child.parseType(child.Raw); err != nil {
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
