package reconcile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// batchRows is how many rows are read at once.
const batchRows = 4096

// column gives the values of one column, row by row in a form that is equal for equal values, whatever width a file holds them
// in: see put.go.
type column interface {
	// next reads so many rows, batchRows at most.
	next(rows int64) error
	// appendTo appends the value of a row among them.
	appendTo(out []byte, row int) []byte
}

// batchReader is the reader of a column chunk, which reads no further than a page at a time.
type batchReader[T any] interface {
	HasNext() bool
	ReadBatchInPage(size int64, values []T, definitions, repetitions []int16) (int64, int, error)
	Err() error
}

// leaf reads a column chunk. With put, values are kept as bytes: texts lie in the page, which the next one replaces.
type leaf[T any] struct {
	from        batchReader[T]
	put         func([]byte, T) []byte
	values      []T
	definitions []int16
	present     int16 // definition level of a value that is there

	arena []byte
	ends  []int // in the arena, of each row
	nulls []bool
	kept  []T // without put
}

// newLeaf reads a column chunk of so many rows.
func newLeaf[T any](from batchReader[T], descr *schema.Column, rows int64, put func([]byte, T) []byte) *leaf[T] {
	size := max(min(rows, batchRows), 0)
	l := &leaf[T]{
		from: from, put: put, values: make([]T, size), definitions: make([]int16, size), nulls: make([]bool, size),
		present: descr.MaxDefinitionLevel(),
	}
	if put == nil {
		l.kept = make([]T, size)
	}
	return l
}

// next implements column.
func (l *leaf[T]) next(rows int64) error {
	l.arena, l.ends = l.arena[:0], l.ends[:0]
	for row := int64(0); row < rows; {
		if !l.from.HasNext() {
			return fmt.Errorf("%w: rows are missing: %w", errDecode, l.from.Err())
		}
		levels, values, err := l.from.ReadBatchInPage(rows-row, l.values, l.definitions, nil)
		if err != nil {
			return err
		}
		if levels <= 0 || levels > rows-row {
			return fmt.Errorf("%w: rows are missing", errDecode)
		}
		if err := l.take(int(row), int(levels), values); err != nil {
			return err
		}
		row += levels
	}
	return nil
}

// take keeps what was read, from a row on.
func (l *leaf[T]) take(row, levels, values int) error {
	at := 0
	for n := range levels {
		null := l.present > 0 && l.definitions[n] < l.present
		if l.nulls[row+n] = null; !null {
			if at >= values {
				return fmt.Errorf("%w: values are missing", errDecode)
			}
			if l.put != nil {
				l.arena = l.put(l.arena, l.values[at])
			} else {
				l.kept[row+n] = l.values[at]
			}
			at++
		}
		l.ends = append(l.ends, len(l.arena))
	}
	if at != values {
		return fmt.Errorf("%w: more values than rows", errDecode)
	}
	return nil
}

func (l *leaf[T]) null(row int) bool { return l.nulls[row] }

func (l *leaf[T]) value(row int) T { return l.kept[row] }

// bytes gives what put made of a row's value; false for null.
func (l *leaf[T]) bytes(row int) ([]byte, bool) {
	start := 0
	if row > 0 {
		start = l.ends[row-1]
	}
	return l.arena[start:l.ends[row]], !l.nulls[row]
}

// appendTo implements column.
func (l *leaf[T]) appendTo(out []byte, row int) []byte {
	value, ok := l.bytes(row)
	if !ok {
		return appendNull(out)
	}
	return appendValue(out, value)
}

// constant is a column that a file lacks.
type constant []byte

func (constant) next(int64) error { return nil }

func (c constant) appendTo(out []byte, _ int) []byte { return append(out, c...) }

// appendNull and appendValue make values of different lengths, and none, differ.
func appendNull(out []byte) []byte { return append(out, 0) }

func appendValue(out, value []byte) []byte {
	return append(binary.AppendUvarint(append(out, 1), uint64(len(value))), value...)
}

// errColumn says that a column cannot be compared.
var errColumn = errors.New("cannot be compared")

// openColumn reads a column chunk as a column of the table's type.
func openColumn(group *file.RowGroupReader, at int, typ string) (column, error) {
	chunk, err := group.Column(at)
	if err != nil {
		return nil, err
	}
	descr, rows := chunk.Descriptor(), group.NumRows()
	switch r := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		if typ == "boolean" {
			return newLeaf(r, descr, rows, putBool), nil
		}
	case *file.Int32ColumnChunkReader:
		if put := putInteger(typ, descr); put != nil {
			return newLeaf(r, descr, rows, func(out []byte, v int32) []byte { return put(out, int64(v)) }), nil
		}
	case *file.Int64ColumnChunkReader:
		if put := putInteger(typ, descr); put != nil {
			return newLeaf(r, descr, rows, put), nil
		}
	case *file.Float32ColumnChunkReader:
		if isFloating(typ) {
			return newLeaf(r, descr, rows, func(out []byte, v float32) []byte { return putFloat(out, float64(v)) }), nil
		}
	case *file.Float64ColumnChunkReader:
		if isFloating(typ) {
			return newLeaf(r, descr, rows, putFloat), nil
		}
	case *file.ByteArrayColumnChunkReader, *file.FixedLenByteArrayColumnChunkReader:
		if put := putBytes(typ); put != nil {
			return bytesColumn(chunk, rows, put), nil
		}
	}
	return nil, fmt.Errorf("%w: %s in %s", errColumn, typ, descr.PhysicalType())
}

// bytesColumn reads a column chunk of bytes, of any length or of one.
func bytesColumn(chunk file.ColumnChunkReader, rows int64, put func([]byte, []byte) []byte) column {
	if r, ok := chunk.(*file.FixedLenByteArrayColumnChunkReader); ok {
		return newLeaf(r, r.Descriptor(), rows, func(out []byte, v parquet.FixedLenByteArray) []byte { return put(out, v) })
	}
	r := chunk.(*file.ByteArrayColumnChunkReader)
	return newLeaf(r, r.Descriptor(), rows, func(out []byte, v parquet.ByteArray) []byte { return put(out, v) })
}

func putBool(out []byte, v bool) []byte {
	if v {
		return append(out, 1)
	}
	return append(out, 0)
}

// putFloat keeps NaN equal to itself, and 0 different from -0: engines compare so.
func putFloat(out []byte, v float64) []byte {
	if v != v {
		v = math.NaN()
	}
	return binary.BigEndian.AppendUint64(out, math.Float64bits(v))
}

func putLong(out []byte, v int64) []byte { return binary.BigEndian.AppendUint64(out, uint64(v)) }
