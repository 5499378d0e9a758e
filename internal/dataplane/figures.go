package dataplane

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/axiomhq/hyperloglog"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rows"
)

// figures gathers what is known of the columns of an answer.
type figures struct {
	columns []*figure
}

// figure is of one column. at is where it is in a batch: the place of the top-level column, then those in structs.
type figure struct {
	name  string
	field arrow.Field
	at    []int
	mute  bool // it shows the same in every row

	nulls     int64
	distinct  *hyperloglog.Sketch // nil: not counted
	ordered   bool                // it has a lowest and a highest value
	low, high arrow.Array         // of one value each, nil before there is one
}

func newFigures(l *lens, s *arrow.Schema) *figures {
	out := &figures{}
	for i, f := range s.Fields() {
		out.find(l, f, f.Name, []int{i})
	}
	return out
}

// find adds a column, or what is in a struct.
func (f *figures) find(l *lens, field arrow.Field, path string, at []int) {
	mask, masked := l.mask(path)
	nested, isStruct := field.Type.(*arrow.StructType)
	if isStruct && !masked {
		for i, child := range nested.Fields() {
			f.find(l, child, path+"."+child.Name, append(append([]int{}, at...), i))
		}
		return
	}
	c := &figure{name: path, field: field, at: at}
	_, touched := l.touchesMasked(path)
	simple := !arrow.IsNested(field.Type.ID())
	switch {
	case touched && !masked, masked && (isStruct || !simple || mutes(mask, field)):
		c.mute = true
	case simple:
		c.distinct, c.ordered = hyperloglog.New14(), !masked || mask.Kind != policy.MaskHash
	}
	f.columns = append(f.columns, c)
}

// mutes tells whether a mask leaves nothing of a simple column. What a type does not take is null.
func mutes(m policy.Mask, f arrow.Field) bool {
	text := f.Type.ID() == arrow.STRING
	switch m.Kind {
	case policy.MaskHash:
		return !text // hashes are text: it was not taken
	case policy.MaskPartial:
		return !text
	case policy.MaskTruncate:
		return false // what it does not take is NULL in every row, whatever is in it
	}
	return true
}

func (f *figures) add(batch arrow.RecordBatch) error {
	for _, c := range f.columns {
		if c.mute {
			continue
		}
		if err := c.add(leaf(batch, c.at)); err != nil {
			return err
		}
	}
	return nil
}

// nested is a column of a batch with the structs around it, in which a NULL counts for what is within.
type nested struct {
	arrow.Array
	around []arrow.Array
}

func leaf(batch arrow.RecordBatch, at []int) nested {
	n := nested{Array: batch.Column(at[0])}
	for _, i := range at[1:] {
		n.around = append(n.around, n.Array)
		n.Array = n.Array.(*array.Struct).Field(i)
	}
	return n
}

// IsNull tells whether there is no value, because of the column or of what is around it.
func (n nested) IsNull(i int) bool {
	for _, a := range n.around {
		if a.IsNull(i) {
			return true
		}
	}
	return n.Array.IsNull(i)
}

// add takes the values of a batch in.
func (c *figure) add(a nested) error {
	read := valuesOf(a.Array)
	low, high := -1, -1
	for i := range a.Len() {
		if a.IsNull(i) {
			c.nulls++
			continue
		}
		if c.distinct != nil && read.bytes != nil {
			c.distinct.Insert(read.bytes(i))
		}
		if !c.ordered || read.compare == nil || read.isNaN != nil && read.isNaN(i) {
			continue
		}
		if low < 0 || read.compare(i, low) < 0 {
			low = i
		}
		if high < 0 || read.compare(i, high) > 0 {
			high = i
		}
	}
	if low < 0 {
		return nil
	}
	return errors.Join(c.keep(&c.low, a.Array, low, -1), c.keep(&c.high, a.Array, high, 1))
}

// keep takes a value in the place of the one that is kept, where it is further in a direction.
func (c *figure) keep(kept *arrow.Array, a arrow.Array, i, direction int) error {
	one := array.NewSlice(a, int64(i), int64(i)+1)
	defer one.Release()
	if *kept != nil {
		both, err := array.Concatenate([]arrow.Array{*kept, one}, memory.DefaultAllocator)
		if err != nil {
			return err
		}
		defer both.Release()
		if valuesOf(both).compare(1, 0)*direction <= 0 {
			return nil
		}
		(*kept).Release()
	}
	alone, err := array.Concatenate([]arrow.Array{one}, memory.DefaultAllocator) // a copy: the batch goes
	*kept = alone
	return err
}

// result gives the figures, and values as answers have them.
func (f *figures) result(l *lens) ([]ProfileColumn, error) {
	levels := policy.Levels(l.row, l.at.schema)
	out := []ProfileColumn{}
	for _, c := range f.columns {
		column := ProfileColumn{Name: c.name, Type: typeOf(l, c.field.Type, c.name), Level: levels[c.name], Tag: l.row.Columns.V[c.name].Tag}
		if column.Level == "" {
			column.Level = l.levelWithin(c.name, levels)
		}
		if mask, masked := l.mask(c.name); masked {
			column.Mask = mask.Kind
		}
		if !c.mute {
			column.Nulls = &c.nulls
		}
		if c.distinct != nil && !c.mute {
			n := int64(c.distinct.Estimate())
			column.Distinct = &n
		}
		var err error
		if column.Min, err = shownAs(c.low); err != nil {
			return nil, err
		}
		if column.Max, err = shownAs(c.high); err != nil {
			return nil, err
		}
		c.release()
		out = append(out, column)
	}
	return out, nil
}

func (c *figure) release() {
	for _, a := range []arrow.Array{c.low, c.high} {
		if a != nil {
			a.Release()
		}
	}
}

// shownAs gives an array's only value as an answer in JSON has it; nil for no array.
func shownAs(a arrow.Array) (json.RawMessage, error) {
	if a == nil {
		return nil, nil
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: a.DataType(), Nullable: true}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{a}, 1)
	defer batch.Release()
	var text bytes.Buffer
	if err := writeRows(&text, rows.NDJSON, schema, batch); err != nil {
		return nil, err
	}
	var row struct {
		V json.RawMessage `json:"v"`
	}
	err := json.Unmarshal(text.Bytes(), &row)
	return row.V, err
}
