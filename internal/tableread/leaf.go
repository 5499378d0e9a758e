package tableread

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
)

// leaf is a leaf of a file that can be read either way.
type leaf interface {
	flat() column          // a value for each row: of one in no list or map
	levelled() levelReader // with what it takes to put together what it is in
}

type leafOf[P any] struct {
	from *chunk
	into sink[P]
}

func (l leafOf[P]) flat() column { return newFlat(l.from, l.into) }

func (l leafOf[P]) levelled() levelReader { return newLevelStream(l.from, l.into) }

// newLeaf makes a leaf whose values go where into says; without a binding they go nowhere.
func newLeaf[P any](from *chunk, as *binding, into func() (sink[P], error)) (leaf, error) {
	if as == nil {
		return leafOf[P]{from, &nowhere[P]{}}, nil
	}
	s, err := into()
	if err != nil {
		return nil, err
	}
	return leafOf[P]{from, s}, nil
}

// openLeaf starts to read a leaf as the binding says, nil for its levels alone. The error is errType when the binding's
// type cannot be made of what the file has.
func openLeaf(from *chunk, as *binding) (leaf, error) {
	descr := from.leaf.descr
	switch descr.PhysicalType() {
	case parquet.Types.Boolean:
		return newLeaf(from, as, func() (sink[bool], error) {
			if as.field.Type != "boolean" {
				return nil, errType
			}
			return &boolSink{}, nil
		})
	case parquet.Types.Int32:
		return newLeaf(from, as, func() (sink[int32], error) { return integerSink[int32](as.field, as.kind, descr) })
	case parquet.Types.Int64:
		return newLeaf(from, as, func() (sink[int64], error) { return integerSink[int64](as.field, as.kind, descr) })
	case parquet.Types.Int96:
		return newLeaf(from, as, func() (sink[parquet.Int96], error) { return int96Sink(as.field.Type, as.kind) })
	case parquet.Types.Float:
		return newLeaf(from, as, func() (sink[float32], error) { return floatSink(as.field.Type, as.kind) })
	case parquet.Types.Double:
		return newLeaf(from, as, func() (sink[float64], error) {
			if as.field.Type != "double" {
				return nil, errType
			}
			return &fixedSink[float64, float64]{kind: as.kind, convert: copied[float64]}, nil
		})
	case parquet.Types.ByteArray:
		return newLeaf(from, as, func() (sink[parquet.ByteArray], error) {
			return byteSink[parquet.ByteArray](as.field, as.kind, descr)
		})
	case parquet.Types.FixedLenByteArray:
		return newLeaf(from, as, func() (sink[parquet.FixedLenByteArray], error) {
			return byteSink[parquet.FixedLenByteArray](as.field, as.kind, descr)
		})
	}
	return nil, errType
}

// nowhere is a sink of values that nobody asked for.
type nowhere[P any] struct{ count int }

func (n *nowhere[P]) append(values []P, _ []bool) error {
	n.count += len(values)
	return nil
}

func (n *nowhere[P]) room(int, int) {}

func (n *nowhere[P]) bytes() int64 { return 0 }

func (n *nowhere[P]) take() arrow.Array {
	out := array.MakeArrayOfNull(memory.DefaultAllocator, arrow.Null, n.count)
	n.count = 0
	return out
}
