package objects

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	// tempPrefix begins the names of files that are being written. Readers of a folder skip names with a dot.
	tempPrefix = ".sluice-tmp-"
	// tempLife is how old such a file must be to be a leftover of a process that died.
	tempLife = time.Hour
	// maxAdopted bounds the folders remembered, at some 100 bytes each.
	maxAdopted = 10_000
)

func tempName() string { return tempPrefix + uuid.NewString() }

// CreateFile implements Store. The content is written to a temporary file and flushed, then given its name by a hard
// link, which fails where the name is taken, and the folder is flushed. A crash leaves the whole file or none under
// its name, and at most a temporary file beside it, which is removed when the folder is next used.
func (s *FileStore) CreateFile(ctx context.Context, location string, data []byte) error {
	loc, name, err := s.resolve(ctx, location)
	if err != nil {
		return err
	}
	if name == "." {
		return Taken(loc, nil)
	}
	folder, err := s.folder(path.Dir(name))
	if err != nil {
		return writeFault(loc, err)
	}
	defer discard(folder)
	err = createIn(folder, path.Base(name), data)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return Taken(loc, err)
	case errors.Is(err, errors.ErrUnsupported):
		return fault.Wrap(err, fault.Unavailable, "The file system of %s supports neither hard links nor exclusive renames. Put the storage root on another one.", s.base)
	}
	return writeFault(loc, err)
}

// createIn makes the file name in the folder, whole and durable, or leaves the folder as it was.
func createIn(folder *os.Root, name string, data []byte) error {
	handle, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer discard(handle)
	temp := tempName()
	if err := writeTemp(folder, temp, data); err != nil {
		return err
	}
	err = publish(folder, handle, temp, name)
	if err != nil {
		return err
	}
	if err := syncFolder(handle); err != nil {
		_ = folder.Remove(name) // not durable, so not promised: better absent
		return err
	}
	return nil
}

// writeTemp writes and flushes the file, or removes it again.
func writeTemp(folder *os.Root, name string, data []byte) error {
	f, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = folder.Remove(name) // the first error is the one to tell
	}
	return err
}

// publish gives the temporary file its name unless that is taken; the temporary name is gone afterwards either way.
// File systems without hard links (exFAT, SMB) can mostly rename without replacing.
func publish(folder *os.Root, handle *os.File, temp, name string) error {
	err := folder.Link(temp, name)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM) {
		if err = renameNoReplace(handle, temp, name); err == nil {
			return nil
		}
	}
	_ = folder.Remove(temp) // a leftover is removed when the folder is next used
	return err
}

// folder opens a folder below the root, making it where it is missing. The first time in the life of the process that
// it is used, it and the folders above it are flushed (an engine may have made them and not cared), and
// temporary files that a dead process left are removed.
func (s *FileStore) folder(name string) (*os.Root, error) {
	folder, err := openFolder(s.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		s.forget(name)
		if err := s.root.MkdirAll(name, 0o777); err != nil {
			return nil, err
		}
		folder, err = openFolder(s.root, name)
	}
	if err != nil {
		return nil, err
	}
	if s.knows(name) {
		return folder, nil
	}
	if err := s.syncUpwards(name); err != nil {
		discard(folder)
		return nil, err
	}
	sweep(folder)
	s.remember(name)
	return folder, nil
}

func (s *FileStore) knows(folder string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.adopted[folder]
	return known
}

func (s *FileStore) remember(folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.adopted) >= maxAdopted {
		clear(s.adopted)
	}
	s.adopted[folder] = struct{}{}
}

// forget drops a folder and, as it may have gone with one of them, those above it.
func (s *FileStore) forget(folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; folder != "."; folder = path.Dir(folder) {
		delete(s.adopted, folder)
	}
}

// syncUpwards flushes the folder and those above it up to the root. One above that this process may pass through and
// not read belongs to somebody else, who made it durable or did not.
func (s *FileStore) syncUpwards(name string) error {
	for ; ; name = path.Dir(name) {
		handle, err := s.root.Open(name)
		if err == nil {
			err = syncFolder(handle)
			discard(handle)
		}
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		if name == "." {
			return nil
		}
	}
}

// syncParents flushes the folders above a store's, which may have been made a moment ago, as far as they can be read.
func syncParents(folder string) {
	for folder != "/" {
		folder = path.Dir(folder)
		if handle, err := os.Open(folder); err == nil { //nolint:gosec // a configured root
			_ = handle.Sync() // made by somebody else, most likely long ago
			discard(handle)
		}
	}
}

// syncFolder flushes a folder's entries where the file system has such a call.
func syncFolder(folder *os.File) error {
	err := folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// sweep removes the temporary files of processes that died, at best effort.
func sweep(folder *os.Root) {
	handle, err := folder.Open(".")
	if err != nil {
		return
	}
	defer discard(handle)
	names, _ := handle.Readdirnames(-1) // what could be read is swept
	for _, name := range names {
		if !strings.HasPrefix(name, tempPrefix) {
			continue
		}
		if info, err := folder.Lstat(name); err == nil && time.Since(info.ModTime()) > tempLife {
			_ = folder.Remove(name) // tried again by the next process
		}
	}
}
