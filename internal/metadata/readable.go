package metadata

import (
	"github.com/sluice-data/sluice/internal/fault"
)

// CheckReadable refuses a document with schemas, partition specs or sort orders that engines cannot read. Parsing leaves
// that open, so that a table with an odd old one still loads; what enters the catalog must have none. The error is Invalid.
func (d *Document) CheckReadable() error {
	if err := checkReadable(d.view.schemas.elements()); err != nil {
		return err
	}
	for _, spec := range d.view.specs.elements() {
		if _, err := readTransformFields(spec.raw, "Invalid partition spec"); err != nil {
			return err
		}
	}
	for _, order := range d.view.orders.elements() {
		if _, err := readTransformFields(order.raw, "Invalid sort order"); err != nil {
			return err
		}
	}
	return nil
}

// CheckReadable does for a view's schemas and versions what it does for a table's.
func (d *ViewDocument) CheckReadable() error {
	for _, v := range d.versions {
		if _, err := newViewVersion(v.Raw); err != nil {
			return err
		}
	}
	return checkReadable(d.schemas)
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
		walkFields(schema.Fields, func(f *Field) {
			if err == nil {
				err = checkMembers(f)
			}
			if _, known := typeSince(f.Type); err == nil && !known {
				err = unknownType(f)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
