package tableread

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// levels are the values of a leaf in some rows, with the levels that tell what is NULL and what belongs to one list.
type levels struct {
	definitions, repetitions []int16     // repetitions are nil in no list
	size                     int         // of each
	values                   arrow.Array // without NULL
}

func (l *levels) definition(at int) int16 {
	if l.definitions == nil {
		return 0
	}
	return l.definitions[at]
}

func (l *levels) repetition(at int) int16 {
	if l.repetitions == nil {
		return 0
	}
	return l.repetitions[at]
}

// levelReader reads a leaf by rows.
type levelReader interface {
	// load gives the next n rows, valid until the next call.
	load(n int) (*levels, error)
	skip(n int) error
}

// mostLevels bounds the values of a leaf that the rows of a batch may have.
const mostLevels = 64 << 20

// levelStream is a leaf within structs, lists or maps.
type levelStream[P any] struct {
	*stream[P]
	into    sink[P]
	present int16
	out     levels
	cut     int         // of out: where the rows end that were given
	left    arrow.Array // values after them
}

func newLevelStream[P any](from *chunk, into sink[P]) *levelStream[P] {
	return &levelStream[P]{stream: newStream[P](from), into: into, present: from.leaf.descr.MaxDefinitionLevel()}
}

// load implements levelReader.
func (l *levelStream[P]) load(n int) (*levels, error) {
	rows, end := l.carry(n) // end is where the rows after the wanted ones start
	for end < 0 {
		const fewest = 256
		most := max(fewest, 2*(n-rows))
		if l.repetitions == nil {
			most = n - rows
		}
		if rows == n && (most == 0 || l.at >= l.from.values) {
			end = l.out.size
			break
		}
		p, err := l.next(most)
		if err != nil {
			return nil, err
		}
		if err := l.into.append(p.values, nil); err != nil {
			return nil, err
		}
		rows, end = l.add(p, rows, n)
		if l.out.size > mostLevels {
			return nil, tooWide()
		}
	}
	return l.split(end)
}

// carry moves what follows the rows that were given to the front. It tells how many rows start in it, and where the first
// after n does, or -1.
func (l *levelStream[P]) carry(n int) (rows, end int) {
	o := &l.out
	if o.definitions != nil {
		o.definitions = append(o.definitions[:0], o.definitions[l.cut:]...)
	}
	if o.repetitions != nil {
		o.repetitions = append(o.repetitions[:0], o.repetitions[l.cut:]...)
	}
	o.size -= l.cut
	l.cut = 0
	return starts(o.repetitions, 0, n)
}

// starts counts the rows that start in some levels after others in which rows did, and finds where the first after n
// starts, or -1.
func starts(repetitions []int16, rows, n int) (int, int) {
	end := -1
	for i, r := range repetitions {
		if r == 0 {
			if rows++; rows == n+1 {
				end = i
			}
		}
	}
	return rows, end
}

// add appends the levels of a part. It gives the rows that have started, and where the first after n starts, or -1.
func (l *levelStream[P]) add(p part[P], rows, n int) (int, int) {
	o := &l.out
	before := o.size
	o.size += p.size
	o.definitions = append(o.definitions, p.definitions...)
	if p.repetitions == nil {
		return rows + p.size, -1
	}
	o.repetitions = append(o.repetitions, p.repetitions...)
	rows, end := starts(p.repetitions, rows, n)
	if end >= 0 {
		end += before
	}
	return rows, end
}

// split gives the levels up to an end with their values.
func (l *levelStream[P]) split(end int) (*levels, error) {
	values := l.into.take()
	if l.left != nil {
		both, err := joined([]arrow.Array{l.left, values})
		if err != nil {
			return nil, err
		}
		values = both
	}
	count := 0
	for i := range end {
		if l.out.definition(i) == l.present {
			count++
		}
	}
	if count > values.Len() {
		return nil, fmt.Errorf("%w: values are missing", errDecode)
	}
	given := l.out
	given.size = end
	if given.definitions != nil {
		given.definitions = given.definitions[:end]
	}
	if given.repetitions != nil {
		given.repetitions = given.repetitions[:end]
	}
	given.values = array.NewSlice(values, 0, int64(count))
	l.left = nil
	if count < values.Len() {
		l.left = array.NewSlice(values, int64(count), int64(values.Len()))
	}
	l.cut = end
	return &given, nil
}

// skip implements levelReader. Rows of lists have no place of their own in a file: they are read.
func (l *levelStream[P]) skip(n int) error {
	if l.repetitions == nil {
		l.target = l.at + int64(n)
		return l.seek()
	}
	for n > 0 {
		some := min(n, valuesAtOnce)
		if _, err := l.load(some); err != nil {
			return err
		}
		n -= some
	}
	return nil
}

// nestedColumn is a struct, a list or a map.
type nestedColumn struct {
	as      *binding
	leaves  map[*node]levelReader
	pending int64 // rows to pass over
	parts   []arrow.Array
	size    int64
}

func (c *nestedColumn) skip(n int64) { c.pending += n }

// room implements column. How many values the rows have is not known.
func (c *nestedColumn) room(int, int) {}

func (c *nestedColumn) bytes() int64 { return c.size }

