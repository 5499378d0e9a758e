package tableread

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// nodeKind tells how a file keeps a column.
type nodeKind uint8

const (
	leafNode nodeKind = iota
	structNode
	listNode
	mapNode
)

// node is a column of a file, or a field of one, with the layouts of lists and maps taken away: a list has its element
// for a child, a map its key and value.
type node struct {
	kind     nodeKind
	name     string
	id       int   // -1 when the file gives none
	def      int16 // definition level from which on it is not NULL
	optional bool
	inner    int16 // of lists and maps: definition level from which on there is an element
	rep      int16 // how many lists and maps it is in; of lists and maps themselves, theirs counted
	children []*node
	column   int            // of leaves: place among the file's column chunks
	descr    *schema.Column // of leaves
}

// nodeBuilder numbers leaves in the order in which they are met, which is that of column chunks.
type nodeBuilder struct {
	schema *schema.Schema
	next   int
}

// newNodes gives the root, a struct of the file's columns.
func newNodes(s *schema.Schema) (*node, error) {
	b := &nodeBuilder{schema: s}
	root := &node{kind: structNode, id: -1}
	group := s.Root()
	for i := range group.NumFields() {
		child, err := b.build(group.Field(i), 0, 0)
		if err != nil {
			return nil, err
		}
		root.children = append(root.children, child)
	}
	if b.next != s.NumColumns() {
		return nil, fmt.Errorf("%w: columns without a place", errDecode)
	}
	return root, nil
}

// build makes the node of a schema node in a parent of these levels.
func (b *nodeBuilder) build(n schema.Node, def, rep int16) (*node, error) {
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		// A repeated field in no list stands for a list of its own that is never NULL.
		out := &node{kind: listNode, name: n.Name(), id: idOf(n), def: def, inner: def + 1, rep: rep + 1}
		element, err := b.content(n, def+1, rep+1)
		if err != nil {
			return nil, err
		}
		element.id = -1
		out.children = []*node{element}
		return out, nil
	}
	optional := n.RepetitionType() == parquet.Repetitions.Optional
	if optional {
		def++
	}
	out, err := b.content(n, def, rep)
	if err != nil {
		return nil, err
	}
	out.optional = optional
	return out, nil
}

// content makes the node of what a schema node holds, its own repetition being in the levels.
func (b *nodeBuilder) content(n schema.Node, def, rep int16) (*node, error) {
	out := &node{name: n.Name(), id: idOf(n), def: def, rep: rep}
	group, ok := n.(*schema.GroupNode)
	if !ok {
		out.column, out.descr = b.next, b.schema.Column(b.next)
		b.next++
		return out, nil
	}
	var err error
	switch {
	case isList(group):
		err = b.list(out, group)
	case isMap(group):
		err = b.mapping(out, group)
	default:
		out.kind = structNode
		for i := range group.NumFields() {
			child, err := b.build(group.Field(i), def, rep)
			if err != nil {
				return nil, err
			}
			out.children = append(out.children, child)
		}
	}
	return out, err
}

// list reads the three levels of a list, or the two of older writers.
func (b *nodeBuilder) list(out *node, group *schema.GroupNode) (err error) {
	repeated := group.Field(0)
	out.kind, out.inner, out.rep = listNode, out.def+1, out.rep+1
	var element *node
	if inner, ok := repeated.(*schema.GroupNode); ok && !isElement(inner, group.Name()) {
		element, err = b.build(inner.Field(0), out.inner, out.rep)
	} else {
		element, err = b.content(repeated, out.inner, out.rep)
	}
	out.children = []*node{element}
	return err
}

func (b *nodeBuilder) mapping(out *node, group *schema.GroupNode) error {
	entry := group.Field(0).(*schema.GroupNode)
	out.kind, out.inner, out.rep = mapNode, out.def+1, out.rep+1
	for i := range entry.NumFields() {
		child, err := b.build(entry.Field(i), out.inner, out.rep)
		if err != nil {
			return err
		}
		out.children = append(out.children, child)
	}
	return nil
}

func isList(group *schema.GroupNode) bool {
	annotated := group.ConvertedType() == schema.ConvertedTypes.List || group.LogicalType().Equals(schema.ListLogicalType{})
	return annotated && group.NumFields() == 1 && group.Field(0).RepetitionType() == parquet.Repetitions.Repeated
}

// isElement tells whether the repeated group of a list is its element, as older writers have it, by the rules of the
// Parquet format.
func isElement(repeated *schema.GroupNode, list string) bool {
	if repeated.NumFields() != 1 {
		return true
	}
	return repeated.Field(0).RepetitionType() == parquet.Repetitions.Repeated || repeated.Name() == "array" || repeated.Name() == list+"_tuple"
}

func isMap(group *schema.GroupNode) bool {
	annotated := group.ConvertedType() == schema.ConvertedTypes.Map || group.ConvertedType() == schema.ConvertedTypes.MapKeyValue ||
		group.LogicalType().Equals(schema.MapLogicalType{})
	if !annotated || group.NumFields() != 1 || group.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
		return false
	}
	entry, ok := group.Field(0).(*schema.GroupNode)
	return ok && entry.NumFields() == 2
}

func idOf(n schema.Node) int {
	if id := int(n.FieldID()); id >= 0 {
		return id
	}
	return -1
}

func (n *node) hasIDs() bool {
	if n.id >= 0 {
		return true
	}
	for _, c := range n.children {
		if c.hasIDs() {
			return true
		}
	}
	return false
}

// leaves gives the column chunks that the node is in.
func (n *node) leaves() []*node {
	if n.kind == leafNode {
		return []*node{n}
	}
	var out []*node
	for _, c := range n.children {
		out = append(out, c.leaves()...)
	}
	return out
}

// witness gives the leaf whose levels tell most cheaply where the node is NULL.
func (n *node) witness() *node {
	var best *node
	for _, leaf := range n.leaves() {
		if best == nil || leaf.rep < best.rep {
			best = leaf
		}
	}
	return best
}

// named is an entry of a name mapping: the names that a field goes by in files without ids.
type named struct {
	ID     *int     `json:"field-id"`
	Names  []string `json:"names"`
	Fields []named  `json:"fields"`
}

// withNames gives the nodes of a file without ids with those that a name mapping has for them.
func (n *node) withNames(mapping []named) *node {
	out := *n
	out.children = make([]*node, len(n.children))
	for i, c := range n.children {
		name := c.name
		switch {
		case n.kind == listNode:
			name = "element"
		case n.kind == mapNode && i == 0:
			name = "key"
		case n.kind == mapNode:
			name = "value"
		}
		var fields []named
		id := -1
		for _, m := range mapping {
			if m.has(name) {
				fields = m.Fields
				if m.ID != nil {
					id = *m.ID
				}
				break
			}
		}
		child := c.withNames(fields)
		child.id = id
		out.children[i] = child
	}
	return &out
}

func (m *named) has(name string) bool { return slices.Contains(m.Names, name) }
