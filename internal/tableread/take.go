package tableread

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// noRow stands for NULL among the rows that are taken.
const noRow = int32(-1)

// takeRows gives some rows of an array, in the order and as often as they are named; noRow gives NULL.
func takeRows(from arrow.Array, rows []int32) (arrow.Array, error) {
	switch kind := from.DataType().(type) {
	case arrow.NestedType, *arrow.NullType:
		return takeSlices(from, rows)
	case arrow.ExtensionType:
		storage, err := takeRows(from.(array.ExtensionArray).Storage(), rows)
		if err != nil {
			return nil, err
		}
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(kind, storage), nil
	case *arrow.BooleanType:
		return takeBools(from, rows), nil
	case arrow.BinaryDataType:
		return takeBytes(from, rows)
	case arrow.FixedWidthDataType:
		return takeFixed(from, rows, kind.BitWidth()/8), nil
	}
	return nil, fmt.Errorf("rows of %s cannot be taken", from.DataType())
}

// takenNulls gives the validity of rows that are taken.
func takenNulls(from arrow.Array, rows []int32) (*memory.Buffer, int) {
	if from.NullN() == 0 {
		missing := 0
		for _, row := range rows {
			if row < 0 {
				missing++
			}
		}
		if missing == 0 {
			return nil, 0
		}
	}
	bits, nulls := make([]byte, bitutil.BytesForBits(int64(len(rows)))), 0
	for i, row := range rows {
		if row >= 0 && from.IsValid(int(row)) {
			bitutil.SetBit(bits, i)
		} else {
			nulls++
		}
	}
	return memory.NewBufferBytes(bits), nulls
}

func takeBools(from arrow.Array, rows []int32) arrow.Array {
	values := from.(*array.Boolean)
	out := make([]byte, bitutil.BytesForBits(int64(len(rows))))
	for i, row := range rows {
		if row >= 0 && values.Value(int(row)) {
			bitutil.SetBit(out, i)
		}
	}
	return taken(from.DataType(), from, rows, memory.NewBufferBytes(out))
}

// taken makes an array of what was taken; buffers follow the validity.
func taken(kind arrow.DataType, from arrow.Array, rows []int32, buffers ...*memory.Buffer) arrow.Array {
	bits, nulls := takenNulls(from, rows)
	data := array.NewData(kind, len(rows), append([]*memory.Buffer{bits}, buffers...), nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func takeFixed(from arrow.Array, rows []int32, width int) arrow.Array {
	data := from.Data()
	values := data.Buffers()[1].Bytes()[data.Offset()*width:]
	out := make([]byte, len(rows)*width)
	switch width {
	case 4:
		gather(arrow.Int32Traits.CastFromBytes(out), arrow.Int32Traits.CastFromBytes(values), rows)
	case 8:
		gather(arrow.Int64Traits.CastFromBytes(out), arrow.Int64Traits.CastFromBytes(values), rows)
	default:
		for i, row := range rows {
			if row >= 0 {
				copy(out[i*width:(i+1)*width], values[int(row)*width:])
			}
		}
	}
	return taken(from.DataType(), from, rows, memory.NewBufferBytes(out))
}

func gather[T any](out, values []T, rows []int32) {
	for i, row := range rows {
		if row >= 0 {
			out[i] = values[row]
		}
	}
}

func takeBytes(from arrow.Array, rows []int32) (arrow.Array, error) {
	values := from.(array.BinaryLike)
	size := int64(0)
	for _, row := range rows {
		if row >= 0 && from.IsValid(int(row)) {
			size += int64(values.ValueLen(int(row)))
		}
	}
	if size > largestColumn {
		return nil, tooWide()
	}
	data := from.Data()
	bytes, offsets := []byte(nil), []int32(nil)
	if b := data.Buffers()[1]; b != nil {
		offsets = arrow.Int32Traits.CastFromBytes(b.Bytes())[data.Offset():]
	}
	if b := data.Buffers()[2]; b != nil {
		bytes = b.Bytes()
	}
	out, ends := make([]byte, 0, size), make([]int32, len(rows)+1)
	for i, row := range rows {
		if row >= 0 && from.IsValid(int(row)) {
			out = append(out, bytes[offsets[row]:offsets[row+1]]...)
		}
		ends[i+1] = int32(len(out))
	}
	return taken(from.DataType(), from, rows, memory.NewBufferBytes(arrow.GetBytes(ends)), memory.NewBufferBytes(out)), nil
}

// takeSlices takes rows of nested types, which are copied run by run.
func takeSlices(from arrow.Array, rows []int32) (arrow.Array, error) {
	var parts []arrow.Array
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for i := 0; i < len(rows); {
		next := i + 1
		if rows[i] < 0 {
			for next < len(rows) && rows[next] < 0 {
				next++
			}
			parts = append(parts, array.MakeArrayOfNull(memory.DefaultAllocator, from.DataType(), next-i))
		} else {
			for next < len(rows) && rows[next] == rows[next-1]+1 {
				next++
			}
			parts = append(parts, array.NewSlice(from, int64(rows[i]), int64(rows[next-1])+1))
		}
		i = next
	}
	if len(parts) == 0 {
		return array.NewSlice(from, 0, 0), nil
	}
	return joined(parts)
}

// joined gives one array of several of the same type.
func joined(parts []arrow.Array) (arrow.Array, error) {
	if len(parts) == 1 {
		parts[0].Retain()
		return parts[0], nil
	}
	return array.Concatenate(parts, memory.DefaultAllocator)
}

// withParent gives a field of a struct with NULL where the struct is.
func withParent(field, parent arrow.Array) arrow.Array {
	if parent.NullN() == 0 {
		field.Retain()
		return field
	}
	data := field.Data()
	bits := make([]byte, bitutil.BytesForBits(int64(data.Offset()+field.Len())))
	nulls := 0
	for i := range field.Len() {
		if parent.IsValid(i) && field.IsValid(i) {
			bitutil.SetBit(bits, data.Offset()+i)
		} else {
			nulls++
		}
	}
	buffers := append([]*memory.Buffer{memory.NewBufferBytes(bits)}, data.Buffers()[1:]...)
	out := array.NewData(field.DataType(), field.Len(), buffers, data.Children(), nulls, data.Offset())
	defer out.Release()
	return array.MakeFromData(out)
}

// descend gives the values of a column of a top-level column's.
func (c *columnPath) descend(top arrow.Array) arrow.Array {
	for _, at := range c.down {
		parent := top.(*array.Struct)
		top = withParent(parent.Field(at), parent)
	}
	return top
}
