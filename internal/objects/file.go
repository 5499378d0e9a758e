package objects

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/sluice-data/sluice/internal/fault"
)

// FileStore keeps objects as files below one folder of the local file system. Nothing outside the folder can be
// reached: a symbolic link that leads out of it is refused, and so is an absolute one.
//
// Engines of the same host write into the folder by themselves. Folders are made with mode 0777 and files with 0666,
// less the process's umask: where engines run as other users, give Sluice a umask such as 0002 and a shared group.
type FileStore struct {
	base Location
	root *os.Root
	etag ETagFunc // nil: files have no ETag of their own

	mu      sync.Mutex
	adopted map[string]struct{} // folders known to be durable and swept of leftovers
}

// NewFileStore opens the folder, making it where it is missing, and makes sure that it can be written.
func NewFileStore(ctx context.Context, base Location) (*FileStore, error) {
	if !base.IsFile() || base.Key() == "" {
		return nil, fault.New(fault.Invalid, "Storage root %q is not a local folder. Use one such as file:///data/warehouse.", base)
	}
	if err := os.MkdirAll(base.Path(), 0o777); err != nil { //nolint:gosec // the umask decides, see FileStore
		return nil, writeFault(base, err)
	}
	root, err := os.OpenRoot(base.Path())
	if err != nil {
		return nil, writeFault(base, err)
	}
	syncParents(base.Path())
	s := &FileStore{base: base, root: root, adopted: map[string]struct{}{}}
	if err := s.probe(ctx); err != nil {
		_ = root.Close() // the probe's error is the one to tell
		return nil, err
	}
	return s, nil
}

// probe writes a temporary file into the folder and removes it.
func (s *FileStore) probe(ctx context.Context) error {
	if err := Stopped(ctx, s.base); err != nil {
		return err
	}
	name := tempName()
	if err := writeTemp(s.root, name, []byte("probe")); err != nil {
		return writeFault(s.base, err)
	}
	if err := s.root.Remove(name); err != nil {
		return writeFault(s.base, err)
	}
	return nil
}

// Close gives the folder back. The store is of no use afterwards.
func (s *FileStore) Close() error { return s.root.Close() }

// resolve gives the location and its path below the folder.
func (s *FileStore) resolve(ctx context.Context, location string) (Location, string, error) {
	loc, err := Parse(location)
	if err != nil {
		return Location{}, "", err
	}
	if !Within(s.base, loc) {
		return Location{}, "", fault.New(fault.Forbidden, "Location %s is outside the storage root %s.", loc, s.base)
	}
	if err := Stopped(ctx, loc); err != nil {
		return Location{}, "", err
	}
	name := strings.TrimPrefix(strings.TrimPrefix(loc.key, s.base.key), "/")
	if name == "" {
		name = "."
	}
	return loc, name, nil
}

// open opens a regular file for reading. A pipe that somebody left in the folder does not block it.
func (s *FileStore) open(ctx context.Context, location string) (*os.File, Location, fs.FileInfo, error) {
	loc, name, err := s.resolve(ctx, location)
	if err != nil {
		return nil, loc, nil, err
	}
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, loc, nil, readFault(loc, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		discard(f)
		return nil, loc, nil, readFault(loc, err)
	}
	return f, loc, info, nil
}

// ReadFile implements Store.
func (s *FileStore) ReadFile(ctx context.Context, location string) ([]byte, error) {
	return s.ReadFileUpTo(ctx, location, MaxReadFile)
}

// ReadFileUpTo is ReadFile with a limit of its own, in bytes; a larger object is fault.TooLarge and is not read.
func (s *FileStore) ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	f, loc, info, err := s.open(ctx, location)
	if err != nil {
		return nil, err
	}
	defer discard(f)
	if info.Size() > limit {
		return nil, TooLarge(loc, info.Size(), limit)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, readFault(loc, err)
	}
	return data, nil
}

// Stat implements Store.
func (s *FileStore) Stat(ctx context.Context, location string) (Info, error) {
	loc, name, err := s.resolve(ctx, location)
	if err != nil {
		return Info{}, err
	}
	info, err := s.root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Info{}, readFault(loc, err)
	}
	return s.describe(loc, name, info), nil
}

// DeleteFile implements Store. A folder is not an object: it stays.
func (s *FileStore) DeleteFile(ctx context.Context, location string) error {
	loc, name, err := s.resolve(ctx, location)
	if err != nil {
		return err
	}
	info, err := s.root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = s.root.Remove(name)
	}
	if err == nil || absent(err) {
		return nil
	}
	return writeFault(loc, err)
}

// OpenFile implements Store.
func (s *FileStore) OpenFile(ctx context.Context, location string) (File, error) {
	f, _, info, err := s.open(ctx, location)
	if err != nil {
		return nil, err
	}
	return openFile{File: f, size: info.Size()}, nil
}

// EnsureFolder implements Store.
func (s *FileStore) EnsureFolder(ctx context.Context, location string) error {
	loc, name, err := s.resolve(ctx, location)
	if err != nil {
		return err
	}
	folder, err := s.folder(name)
	if err != nil {
		return writeFault(loc, err)
	}
	discard(folder)
	return nil
}

// openFile is an open file with the size it was opened with.
type openFile struct {
	*os.File
	size int64
}

// Size gives the size in bytes.
func (f openFile) Size() int64 { return f.size }

// absent tells whether err means that there is no such file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