// read implements column.
func (c *nestedColumn) read(n int, wanted picks) error {
	loaded := make(map[*node]*levels, len(c.leaves))
	for leaf, r := range c.leaves {
		if c.pending > 0 {
			if err := r.skip(int(c.pending)); err != nil {
				return err
			}
		}
		l, err := r.load(n)
		if err != nil {
			return err
		}
		loaded[leaf] = l
	}
	c.pending = 0
	all, err := c.as.assemble(loaded, 0, 0, n)
	if err != nil {
		return err
	}
	if !wanted.all {
		if all, err = takeRows(all, wanted.rows); err != nil {
			return err
		}
	}
	c.parts = append(c.parts, all)
	c.size += int64(all.Data().SizeInBytes())
	return nil
}

// take implements column.
func (c *nestedColumn) take() (arrow.Array, error) {
	parts := c.parts
	c.parts, c.size = nil, 0
	if len(parts) == 0 {
		return array.MakeArrayOfNull(memory.DefaultAllocator, c.as.kind, 0), nil
	}
	return joined(parts)
}

// assemble makes the array of a field that is in so many lists, of which the innermost has an element from the definition
// level inner on. It must have size rows or elements, whatever other fields beside it say.
func (b *binding) assemble(loaded map[*node]*levels, lists, inner int16, size int) (arrow.Array, error) {
	if b.node == nil {
		return repeated(b.constant, size)
	}
	var out arrow.Array
	var err error
	l := loaded[b.witness]
	switch b.node.kind {
	case leafNode:
		out, err = b.leafArray(l, inner)
	case structNode:
		out, err = b.structArray(loaded, lists, inner, size)
	default:
		out, err = b.listArray(loaded, lists, inner, size)
	}
	if err == nil && out.Len() != size {
		err = fmt.Errorf("%w: columns of different lengths", errDecode)
	}
	return out, err
}

func (b *binding) leafArray(l *levels, inner int16) (arrow.Array, error) {
	if l.values.Len() == l.size {
		return l.values, nil
	}
	rows := make([]int32, 0, l.size)
	at := int32(0)
	for i := range l.size {
		switch d := l.definition(i); {
		case d == b.node.def:
			rows = append(rows, at)
			at++
		case d >= inner:
			rows = append(rows, noRow)
		}
	}
	return takeRows(l.values, rows)
}

func (b *binding) structArray(loaded map[*node]*levels, lists, inner int16, size int) (arrow.Array, error) {
	l := loaded[b.witness]
	bits, nulls := make([]byte, bitutil.BytesForBits(int64(size))), 0
	slot := 0
	for i := range l.size {
		d := l.definition(i)
		if l.repetition(i) > lists || d < inner {
			continue
		}
		if slot == size {
			return nil, fmt.Errorf("%w: columns of different lengths", errDecode)
		}
		if d >= b.node.def {
			bitutil.SetBit(bits, slot)
		} else {
			nulls++
		}
		slot++
	}
	if slot != size {
		return nil, fmt.Errorf("%w: columns of different lengths", errDecode)
	}
	children, err := b.childData(loaded, lists, inner, size)
	if err != nil {
		return nil, err
	}
	return assembled(b.kind, size, validBits(bits, nulls), nulls, children), nil
}

func validBits(bits []byte, nulls int) *memory.Buffer {
	if nulls == 0 {
		return nil
	}
	return memory.NewBufferBytes(bits)
}

func assembled(kind arrow.DataType, size int, bits *memory.Buffer, nulls int, children []arrow.ArrayData, more ...*memory.Buffer) arrow.Array {
	data := array.NewData(kind, size, append([]*memory.Buffer{bits}, more...), children, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func (b *binding) childData(loaded map[*node]*levels, lists, inner int16, size int) ([]arrow.ArrayData, error) {
	out := make([]arrow.ArrayData, len(b.children))
	for i, c := range b.children {
		child, err := c.assemble(loaded, lists, inner, size)
		if err != nil {
			return nil, err
		}
		out[i] = child.Data()
	}
	return out, nil
}

// listArray makes a list, or a map, which is a list of pairs.
func (b *binding) listArray(loaded map[*node]*levels, lists, inner int16, size int) (arrow.Array, error) {
	l, n := loaded[b.witness], b.node
	bits, nulls := make([]byte, bitutil.BytesForBits(int64(size))), 0
	ends := make([]int32, 1, size+1)
	elements := int32(0)
	for i := range l.size {
		d, r := l.definition(i), l.repetition(i)
		if r <= lists {
			if d < inner {
				continue
			}
			if len(ends) > size {
				return nil, fmt.Errorf("%w: columns of different lengths", errDecode)
			}
			if d >= n.def {
				bitutil.SetBit(bits, len(ends)-1)
			} else {
				nulls++
			}
			ends = append(ends, elements)
		}
		if r <= n.rep && d >= n.inner && len(ends) > 1 {
			elements++
			ends[len(ends)-1] = elements
		}
	}
	if len(ends) != size+1 {
		return nil, fmt.Errorf("%w: columns of different lengths", errDecode)
	}
	children, err := b.childData(loaded, n.rep, n.inner, int(elements))
	if err != nil {
		return nil, err
	}
	if kind, ok := b.kind.(*arrow.MapType); ok {
		pairs := assembled(kind.Elem(), int(elements), nil, 0, children)
		children = []arrow.ArrayData{pairs.Data()}
	}
	return assembled(b.kind, size, validBits(bits, nulls), nulls, children, memory.NewBufferBytes(arrow.GetBytes(ends))), nil
}
