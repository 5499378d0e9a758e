package metadata

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// maxFieldID is the highest field id a table may use: Iceberg reserves those above for metadata columns.
const maxFieldID = math.MaxInt32 - 200

// checkSchema tells whether a schema may enter a table of the format version. The error is Invalid.
// Engines refuse to open tables that break these rules.
func checkSchema(s Schema, formatVersion int) error {
	if err := checkFields(s, func(f *Field) error { return checkField(f, formatVersion) }); err != nil {
		return err
	}
	return checkIdentifiers(s, newFieldIndex(s.Fields))
}

// checkFields wants ids and names that tell fields apart, and of every field what check wants.
func checkFields(s Schema, check func(*Field) error) error {
	ids := make(map[int]bool)
	paths := make(map[string]bool)
	var err error
	walkFields(s.Fields, func(f *Field) {
		if err != nil {
			return
		}
		switch {
		case len(ids) == maxFields:
			err = fault.New(fault.TooLarge, "Invalid schema: it has more than %d fields", maxFields)
		case f.Name == "":
			err = fault.New(fault.Invalid, "Invalid schema: field %d has an empty name", f.ID)
		case f.ID < 0 || f.ID > maxFieldID:
			err = fault.New(fault.Invalid, "Invalid schema: field %s has reserved id %d", f.Path, f.ID)
		case ids[f.ID]:
			err = fault.New(fault.Invalid, "Invalid schema: multiple fields for id %d: %s", f.ID, f.Path)
		case paths[f.Path]:
			err = fault.New(fault.Invalid, "Invalid schema: multiple fields for name %s", f.Path)
		default:
			err = check(f)
		}
		ids[f.ID], paths[f.Path] = true, true
	})
	return err
}

// checkField checks a field's own members; its children are visited by themselves.
func checkField(f *Field, formatVersion int) error {
	since, known := typeSince(f.Type)
	if !known {
		return unknownType(f)
	}
	if since > formatVersion {
		return fault.New(fault.Invalid, "Invalid schema for v%d: field %s: %s is not supported until v%d",
			formatVersion, f.Path, f.Type, since)
	}
	if f.Type == "unknown" && f.Required {
		return fault.New(fault.Invalid, "Invalid schema: field %s: unknown columns must be optional", f.Path)
	}
	if err := checkMembers(f); err != nil {
		return err
	}
	return checkDefaults(f, formatVersion)
}

func unknownType(f *Field) error {
	return fault.New(fault.Invalid, "Invalid schema: field %s has unknown type %q", f.Path, f.Type)
}

// checkMembers wants "required" where engines do not assume a value, and a "doc" that they can read.
func checkMembers(f *Field) error {
	if isFieldObject(f) {
		if doc := memberOf(f.Raw, "doc"); doc != nil && !isString(doc) {
			return fault.New(fault.Invalid, "Invalid schema: the doc of field %s is not a string", f.Path)
		}
		if _, ok := boolOf(memberOf(f.Raw, "required")); !ok {
			return fault.New(fault.Invalid, "Invalid schema: field %s has no valid required", f.Path)
		}
	}
	part := ""
	switch f.Type {
	case listType:
		part = "element-required"
	case mapType:
		part = "value-required"
	default:
		return nil
	}
	if _, ok := boolOf(memberOf(typeOf(f), part)); !ok {
		return fault.New(fault.Invalid, "Invalid schema: field %s has no valid %s", f.Path, part)
	}
	return nil
}

// isFieldObject is false for the parts of lists and maps, whose Raw is a type.
func isFieldObject(f *Field) bool {
	return isObject(f.Raw) && memberOf(f.Raw, "id") != nil && memberOf(f.Raw, "name") != nil
}

// typeOf gives the JSON of the field's type.
func typeOf(f *Field) json.RawMessage {
	if isFieldObject(f) {
		return memberOf(f.Raw, "type")
	}
	return f.Raw
}

func checkDefaults(f *Field, formatVersion int) error {
	if !isFieldObject(f) {
		return nil
	}
	for _, name := range []string{"initial-default", "write-default"} {
		value := memberOf(f.Raw, name)
		if value == nil {
			continue
		}
		if name == "initial-default" && formatVersion < 3 {
			return fault.New(fault.Invalid, "Invalid schema for v%d: field %s: non-null initial-default is not supported until v3",
				formatVersion, f.Path)
		}
		if !defaultFits(f.Type, value) {
			return fault.New(fault.Invalid, "Invalid schema: field %s: %s is not a value of type %s", f.Path, name, f.Type)
		}
	}
	return nil
}

// defaultFits tells whether value has the JSON form in which a default of that type is written.
func defaultFits(typ string, value json.RawMessage) bool {
	switch base, _, _ := strings.Cut(typ, "("); base {
	case "boolean":
		_, ok := boolOf(value)
		return ok
	case "int":
		_, ok := intOf(value)
		return ok
	case "long":
		_, ok := int64Of(value)
		return ok
	case "float", "double":
		return value[0] == '-' || isDigit(value[0])
	case structType:
		members, ok := membersOf(value)
		return ok && len(members) == 0
	case listType, mapType, "variant", "unknown", "geometry", "geography":
		return false
	}
	return isString(value)
}

// typeSince gives the first format version that has the type; false for types nobody knows.
func typeSince(name string) (int, bool) {
	switch name {
	case structType, listType, mapType, "boolean", "int", "long", "float", "double", "date", "time",
		"timestamp", "timestamptz", "string", "uuid", "binary":
		return 1, true
	case "timestamp_ns", "timestamptz_ns", "variant", "unknown", "geometry", "geography":
		return 3, true
	}
	if width, ok := argument(name, "fixed[", "]"); ok {
		n, err := strconv.Atoi(width)
		return 1, err == nil && n >= 0
	}
	if args, ok := argument(name, "decimal(", ")"); ok {
		p, s, _ := strings.Cut(args, ",")
		precision, errP := strconv.Atoi(p)
		scale, errS := strconv.Atoi(s)
		return 1, errP == nil && errS == nil && precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision
	}
	for _, geo := range []string{"geometry(", "geography("} {
		if args, ok := argument(name, geo, ")"); ok {
			return 3, args != ""
		}
	}
	return 0, false
}

// argument gives what stands between prefix and suffix.
func argument(name, prefix, suffix string) (string, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, suffix)
}

// checkIdentifiers wants identifier fields to be required primitives, not floating point, reached by
// required structs only.
func checkIdentifiers(s Schema, index *fieldIndex) error {
	seen := make(map[int]bool, len(s.IdentifierFieldIDs))
	for _, id := range s.IdentifierFieldIDs {
		if seen[id] {
			return fault.New(fault.Invalid, "Invalid schema: identifier field %d is listed twice", id)
		}
		seen[id] = true
		node := index.byID[id]
		if node == nil {
			return fault.New(fault.Invalid, "Cannot add field id %d as an identifier field: field does not exist", id)
		}
		field := node.field
		reason := ""
		switch {
		case field.isNested() || field.Type == "variant":
			reason = "not a primitive type field"
		case !field.Required:
			reason = "not a required field"
		case field.Type == "float" || field.Type == "double":
			reason = "must not be float or double field"
		}
		for n := node.parent; n != nil; n = n.parent {
			if n.field.Type != structType || !n.field.Required {
				reason = "must not be nested in " + n.field.Path + ", which is optional or not a struct"
			}
		}
		if reason != "" {
			return fault.New(fault.Invalid, "Cannot add field %s as an identifier field: %s", field.Path, reason)
		}
	}
	return nil
}
