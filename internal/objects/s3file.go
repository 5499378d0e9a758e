package objects

import (
	"context"
	"io"
	"io/fs"

	"github.com/minio/minio-go/v7"

	"github.com/sluice-data/sluice/internal/fault"
)

// readAhead is how many bytes sequential reads of an object ask for at once. Most manifests fit.
const readAhead = 4 << 20

// s3File is an object open for reading. ReadAt asks for what it needs; Read goes through a window of readAhead bytes.
type s3File struct {
	ctx   context.Context // of OpenFile: io's interfaces carry none
	store *S3Store
	loc   Location
	size  int64
	etag  string // "" where the store gives none

	pos      int64
	window   []byte // content from start on
	start    int64
	isClosed bool
}

// Size gives the size in bytes.
func (f *s3File) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. An answer that breaks off is asked for again.
func (f *s3File) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	want := min(int64(len(p)), f.size-off)
	if want <= 0 {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	if err := f.fetch(p[:want], off); err != nil {
		return 0, err
	}
	if want < int64(len(p)) {
		return int(want), io.EOF
	}
	return int(want), nil
}

// fetch fills p, which lies wholly in the object, from off on.
func (f *s3File) fetch(p []byte, off int64) error {
	ctx, cancel := context.WithTimeout(f.ctx, s3CallTimeout)
	defer cancel()
	opts := minio.GetObjectOptions{}
	if err := opts.SetRange(off, off+int64(len(p))-1); err != nil {
		return s3Fault(ctx, f.loc, err)
	}
	if f.etag != "" {
		if err := opts.SetMatchETag(f.etag); err != nil {
			return s3Fault(ctx, f.loc, err)
		}
	}
	for attempt := 1; ; attempt++ {
		body, info, _, err := f.store.core.GetObject(ctx, f.loc.Bucket(), f.loc.Key(), opts)
		if conditionFailed(err) {
			return fault.Wrap(err, fault.Unavailable, "File %s was replaced while it was read. Try again.", f.loc)
		}
		if err != nil {
			return s3Fault(ctx, f.loc, err)
		}
		if info.Size != int64(len(p)) {
			discard(body)
			return fault.New(fault.Unavailable, "The object store gave %d bytes of %s where %d were asked for. It must support ranged reads.", info.Size, f.loc, len(p))
		}
		_, err = io.ReadFull(body, p)
		discard(body)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || attempt == s3Attempts {
			return s3Fault(ctx, f.loc, err)
		}
	}
}

// Read implements io.Reader.
func (f *s3File) Read(p []byte) (int, error) {
	if f.isClosed {
		return 0, fs.ErrClosed
	}
	if len(p) == 0 {
		return 0, nil
	}
	if f.pos >= f.size {
		return 0, io.EOF
	}
	if f.pos < f.start || f.pos >= f.start+int64(len(f.window)) {
		if err := f.advance(); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.window[f.pos-f.start:])
	f.pos += int64(n)
	return n, nil
}

// advance moves the window to the position.
func (f *s3File) advance() error {
	window := make([]byte, min(readAhead, f.size-f.pos))
	if err := f.fetch(window, f.pos); err != nil {
		return err
	}
	f.window, f.start = window, f.pos
	return nil
}

// Seek implements io.Seeker.
func (f *s3File) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.pos
	case io.SeekEnd:
		offset += f.size
	case io.SeekStart:
	default:
		return 0, fs.ErrInvalid
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	f.pos = offset
	return offset, nil
}

// Close gives the window back.
func (f *s3File) Close() error {
	f.isClosed, f.window = true, nil
	return nil
}
