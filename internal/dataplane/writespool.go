package dataplane

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/sluice-data/sluice/internal/fault"
)

// spooledInMemory is how much of a spool stays in memory, in bytes.
const spooledInMemory = 4 << 20

// spool keeps batches until it is known which of their rows land: a few in memory, more in a file that has no name, so
// that nothing is left of it whatever dies.
type spool struct {
	schema *arrow.Schema
	buffer bytes.Buffer
	file   *os.File
	out    *ipc.Writer
}

func newSpool(schema *arrow.Schema) *spool {
	s := &spool{schema: schema}
	s.out = ipc.NewWriter(s, ipc.WithSchema(schema))
	return s
}

// Write implements io.Writer for the encoder.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.buffer.Len()+len(p) <= spooledInMemory {
		return s.buffer.Write(p)
	}
	if s.file == nil {
		if err := s.moveOut(); err != nil {
			return 0, err
		}
	}
	return s.file.Write(p)
}

// moveOut moves what is in memory to a file.
func (s *spool) moveOut() error {
	f, err := os.CreateTemp("", "sluice-rows-*") // mode 0600
	if err != nil {
		return err
	}
	s.file = f
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	_, err = f.Write(s.buffer.Bytes())
	s.buffer = bytes.Buffer{}
	return err
}

func (s *spool) add(batch arrow.RecordBatch) error { return spoolError(s.out.Write(batch)) }

// each gives the batches again, in order; each is valid during the call.
func (s *spool) each(fn func(arrow.RecordBatch) error) error {
	if err := s.out.Close(); err != nil {
		return spoolError(err)
	}
	var from io.Reader = &s.buffer
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return spoolError(err)
		}
		from = s.file
	}
	reader, err := ipc.NewReader(from, ipc.WithSchema(s.schema))
	if err != nil {
		return spoolError(err)
	}
	defer reader.Release()
	for reader.Next() {
		if err := fn(reader.RecordBatch()); err != nil {
			return err
		}
	}
	if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
		return spoolError(err)
	}
	return nil
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
	s.buffer = bytes.Buffer{}
}

func spoolError(err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(err, fault.Unavailable, "The server has no room to keep the rows of this write until they land. Nothing was written: tell its operators, and send it again later.")
}
