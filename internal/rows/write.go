package rows

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/sluice-data/sluice/internal/fault"
)

// flushBytes is how much JSON is gathered before it is handed on.
const flushBytes = 64 << 10

// Writer writes batches of one schema down in a format. It is not for several goroutines.
type Writer struct {
	to     io.Writer
	format Format
	schema *arrow.Schema
	names  [][]byte // of the columns, as JSON with the colon
	buffer []byte
	any    bool // whether there was a row
	stream *ipc.Writer
}

// NewWriter makes a writer. Nothing is written before the first batch or Close.
func NewWriter(to io.Writer, f Format, schema *arrow.Schema) (*Writer, error) {
	w := &Writer{to: to, format: f, schema: schema}
	switch f {
	case JSON, NDJSON:
		w.names = memberNames(schema.Fields())
	case ArrowStream:
		w.stream = ipc.NewWriter(to, ipc.WithSchema(schema))
	default:
		return nil, fault.New(fault.Invalid, "%q is no format for rows: use one of %v.", f, Formats())
	}
	return w, nil
}

// Write writes the rows of a batch. An error is that of the destination, or says that the batch does not fit the schema.
func (w *Writer) Write(batch arrow.RecordBatch) error {
	if w.stream != nil {
		return w.stream.Write(batch)
	}
	columns, err := encoders(batch)
	if err != nil {
		return err
	}
	for i := range int(batch.NumRows()) {
		w.separate()
		w.buffer = appendRow(w.buffer, w.names, columns, i)
		if w.format == NDJSON {
			w.buffer = append(w.buffer, '\n')
		}
		if len(w.buffer) >= flushBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return w.flush()
}

// separate writes what goes before a row.
func (w *Writer) separate() {
	if w.format == JSON {
		if w.any {
			w.buffer = append(w.buffer, ',')
		} else {
			w.buffer = append(w.buffer, '[')
		}
	}
	w.any = true
}

func (w *Writer) flush() error {
	if len(w.buffer) == 0 {
		return nil
	}
	_, err := w.to.Write(w.buffer)
	w.buffer = w.buffer[:0]
	return err
}

// Close writes what ends the format, without which readers know that rows are missing. It does not close the destination.
func (w *Writer) Close() error {
	switch {
	case w.stream != nil:
		return w.stream.Close()
	case w.format == JSON && w.any:
		w.buffer = append(w.buffer, ']')
	case w.format == JSON:
		w.buffer = append(w.buffer, "[]"...)
	}
	return w.flush()
}
