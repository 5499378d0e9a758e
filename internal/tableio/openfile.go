package tableio

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/fault"
)

// openFile is a data file of one partition that is being written: rows that wait to be a row group, and what is encoded.
type openFile struct {
	w            *FileWriter
	partition    map[int]any
	stats        *statistics
	pending      []arrow.RecordBatch
	pendingBytes int64
	encoder      *encoder
}

func newOpenFile(w *FileWriter, p part) *openFile {
	return &openFile{w: w, partition: p.values, stats: newStatistics(w.layout.arrow, w.modes)}
}

// add takes the rows over.
func (f *openFile) add(rows arrow.RecordBatch) {
	f.stats.add(rows)
	f.pending = append(f.pending, rows)
	f.pendingBytes += sizeOf(rows)
}

// encode makes a row group of the rows that wait.
func (f *openFile) encode() error {
	if len(f.pending) == 0 {
		return nil
	}
	defer f.drop()
	return guardedFault(func() error {
		if f.encoder == nil {
			var err error
			if f.encoder, err = newEncoder(f.w.layout.arrow, f.w.properties); err != nil {
				return err
			}
		}
		return f.encoder.rowGroup(f.pending)
	})
}

// finish ends the file and describes it.
func (f *openFile) finish(location string) (iceberg.DataFile, error) {
	if err := f.encode(); err != nil {
		return nil, err
	}
	var entry iceberg.DataFile
	err := guardedFault(func() error {
		foot, err := f.encoder.finish()
		if err != nil {
			return err
		}
		entry, err = f.w.entry(location, f, foot)
		return err
	})
	return entry, err
}

// guardedFault makes one error of all that an encoder comes up with.
func guardedFault(do func() error) error {
	if err := guarded(do); err != nil {
		return fault.Wrap(err, fault.Internal, "The rows could not be written as Parquet.")
	}
	return nil
}

// size is the memory that the file takes, in bytes.
func (f *openFile) size() int64 {
	size := f.pendingBytes + int64(len(f.stats.roots))*openFileCost
	if f.encoder != nil {
		size += int64(f.encoder.buffer.Cap())
	}
	return size
}

// encoded is how many bytes of the file there are.
func (f *openFile) encoded() int {
	if f.encoder == nil {
		return 0
	}
	return f.encoder.buffer.Len()
}

func (f *openFile) bytes() []byte { return f.encoder.buffer.Bytes() }

func (f *openFile) drop() {
	for _, b := range f.pending {
		b.Release()
	}
	f.pending, f.pendingBytes = nil, 0
}

func (f *openFile) release() {
	f.drop()
	f.encoder = nil
}

// pick gives some rows of a batch, all of them for nil. A small part is a copy, so that it does not keep the whole.
func pick(ctx context.Context, batch arrow.RecordBatch, rows []int32) (arrow.RecordBatch, error) {
	if rows == nil {
		batch.Retain()
		return batch, nil
	}
	if last := len(rows) - 1; int(rows[last]-rows[0]) == last && 2*int64(len(rows)) >= batch.NumRows() {
		return batch.NewSlice(int64(rows[0]), int64(rows[0])+int64(last)+1), nil
	}
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(rows, nil)
	indices := b.NewArray()
	defer indices.Release()
	columns := make([]arrow.Array, batch.NumCols())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		var err error
		if columns[i], err = compute.TakeArray(ctx, batch.Column(i), indices); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(batch.Schema(), columns, int64(len(rows))), nil
}

// sizeOf estimates the memory of a batch's rows, in bytes: of a slice, of its part alone.
func sizeOf(batch arrow.RecordBatch) int64 {
	size := int64(0)
	for _, c := range batch.Columns() {
		size += arraySize(c)
	}
	return size
}

const offsetSize = 4 // bytes of an offset into texts or elements

func arraySize(a arrow.Array) int64 {
	n := int64(a.Len())
	size := n / 8
	switch a := storage(a).(type) {
	case *array.String:
		return size + n*offsetSize + int64(len(a.ValueBytes()))
	case *array.Binary:
		return size + n*offsetSize + int64(len(a.ValueBytes()))
	case *array.Struct:
		for i := range a.NumField() {
			size += arraySize(a.Field(i))
		}
		return size
	case *array.Map:
		r, _ := spread(a, a.Offsets(), nil)
		return size + n*offsetSize + share(a.Keys(), r) + share(a.Items(), r)
	case *array.List:
		r, _ := spread(a, a.Offsets(), nil)
		return size + n*offsetSize + share(a.ListValues(), r)
	case arrow.Array:
		if fixed, ok := a.DataType().(arrow.FixedWidthDataType); ok {
			return size + n*int64(fixed.BitWidth())/8
		}
	}
	return size
}

// share is the size of some elements.
func share(elements arrow.Array, r elementRange) int64 {
	part := slice(elements, r)
	defer part.Release()
	return arraySize(part)
}
