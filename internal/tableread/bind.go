package tableread

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// column gives the values of a table's column in a row group, row by row. What is read is collected until it is taken.
type column interface {
	// read goes on by n rows, and collects those that are wanted.
	read(n int, wanted picks) error
	// skip passes over n rows.
	skip(n int64)
	// room says how many rows are collected next, and about how many with those that follow before the next take.
	room(next, coming int)
	take() (arrow.Array, error)
	bytes() int64
}

// binding is a column of the table, or a field of one, with the place that a file has it in.
type binding struct {
	field    metadata.Field
	kind     arrow.DataType
	node     *node // nil when the file lacks it
	witness  *node // the leaf whose levels tell where it is NULL
	children []*binding
	constant arrow.Array // of one row: what all rows have when the file lacks it
}

// binder finds the columns of a table in a file.
type binder struct {
	from       *source
	partition  map[int]any // values of partition fields, by their ids
	identities map[int]int // partition fields that have a column's own values, by the column
}

// column binds a field of the table's, or of a struct that the file has.
func (b *binder) column(f metadata.Field, parent *node, top bool) (*binding, error) {
	for _, n := range parent.children {
		if n.id == f.ID {
			return b.place(f, n)
		}
	}
	out := &binding{field: f}
	described, err := columnar.Field(f)
	if err != nil {
		return nil, err
	}
	out.kind = described.Type
	out.constant, err = b.missing(f, out.kind, top)
	return out, err
}

// place binds a field to the node that has it.
func (b *binder) place(f metadata.Field, n *node) (*binding, error) {
	described, err := columnar.Field(f)
	if err != nil {
		return nil, err
	}
	out := &binding{field: f, kind: described.Type, node: n}
	kinds := map[string]nodeKind{"struct": structNode, "list": listNode, "map": mapNode}
	if kinds[f.Type] != n.kind {
		return nil, mismatch(b.from, f)
	}
	for i, child := range f.Children {
		var c *binding
		if n.kind == structNode {
			c, err = b.column(child, n, false)
		} else {
			c, err = b.place(child, n.children[i])
		}
		if err != nil {
			return nil, err
		}
		out.children = append(out.children, c)
		if c.witness != nil && (out.witness == nil || c.witness.rep < out.witness.rep) {
			out.witness = c.witness
		}
	}
	if out.witness == nil {
		out.witness = n.witness()
	}
	if out.witness == nil {
		return nil, mismatch(b.from, f)
	}
	return out, nil
}

func mismatch(from *source, f metadata.Field) error {
	return fault.Wrap(errType, fault.Internal, "The %s %s has the column %s in a type that %s cannot be made of. Roll the table back to a snapshot without it, or leave the column out of the selection.",
		from.kind, shown(from.path), f.Path, f.Type)
}

// mismatched names the column where that is what is wrong.
func (b *binding) mismatched(g *rowGroup, err error) error {
	if errors.Is(err, errType) {
		return mismatch(g.from, b.field)
	}
	return err
}

// missing gives what all rows have of a column that the file lacks.
func (b *binder) missing(f metadata.Field, kind arrow.DataType, top bool) (arrow.Array, error) {
	if field, ok := b.identities[f.ID]; ok && top {
		if value, ok := b.partition[field]; ok {
			return partitionConstant(f, kind, value)
		}
	}
	if initial := initialOf(f); initial != nil {
		return defaultConstant(f, kind, initial)
	}
	if f.Required {
		return nil, fault.New(fault.Internal, "The %s %s lacks the column %s, which is required. Roll the table back to a snapshot without it, or leave the column out of the selection.",
			b.from.kind, shown(b.from.path), f.Path)
	}
	return nullConstant(kind), nil
}

// leaves gives the column chunks that are to be read.
func (b *binding) leaves() []*node {
	seen := make(map[*node]bool)
	var out []*node
	b.addLeaves(func(n *node) {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	})
	return out
}

func (b *binding) addLeaves(add func(*node)) {
	if b.witness != nil {
		add(b.witness)
	}
	if b.node != nil && b.node.kind == leafNode {
		add(b.node)
	}
	for _, c := range b.children {
		c.addLeaves(add)
	}
}

// leafFields gives the field of each leaf that values are taken of.
func (b *binding) leafFields(out map[*node]*binding) {
	if b.node != nil && b.node.kind == leafNode {
		out[b.node] = b
	}
	for _, c := range b.children {
		c.leafFields(out)
	}
}

// open starts to read the column in a row group.
func (b *binding) open(g *rowGroup) (column, error) {
	if b.node == nil {
		return &constantColumn{one: b.constant}, nil
	}
	if b.node.kind == leafNode {
		from, err := g.chunk(b.node)
		if err != nil {
			return nil, err
		}
		leaf, err := openLeaf(from, b)
		if err != nil {
			return nil, b.mismatched(g, err)
		}
		return leaf.flat(), nil
	}
	out := &nestedColumn{as: b, leaves: make(map[*node]levelReader)}
	fields := make(map[*node]*binding)
	b.leafFields(fields)
	for _, leaf := range b.leaves() {
		from, err := g.chunk(leaf)
		if err != nil {
			return nil, err
		}
		opened, err := openLeaf(from, fields[leaf])
		if err != nil {
			return nil, b.mismatched(g, err)
		}
		out.leaves[leaf] = opened.levelled()
	}
	return out, nil
}
