package masking

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/fault"
)

// structField gives a struct in which something may be masked.
func (b builder) structField(f arrow.Field, path string) (arrow.Field, transform) {
	of, _ := f.Type.(*arrow.StructType)
	fields := make([]arrow.Field, of.NumFields())
	children := make([]transform, of.NumFields())
	masked := b.within(path) // also where what is masked is not in the batch
	for i, child := range of.Fields() {
		fields[i], children[i] = b.field(child, path+"."+child.Name)
	}
	if !masked {
		return f, nil
	}
	if f.Nullable {
		for i := range fields {
			fields[i].Nullable = true // what is in a struct that is NULL is NULL, and the struct is shown
		}
	}
	to := arrow.StructOf(fields...)
	f.Type, f.Nullable = to, false
	return f, func(in arrow.Array) (arrow.Array, error) { return maskStruct(in, to, children) }
}

// maskStruct masks what is in a struct, and makes it present in every row.
func maskStruct(in arrow.Array, to *arrow.StructType, children []transform) (arrow.Array, error) {
	from, ok := in.(*array.Struct)
	if !ok {
		return nil, fault.New(fault.Internal, "a struct is held as %T", in)
	}
	data := make([]arrow.ArrayData, 0, len(children))
	defer func() {
		for _, d := range data {
			d.Release()
		}
	}()
	for i, mask := range children {
		child := nullWith(from.Field(i), from)
		out := child
		if mask != nil {
			var err error
			out, err = mask(child)
			child.Release()
			if err != nil {
				return nil, err
			}
		}
		out.Data().Retain()
		data = append(data, out.Data())
		out.Release()
	}
	whole := array.NewData(to, in.Len(), []*memory.Buffer{nil}, data, 0, 0)
	defer whole.Release()
	return array.MakeFromData(whole), nil
}

// nullWith gives a child of a struct that is NULL wherever the struct is. Its NULLs are written anew wherever there are any:
// not even how they are kept tells whether the struct or the child was NULL.
func nullWith(child arrow.Array, parent *array.Struct) arrow.Array {
	if parent.NullN() == 0 && child.NullN() == 0 || child.DataType().ID() == arrow.NULL {
		child.Retain()
		return child
	}
	data := child.Data()
	bits := memory.NewResizableBuffer(memory.DefaultAllocator)
	bits.Resize(int(bitutil.BytesForBits(int64(data.Offset() + data.Len()))))
	defer bits.Release()
	nulls := 0
	for i := range child.Len() {
		valid := child.IsValid(i) && parent.IsValid(i)
		bitutil.SetBitTo(bits.Bytes(), data.Offset()+i, valid)
		if !valid {
			nulls++
		}
	}
	buffers := append([]*memory.Buffer{bits}, data.Buffers()[1:]...)
	out := array.NewData(data.DataType(), data.Len(), buffers, data.Children(), nulls, data.Offset())
	defer out.Release()
	return array.MakeFromData(out)
}
