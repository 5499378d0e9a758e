package folder

import (
	"crypto/md5" //nolint:gosec // S3's ETag is one
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
)

const (
	// copyBuffer is the size of the buffer between a request's body and the file, in bytes.
	copyBuffer = 256 << 10
	// stagedLife is how old a half-written file must be to be a leftover of a process that died.
	stagedLife = time.Hour
	// uploadLife is how long an upload in parts that nobody finished is kept after its last part.
	uploadLife = 7 * 24 * time.Hour
)

// staged is a file that has no key yet.
type staged struct {
	root *os.Root
	name string
	file *os.File
	sum  hash.Hash // MD5 of what was written
	size int64
}

// newStaged makes one in the work folder. The caller discards it, also after it got its name.
func (b *bucket) newStaged() (*staged, error) {
	name := path.Join(workFolder, tempPrefix+uuid.NewString())
	f, err := b.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		if err := b.root.Mkdir(workFolder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		f, err = b.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return nil, err
	}
	return &staged{root: b.root, name: name, file: f, sum: md5.New()}, nil //nolint:gosec // S3's ETag is one
}

// discard closes the file and removes it, unless it was moved.
func (s *staged) discard() {
	_ = s.file.Close()        // closed before if it matters
	_ = s.root.Remove(s.name) // gone, or swept later
}

// fill writes the body, which must have the size. It reads up to the body's end, where checksums are compared.
func (s *staged) fill(body io.Reader, size int64) error {
	n, err := io.CopyBuffer(io.MultiWriter(s.file, s.sum), io.LimitReader(body, size+1), make([]byte, copyBuffer))
	s.size += n
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// etag is the MD5 sum of what was written, without quotes.
func (s *staged) etag() string { return hex.EncodeToString(s.sum.Sum(nil)) }

// seal stores the attributes and flushes the file. It gives the ETag that the object will have.
func (s *staged) seal(a attributes, supported bool) (string, error) {
	info, err := s.file.Stat()
	if err != nil {
		return "", err
	}
	if supported {
		a.Size, a.Modified = info.Size(), info.ModTime().UnixNano()
		err = writeAttributes(s.file, a)
	} else {
		a.ETag = derivedETag(info)
	}
	if err == nil {
		err = s.file.Sync()
	}
	if closeErr := s.file.Close(); err == nil {
		err = closeErr
	}
	return a.ETag, err
}

// makeFolder makes the folder and those above it, each durable before it is used.
func (b *bucket) makeFolder(name string) error {
	if name == "." {
		return nil
	}
	for _, dir := range append(parents(name), name) {
		info, err := b.root.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			if err = b.root.Mkdir(dir, 0o777); err == nil {
				err = b.sync(path.Dir(dir))
			} else if errors.Is(err, fs.ErrExist) {
				err = nil
			}
		} else if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sync flushes a folder's entries where the file system has such a call.
func (b *bucket) sync(name string) error {
	dir, err := b.root.Open(name)
	if err != nil {
		return err
	}
	err = dir.Sync()
	_ = dir.Close() // nothing was written through it
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// sweep removes what processes that died left half-written.
func (b *bucket) sweep() error {
	dir, err := b.root.Open(workFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close() // nothing was written through it
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // gone meanwhile
		}
		age := time.Since(info.ModTime())
		if entry.IsDir() && age > uploadLife || strings.HasPrefix(entry.Name(), tempPrefix) && age > stagedLife {
			_ = b.root.RemoveAll(path.Join(workFolder, entry.Name())) // tried again by the next process
		}
	}
	return nil
}
