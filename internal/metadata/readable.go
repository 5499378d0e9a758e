package metadata

import (
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// CheckReadable refuses a document with schemas, partition specs, sort orders or records that engines cannot read. Parsing
// leaves that open, so that a table with an odd old one still loads; what enters the catalog must have none. The error is Invalid.
func (d *Document) CheckReadable() error {
	if uuid := d.UUID(); uuid != "" && !isUUID(uuid) {
		return fault.New(fault.Invalid, "Invalid table-uuid %q: it is no UUID", uuid)
	}
	schemas := d.view.schemas.elements()
	if err := checkUnique(schemas); err != nil {
		return err
	}
	// Version 1 repeats the current ones in the form of its beginnings, which engines read besides.
	if old := d.sectionValue("schema"); old != nil && d.FormatVersion() == 1 {
		schemas = append(schemas, listed{id: d.view.currentSchema, raw: old})
	}
	if err := checkReadable(schemas); err != nil {
		return err
	}
	if old := d.sectionValue("partition-spec"); old != nil && d.FormatVersion() == 1 {
		if _, err := readTransformFields(joinMembers([]member{{"fields", old}}), "Invalid partition spec"); err != nil {
			return err
		}
	}
	if err := checkTransforms(d.view.specs.elements(), "spec-id", "Invalid partition spec"); err != nil {
		return err
	}
	if err := checkTransforms(d.view.orders.elements(), "order-id", "Invalid sort order"); err != nil {
		return err
	}
	return d.checkRecords()
}

// checkRecords checks the sections that are lists of flat objects. A name that ends in a quote is of a string, others are of
// whole numbers.
func (d *Document) checkRecords() error {
	for _, section := range []struct {
		name     string
		required []string
	}{
		{"metadata-log", []string{"timestamp-ms", `metadata-file"`}},
		{"snapshot-log", []string{"timestamp-ms", "snapshot-id"}},
		{"statistics", []string{"snapshot-id", `statistics-path"`, "file-size-in-bytes", "file-footer-size-in-bytes"}},
		{"partition-statistics", []string{"snapshot-id", `statistics-path"`, "file-size-in-bytes"}},
		{"encryption-keys", []string{`key-id"`, `encrypted-key-metadata"`}},
	} {
		value := d.sectionValue(section.name)
		bad := ""
		ok := value == nil || eachElement(value, func(record []byte, _ int) {
			for _, field := range section.required {
				name, isText := strings.CutSuffix(field, `"`)
				member := memberOf(record, name)
				if _, isNumber := int64Of(member); isText && !isString(member) || !isText && !isNumber {
					bad = name
				}
			}
		})
		switch {
		case !ok:
			return fault.New(fault.Invalid, "Invalid %s: it is not a list", section.name)
		case bad != "":
			return fault.New(fault.Invalid, "Invalid %s: an element has no valid %s", section.name, bad)
		}
	}
	return nil
}

// checkTransforms checks specs or orders, each with an id of its own under key. Its errors start with what.
func checkTransforms(list []listed, key, what string) error {
	known := map[int]bool{}
	for _, l := range list {
		if memberOf(l.raw, key) == nil || known[l.id] {
			return fault.New(fault.Invalid, "%s: one has no %s of its own", what, key)
		}
		known[l.id] = true
		fields, err := readTransformFields(l.raw, what)
		if err != nil {
			return err
		}
		if key == "order-id" && (l.id == 0) != (len(fields) == 0) {
			return fault.New(fault.Invalid, "%s %d: 0 is the order without fields, and no other is", what, l.id)
		}
		names := map[string]bool{}
		for _, f := range fields {
			if f.name != "" && names[f.name] { // the fields of orders have none
				return fault.New(fault.Invalid, "%s: two fields have the name %s", what, f.name)
			}
			names[f.name] = true
		}
	}
	return nil
}

// CheckReadable does for a view's schemas and versions what it does for a table's.
func (d *ViewDocument) CheckReadable() error {
	if !isUUID(d.uuid) {
		return fault.New(fault.Invalid, "Invalid view-uuid %q: it is no UUID", d.uuid)
	}
	for _, v := range d.versions {
		if _, err := newViewVersion(v.Raw); err != nil {
			return err
		}
	}
	return checkReadable(d.schemas)
}

// checkUnique wants every schema to have an id of its own. An absent one is 0.
func checkUnique(schemas []listed) error {
	known := map[int]bool{}
	for _, s := range schemas {
		if known[s.id] {
			return fault.New(fault.Invalid, "Invalid schema: several have the id %d", s.id)
		}
		known[s.id] = true
	}
	return nil
}

func checkReadable(schemas []listed) error {
	for _, s := range schemas {
		if typ, ok := stringOf(memberOf(s.raw, "type")); !ok || typ != structType {
			return fault.New(fault.Invalid, "Invalid schema: the type of schema %d is not struct", s.id)
		}
		schema, err := parseSchema(s.raw)
		if err != nil {
			return err
		}
		if err := checkFields(schema, checkReadableField); err != nil {
			return err
		}
	}
	return nil
}

func checkReadableField(f *Field) error {
	if _, known := typeSince(f.Type); !known {
		return unknownType(f)
	}
	return checkMembers(f)
}
