package reconcile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// rangedFiles opens objects for reading in parts.
type rangedFiles interface {
	OpenFile(ctx context.Context, location string) (objects.File, error)
}

// Limits of reading data and delete files.
const (
	largestFooter = 32 << 20 // bytes, of a Parquet file
	tailBytes     = 64 << 10 // read at once from a file's end: most footers fit
	pageBuffer    = 1 << 20  // bytes asked for at once
	largestPage   = 32 << 20 // bytes, unpacked: writers aim at 1 MB
	largestVector = 64 << 20 // bytes
)

// errScanLimit says that a count has read what it may.
var errScanLimit = errors.New("scan limit")

// content is a data or delete file that is open for reading. It reads no more than left has, and keeps why it could not be
// read: decoders may hide it.
type content struct {
	ctx     context.Context // of the reads, which take none
	from    io.ReaderAt
	size    int64
	left    *atomic.Int64 // bytes
	failed  error
	tail    []byte
	release func()
}

// open opens a file, in parts where the store can, and else whole.
func (x *exactCount) open(ctx context.Context, kind string, f *listedFile) (*content, error) {
	c := &content{ctx: ctx, left: &x.left, release: func() {}}
	if ranged, ok := x.source.files.(rangedFiles); ok {
		opened, err := ranged.OpenFile(ctx, f.path)
		if err != nil {
			return nil, readFault(ctx, err, kind, f.path)
		}
		c.from, c.size, c.release = opened, opened.Size(), func() { _ = opened.Close() }
		return c, nil
	}
	raw, release, err := x.source.read(ctx, kind, f.path, 0)
	if err != nil {
		return nil, err
	}
	c.from, c.size, c.release = bytes.NewReader(raw), int64(len(raw)), release
	return c, nil
}

// ReadAt implements io.ReaderAt.
func (c *content) ReadAt(p []byte, off int64) (int, error) {
	if start := c.size - int64(len(c.tail)); off >= start && off+int64(len(p)) <= c.size {
		return copy(p, c.tail[off-start:]), nil
	}
	if err := c.ctx.Err(); err != nil {
		return 0, c.fail(err)
	}
	if c.left.Add(-int64(len(p))) < 0 {
		return 0, c.fail(errScanLimit)
	}
	n, err := c.from.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, c.fail(err)
	}
	return n, err
}

func (c *content) fail(err error) error {
	if c.failed == nil {
		c.failed = err
	}
	return err
}

// part reads so many bytes from an offset.
func (c *content) part(off, size int64) ([]byte, error) {
	if off < 0 || size < 0 || size > c.size || off > c.size-size {
		return nil, fmt.Errorf("%w: beyond its end", errDecode)
	}
	out := make([]byte, size)
	if n, err := c.ReadAt(out, off); int64(n) < size {
		return nil, fmt.Errorf("%w: truncated: %w", errDecode, err)
	}
	return out, nil
}

// read opens a file and decodes it. It is the one place where decoders may fail, panicking or not: a file that makes no
// sense ends the count as inexact, one that cannot be read as source.read says.
func (x *exactCount) read(ctx context.Context, kind string, f *listedFile, decode func(*content) error) error {
	c, err := x.open(ctx, kind, f)
	if err != nil {
		return err
	}
	defer c.release()
	err = guarded(func() error { return decode(c) })
	inexact, isInexact := errors.AsType[inexactError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(c.failed, errScanLimit):
		return inexactError(fmt.Sprintf("counting would read more than %d MB of data files", max(x.limits.scan>>20, 1)))
	case c.failed != nil:
		return readFault(ctx, c.failed, kind, f.path)
	case isInexact:
		return inexact
	}
	if err, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return inexactError(fmt.Sprintf("the %s %s cannot be read", kind, f.path))
}

// guarded turns a panic into an error.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: decoder panic: %v", errDecode, p)
		}
	}()
	return do()
}

// parquet opens a Parquet file. Nothing is set aside for what its footer merely claims.
func (c *content) parquet() (*file.Reader, error) {
	tail, err := c.part(max(c.size-tailBytes, 0), min(c.size, tailBytes))
	if err != nil {
		return nil, err
	}
	c.tail = tail
	const trailer = 8
	if len(tail) < trailer {
		return nil, fmt.Errorf("%w: too short", errDecode)
	}
	if size := binary.LittleEndian.Uint32(tail[len(tail)-trailer:]); size > largestFooter {
		return nil, fmt.Errorf("%w: a footer of %d bytes", errDecode, size)
	}
	properties := parquet.NewReaderProperties(nil)
	properties.BufferedStreamEnabled, properties.BufferSize = true, pageBuffer
	properties.MaxCompressedPageSize, properties.MaxUncompressedPageSize = largestPage, largestPage
	return file.NewParquetReader(io.NewSectionReader(c, 0, c.size), file.WithReadProps(properties))
}
