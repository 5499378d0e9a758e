package tableio

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/columnar"
)

// statistics collects what a manifest says of the columns of one data file. Columns in lists and maps have none: nobody
// prunes by them.
type statistics struct {
	rows  int64
	roots []*column
}

// column is one of a data file, or a field of a struct in it.
type column struct {
	id       int
	children []*column // of a struct; nil otherwise
	mode     metricsMode
	extremes extremes
	nulls    int64
}

func newStatistics(schema *arrow.Schema, modes map[int]metricsMode) *statistics {
	return &statistics{roots: columnsOf(schema.Fields(), modes)}
}

func columnsOf(fields []arrow.Field, modes map[int]metricsMode) []*column {
	out := make([]*column, len(fields))
	for i, f := range fields {
		c := &column{}
		c.id, _ = columnar.FieldID(f)
		if nested, ok := f.Type.(*arrow.StructType); ok {
			c.children = columnsOf(nested.Fields(), modes)
		} else {
			c.mode = modes[c.id]
			if c.mode.bounds {
				c.extremes = newExtremes(storageType(f.Type))
			}
		}
		out[i] = c
	}
	return out
}

// storageType is the type that an extension's values are stored as.
func storageType(t arrow.DataType) arrow.DataType {
	if extension, ok := t.(arrow.ExtensionType); ok {
		return extension.StorageType()
	}
	return t
}

// storage gives the values of an extension as they are stored.
func storage(values arrow.Array) arrow.Array {
	if extension, ok := values.(array.ExtensionArray); ok {
		return extension.Storage()
	}
	return values
}

func (s *statistics) add(batch arrow.RecordBatch) {
	s.rows += batch.NumRows()
	for i, c := range s.roots {
		c.add(batch.Column(i), nil)
	}
}

// add looks at values of a column; parents, where it is not nil, says in which rows the struct around it is there.
func (c *column) add(values arrow.Array, parents []bool) {
	if !c.wanted() {
		return
	}
	mask, nulls := present(values, parents)
	if nested, ok := values.(*array.Struct); ok {
		for i, child := range c.children {
			child.add(nested.Field(i), mask)
		}
		return
	}
	c.nulls += nulls
	if c.extremes != nil {
		c.extremes.add(storage(values), mask)
	}
}

func (c *column) wanted() bool { return c.children != nil || c.mode.counts }

// present says in which rows there is a value, nil for all of them, and counts those without.
func present(values arrow.Array, parents []bool) (mask []bool, nulls int64) {
	if parents == nil && values.NullN() == 0 {
		return nil, 0
	}
	mask = make([]bool, values.Len())
	for i := range mask {
		mask[i] = values.IsValid(i) && (parents == nil || parents[i])
		if !mask[i] {
			nulls++
		}
	}
	if nulls == 0 {
		return nil, 0
	}
	return mask, nulls
}

// describe puts the statistics into a manifest entry; sizes are those of the columns in the file, by field id.
func (s *statistics) describe(b *iceberg.DataFileBuilder, sizes map[int]int64) {
	d := description{
		sizes: map[int]int64{}, values: map[int]int64{}, nulls: map[int]int64{}, nans: map[int]int64{},
		lower: map[int][]byte{}, upper: map[int][]byte{},
	}
	for _, c := range s.roots {
		d.add(c, s.rows, sizes)
	}
	b.ColumnSizes(d.sizes).ValueCounts(d.values).NullValueCounts(d.nulls).NaNValueCounts(d.nans).
		LowerBoundValues(d.lower).UpperBoundValues(d.upper)
}

// description is the statistics of a file by field id.
type description struct {
	sizes, values, nulls, nans map[int]int64
	lower, upper               map[int][]byte
}

func (d *description) add(c *column, rows int64, sizes map[int]int64) {
	for _, child := range c.children {
		d.add(child, rows, sizes)
	}
	if c.children != nil || !c.mode.counts {
		return
	}
	if size, ok := sizes[c.id]; ok {
		d.sizes[c.id] = size
	}
	d.values[c.id], d.nulls[c.id] = rows, c.nulls
	if c.extremes == nil {
		return
	}
	if counted, ok := c.extremes.(interface{ nanCount() int64 }); ok {
		d.nans[c.id] = counted.nanCount()
	}
	low, high := c.extremes.bounds(c.mode.length)
	if low != nil {
		d.lower[c.id] = low
	}
	if high != nil {
		d.upper[c.id] = high
	}
}
