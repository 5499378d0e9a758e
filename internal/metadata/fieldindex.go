package metadata

// fieldIndex finds the fields of a schema by id and by full name. Of several, which only a document that an engine could
// not open has, the first counts.
type fieldIndex struct {
	byID   map[int]*fieldNode
	byPath map[string]*Field
}

// fieldNode is a field with the one it is nested in.
type fieldNode struct {
	field  *Field
	parent *fieldNode // nil at the top level
}

func newFieldIndex(fields []Field) *fieldIndex {
	x := &fieldIndex{byID: make(map[int]*fieldNode, len(fields)), byPath: make(map[string]*Field, len(fields))}
	x.add(fields, nil)
	return x
}

func (x *fieldIndex) add(fields []Field, parent *fieldNode) {
	for i := range fields {
		n := &fieldNode{field: &fields[i], parent: parent}
		if _, ok := x.byID[n.field.ID]; !ok {
			x.byID[n.field.ID] = n
		}
		if _, ok := x.byPath[n.field.Path]; !ok {
			x.byPath[n.field.Path] = n.field
		}
		x.add(n.field.Children, n)
	}
}

// indexedSchema is a schema with its index, made once for all updates that look into it.
type indexedSchema struct {
	Schema
	index *fieldIndex
}

func indexed(s Schema) *indexedSchema {
	return &indexedSchema{Schema: s, index: newFieldIndex(s.Fields)}
}
