package tableread

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"
	"sync/atomic"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// What files are called in messages.
const (
	dataFileKind   = "data file"
	positionDelete = "position delete file"
	equalityDelete = "equality delete file"
	deletionVector = "deletion vector"
)

// source is a data or delete file that is being read. It counts what is read and keeps why it could not be read: decoders
// may hide it. It is safe for concurrent use, by those who said that they use it.
type source struct {
	ctx   context.Context //nolint:containedctx // of the reads, which take none
	files Files
	kind  string
	path  string
	size  int64
	read  *atomic.Int64 // bytes, of the whole scan

	mutex  sync.Mutex
	file   objects.File // open while there are users
	users  int
	failed error
}

// openSource opens a file for one user.
func (r *Reader) openSource(ctx context.Context, kind, path string, read *atomic.Int64) (*source, error) {
	s := &source{ctx: ctx, files: r.files, kind: kind, path: path, read: read, size: -1}
	return s, s.use()
}

// use opens the file again if nobody has it open. Each use has its close.
func (s *source) use() error {
	s.mutex.Lock()
	var err error
	if s.users == 0 {
		err = s.open()
	}
	if err == nil {
		s.users++
	}
	s.mutex.Unlock()
	return s.fault(err)
}

func (s *source) open() error {
	file, err := s.files.OpenFile(s.ctx, s.path)
	if err != nil {
		s.failed = err
		return err
	}
	if s.size >= 0 && s.size != file.Size() {
		_ = file.Close()
		return fmt.Errorf("%w: it was replaced", errDecode)
	}
	s.file, s.size = file, file.Size()
	return nil
}

func (s *source) close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.users--; s.users == 0 {
		_ = s.file.Close()
		s.file = nil
	}
}

// ReadAt implements io.ReaderAt.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.file.ReadAt(p, off)
	s.read.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		s.mutex.Lock()
		if s.failed == nil {
			s.failed = err
		}
		s.mutex.Unlock()
	}
	return n, err
}

// part reads so many bytes from an offset.
func (s *source) part(off, size int64) ([]byte, error) {
	if off < 0 || size < 0 || size > s.size || off > s.size-size {
		return nil, fmt.Errorf("%w: beyond its end", errDecode)
	}
	out := make([]byte, size)
	return out, s.fill(out, off)
}

// fill reads as many bytes as there is room for.
func (s *source) fill(out []byte, off int64) error {
	if n, err := s.ReadAt(out, off); n < len(out) {
		return fmt.Errorf("%w: truncated: %w", errDecode, err)
	}
	return nil
}

// decode runs a decoder over the file. It is the one place where decoders may fail, panicking or not.
func (s *source) decode(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.fault(fmt.Errorf("%w: decoder panic: %v", errDecode, p))
		}
	}()
	return s.fault(do())
}

// stopped carries an error of whoever takes the rows through decoders, which did not fail.
type stopped struct{ error }

func (s stopped) Unwrap() error { return s.error }

// fault says what a failure to read means: that of the store, of a file that is damaged, or one that was a fault before.
func (s *source) fault(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[stopped](err); ok {
		return err
	}
	s.mutex.Lock()
	failed := s.failed
	s.mutex.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case fault.Is(failed, fault.NotFound):
		return fault.Wrap(s.in(failed), fault.Internal, "The %s %s is missing. Restore it, or roll the table back to a snapshot without it.", s.kind, shown(s.path))
	case failed != nil:
		return fault.Wrap(s.in(failed), fault.Unavailable, "The %s %s could not be read just now. Try again.", s.kind, shown(s.path))
	}
	if own, ok := errors.AsType[*fault.Error](err); ok {
		return own
	}
	return fault.Wrap(s.in(err), fault.Internal, "The %s %s is damaged. Restore it, or roll the table back to a snapshot without it.", s.kind, shown(s.path))
}

// in says for the log where a failure was.
func (s *source) in(err error) error { return fmt.Errorf("%s: %w", s.path, err) }

// shown is what a file is called in answers: its folders may be named after values that not all may see.
func shown(location string) string { return path.Base(location) }

// readable is nil when the rows of a file can be read.
func readable(kind, location, format string, encrypted bool) error {
	switch {
	case encrypted:
		return fault.New(fault.Unsupported, "The %s %s is encrypted, which is not read here. Read the table with an engine that has the keys.", kind, shown(location))
	case format != "parquet":
		return fault.New(fault.Unsupported, "The %s %s is in the format %s; only Parquet is read here. Rewrite the table's files as Parquet.", kind, shown(location), format)
	}
	return nil
}
