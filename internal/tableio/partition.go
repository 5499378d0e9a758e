package tableio

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
)

// partitioner tells in which partition of a spec rows belong.
type partitioner struct {
	fields []partitionField
}

// partitionField is a field of a partition spec over a column.
type partitionField struct {
	id     int
	source []int // place of the column, in structs too; empty for a field that is null in every row
	reader
}

// part is the rows of a batch that are in one partition.
type part struct {
	key    string      // the same for the same partition
	values map[int]any // by partition field id, as Go's manifests have them; nil for a null
	rows   []int32     // in order; nil for all rows of the batch
}

// newPartitioner makes one for rows of a schema. fault.Unsupported: a partition field cannot be computed here.
func newPartitioner(spec iceberg.PartitionSpec, schema *arrow.Schema) (*partitioner, error) {
	p := &partitioner{}
	for _, f := range spec.Fields() {
		field := partitionField{id: f.FieldID}
		if _, void := f.Transform.(iceberg.VoidTransform); !void {
			if err := field.bind(f, schema); err != nil {
				return nil, err
			}
		}
		p.fields = append(p.fields, field)
	}
	return p, nil
}

func (p *partitionField) bind(f iceberg.PartitionField, schema *arrow.Schema) error {
	path, kind, ok := find(schema.Fields(), f.SourceID())
	if ok && len(f.SourceIDs) == 1 {
		p.source = path
		p.reader, ok = newReader(f.Transform, kind)
		if ok {
			return nil
		}
	}
	return fault.New(fault.Unsupported, "The table is partitioned by %s, which is %s of column %d and is not computed here. Change the table's partition spec.",
		f.Name, f.Transform, f.SourceID())
}

// find gives the place of a column of that id, through structs.
func find(fields []arrow.Field, id int) ([]int, arrow.DataType, bool) {
	for i, f := range fields {
		if own, ok := columnar.FieldID(f); ok && own == id {
			return []int{i}, f.Type, true
		}
		if nested, ok := f.Type.(*arrow.StructType); ok {
			if path, kind, ok := find(nested.Fields(), id); ok {
				return append([]int{i}, path...), kind, true
			}
		}
	}
	return nil, nil, false
}

// split gives the partitions of a batch's rows, in the order of their first rows.
func (p *partitioner) split(batch arrow.RecordBatch) []part {
	n := int(batch.NumRows())
	if len(p.fields) == 0 {
		return []part{{values: map[int]any{}}}
	}
	codes, parts := make([]int32, n), []part{{values: map[int]any{}}}
	for i := range p.fields {
		codes, parts = p.fields[i].refine(batch, codes, parts)
	}
	if len(parts) == 1 {
		return parts
	}
	sizes := make([]int, len(parts))
	for _, code := range codes {
		sizes[code]++
	}
	for i := range parts {
		parts[i].rows = make([]int32, 0, sizes[i])
	}
	for row, code := range codes {
		parts[code].rows = append(parts[code].rows, int32(row)) //nolint:gosec // a batch has fewer
	}
	return parts
}

// refine divides parts, which codes tell of each row, by the values of one more field.
func (p *partitionField) refine(batch arrow.RecordBatch, codes []int32, parts []part) ([]int32, []part) {
	values, distinct := p.read(batch)
	if len(distinct) == 1 {
		for i := range parts {
			parts[i] = parts[i].with(p.id, distinct[0])
		}
		return codes, parts
	}
	finer, known := []part{}, map[uint64]int32{}
	last, lastCode := ^uint64(0), int32(0)
	for row, code := range codes {
		pair := uint64(code)<<32 | uint64(values[row]) //nolint:gosec // neither is negative
		if pair != last {
			next, ok := known[pair]
			if !ok {
				next = int32(len(finer)) //nolint:gosec // no more than rows
				known[pair] = next
				finer = append(finer, parts[code].with(p.id, distinct[values[row]]))
			}
			last, lastCode = pair, next
		}
		codes[row] = lastCode
	}
	return codes, finer
}

// with gives the part of one value of one more field.
func (p part) with(id int, v distinctValue) part {
	out := part{key: p.key, values: make(map[int]any, len(p.values)+1)}
	for k, known := range p.values {
		out.values[k] = known
	}
	out.values[id] = v.value
	key := binary.AppendUvarint([]byte(p.key), uint64(len(v.key))+1)
	if v.value == nil {
		key = binary.AppendUvarint([]byte(p.key), 0)
	}
	out.key = string(append(key, v.key...))
	return out
}

// distinctValue is one value of a partition field in a batch.
type distinctValue struct {
	key   string
	value any // nil for null
}

// read gives for each row which of the distinct values it has.
func (p *partitionField) read(batch arrow.RecordBatch) ([]uint32, []distinctValue) {
	n := int(batch.NumRows())
	if len(p.source) == 0 {
		return make([]uint32, n), []distinctValue{{}}
	}
	values := batch.Column(p.source[0])
	mask, _ := present(values, nil)
	for _, child := range p.source[1:] {
		values = values.(*array.Struct).Field(child) //nolint:forcetypeassert // the path goes through structs
		mask, _ = present(values, mask)
	}
	return p.distinct(storage(values), mask)
}
