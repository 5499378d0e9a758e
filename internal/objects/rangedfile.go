package objects

import (
	"io"
	"io/fs"
)

// readAhead is how many bytes sequential reads of an object ask for at once. Most manifests fit.
const readAhead = 4 << 20

// rangedFile is an object open for reading. ReadAt asks for what it needs; Read goes through a window of readAhead bytes.
type rangedFile struct {
	size  int64
	fetch func(p []byte, off int64) error

	pos      int64
	window   []byte // content from start on
	start    int64
	isClosed bool
}

// NewRangedFile makes a File of an object that is read in parts. fetch fills p, which is not empty and lies wholly in the
// object, from off on; it is called concurrently.
func NewRangedFile(size int64, fetch func(p []byte, off int64) error) File {
	return &rangedFile{size: size, fetch: fetch}
}

// Size gives the size in bytes.
func (f *rangedFile) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt.
func (f *rangedFile) ReadAt(p []byte, off int64) (int, error) {
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

// Read implements io.Reader.
func (f *rangedFile) Read(p []byte) (int, error) {
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
func (f *rangedFile) advance() error {
	window := make([]byte, min(readAhead, f.size-f.pos))
	if err := f.fetch(window, f.pos); err != nil {
		return err
	}
	f.window, f.start = window, f.pos
	return nil
}

// Seek implements io.Seeker.
func (f *rangedFile) Seek(offset int64, whence int) (int64, error) {
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
func (f *rangedFile) Close() error {
	f.isClosed, f.window = true, nil
	return nil
}
