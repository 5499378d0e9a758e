package objects

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	icebergio "github.com/apache/iceberg-go/io"

	"github.com/sluice-data/sluice/internal/fault"
)

// IcebergIO lets iceberg-go read through a Store, so that its readers see what the store allows and nothing else.
// It refuses to write: Sluice's files are created through Store.CreateFile, which never overwrites.
type IcebergIO struct {
	ctx   context.Context // iceberg-go's interfaces carry none
	store Store
}

var (
	_ icebergio.ReadFileIO  = (*IcebergIO)(nil)
	_ icebergio.WriteFileIO = (*IcebergIO)(nil)
	_ icebergio.StatIO      = (*IcebergIO)(nil)
)

// NewIcebergIO makes an IO whose reads end with ctx: make one for each request or job.
func NewIcebergIO(ctx context.Context, store Store) *IcebergIO {
	return &IcebergIO{ctx: ctx, store: store}
}

// Open opens an object for reading.
func (i *IcebergIO) Open(name string) (icebergio.File, error) {
	f, err := i.store.OpenFile(i.ctx, name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return icebergFile{File: f, name: name}, nil
}

// ReadFile reads a whole object.
func (i *IcebergIO) ReadFile(name string) ([]byte, error) {
	data, err := i.store.ReadFile(i.ctx, name)
	if err != nil {
		return nil, pathError("read", name, err)
	}
	return data, nil
}

// Stat describes an object.
func (i *IcebergIO) Stat(name string) (fs.FileInfo, error) {
	info, err := i.store.Stat(i.ctx, name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return fileInfo{name: path.Base(name), size: info.Size, modified: info.Modified}, nil
}

// Remove refuses.
func (*IcebergIO) Remove(name string) error { return readOnly("remove", name) }

// Create refuses.
func (*IcebergIO) Create(name string) (icebergio.FileWriter, error) {
	return nil, readOnly("create", name)
}

// WriteFile refuses.
func (*IcebergIO) WriteFile(name string, _ []byte) error { return readOnly("write", name) }

// readOnly is the answer to every write.
func readOnly(op, name string) error {
	err := fault.New(fault.Unsupported, "Files are not written or removed through this reader: %s.", shown(name))
	return &fs.PathError{Op: op, Path: name, Err: errors.Join(err, fs.ErrPermission)}
}

// pathError gives iceberg-go the error type it asks for; the fault stays in the chain.
func pathError(op, name string, err error) error {
	if fault.Is(err, fault.NotFound) {
		err = errors.Join(err, fs.ErrNotExist)
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// icebergFile adds the Stat that iceberg-go asks for.
type icebergFile struct {
	File
	name string
}

// Stat describes the open object; the time of its last change is not known here.
func (f icebergFile) Stat() (fs.FileInfo, error) {
	return fileInfo{name: path.Base(f.name), size: f.Size()}, nil
}

// fileInfo is what a Store knows of an object, as an fs.FileInfo.
type fileInfo struct {
	name     string
	size     int64
	modified time.Time
}

// Name gives the last segment of the location.
func (f fileInfo) Name() string { return f.name }

// Size gives the size in bytes.
func (f fileInfo) Size() int64 { return f.size }

// Mode is that of a file nobody writes.
func (f fileInfo) Mode() fs.FileMode { return 0o444 }

// ModTime is zero where it is not known.
func (f fileInfo) ModTime() time.Time { return f.modified }

// IsDir is false: stores hold objects.
func (f fileInfo) IsDir() bool { return false }

// Sys gives nothing.
func (f fileInfo) Sys() any { return nil }
