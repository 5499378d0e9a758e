package tableio

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/fault"
)

// checkRequired refuses a batch with a null where the table does not take one. fault.Invalid names the column.
func checkRequired(schema *arrow.Schema, batch arrow.RecordBatch) error {
	for i, f := range schema.Fields() {
		if err := checkField(f, f.Name, batch.Column(i), nil); err != nil {
			return err
		}
	}
	return nil
}

// checkField looks at values of a field; parents, where it is not nil, says where what is around it is there.
func checkField(f arrow.Field, path string, values arrow.Array, parents []bool) error {
	if !f.Nullable && values.NullN() > 0 {
		if n := missing(values, parents); n > 0 {
			return fault.New(fault.Invalid, "Column %s is required and %d of its values are null: give each row a value.", path, n)
		}
	}
	if !demanding(f.Type) {
		return nil
	}
	mask, _ := present(values, parents)
	switch values := values.(type) {
	case *array.Struct:
		for i, child := range f.Type.(*arrow.StructType).Fields() { //nolint:forcetypeassert // the array's
			if err := checkField(child, path+"."+child.Name, values.Field(i), mask); err != nil {
				return err
			}
		}
	case *array.Map:
		inner, mask := spread(values, values.Offsets(), mask)
		kind := f.Type.(*arrow.MapType) //nolint:forcetypeassert // the array's
		keys, items := slice(values.Keys(), inner), slice(values.Items(), inner)
		defer keys.Release()
		defer items.Release()
		if err := checkField(kind.KeyField(), path+".key", keys, mask); err != nil {
			return err
		}
		return checkField(kind.ItemField(), path+".value", items, mask)
	case *array.List:
		inner, mask := spread(values, values.Offsets(), mask)
		elements := slice(values.ListValues(), inner)
		defer elements.Release()
		return checkField(f.Type.(*arrow.ListType).ElemField(), path+".element", elements, mask) //nolint:forcetypeassert // the array's
	}
	return nil
}

// demanding tells whether something inside a type is required.
func demanding(t arrow.DataType) bool {
	var fields []arrow.Field
	switch t := t.(type) {
	case *arrow.StructType:
		fields = t.Fields()
	case *arrow.MapType:
		fields = []arrow.Field{t.KeyField(), t.ItemField()}
	case *arrow.ListType:
		fields = []arrow.Field{t.ElemField()}
	}
	for _, f := range fields {
		if !f.Nullable || demanding(f.Type) {
			return true
		}
	}
	return false
}

// missing counts nulls where what is around the values is there.
func missing(values arrow.Array, parents []bool) (n int) {
	for i := range values.Len() {
		if values.IsNull(i) && (parents == nil || parents[i]) {
			n++
		}
	}
	return n
}

// bounds of elements in the values of a list or map.
type elementRange struct{ from, to int64 }

func slice(values arrow.Array, r elementRange) arrow.Array {
	return array.NewSlice(values, r.from, r.to)
}

// spread gives the elements that lists have together, and for each whether its list is there; nil when all are.
func spread(lists arrow.Array, offsets []int32, mask []bool) (elementRange, []bool) {
	n, first := lists.Len(), lists.Data().Offset()
	if n == 0 {
		return elementRange{}, nil
	}
	offsets = offsets[first : first+n+1]
	r := elementRange{int64(offsets[0]), int64(offsets[n])}
	if mask == nil {
		return r, nil
	}
	out := make([]bool, r.to-r.from)
	for i := range n {
		for at := offsets[i] - offsets[0]; at < offsets[i+1]-offsets[0]; at++ {
			out[at] = mask[i]
		}
	}
	return r, out
}
