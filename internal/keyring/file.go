package keyring

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sluice-data/sluice/internal/fault"
)

// fileLimit bounds what is read of a key file, in bytes.
const fileLimit = 64 << 10

// ReadOrCreate reads the ring from a file as Parse reads text; when there is no file, it makes one of mode 0600 with a
// fresh key. Of several processes that do this at once, all get the same ring. A file that others than its owner may
// read is refused.
func ReadOrCreate(path string) (*Ring, error) {
	r, err := readFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if err := createFile(path, Generate()+"\n"); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the file of encryption keys %s cannot be made: check its folder", path)
	}
	return readFile(path)
}

func readFile(path string) (*Ring, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the file of encryption keys %s cannot be opened: check its owner and mode", path)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fault.Wrap(err, fault.Unavailable, "the file of encryption keys %s cannot be examined", path)
	case !info.Mode().IsRegular():
		return nil, fault.New(fault.Invalid, "%s is to be the file of encryption keys and is no file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fault.New(fault.Invalid, "the file of encryption keys %s is open to others than its owner: run chmod 600 on it, and make a new first key if they may have read it", path)
	case info.Size() > fileLimit:
		return nil, fault.New(fault.Invalid, "%s is too long for a file of encryption keys", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, fileLimit))
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the file of encryption keys %s cannot be read", path)
	}
	r, err := Parse(string(text))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "the file of encryption keys %s is wrong: %s", path, fault.PublicMessage(err))
	}
	return r, nil
}

// createFile writes a file beside its place and links it there whole, unless another process was faster.
func createFile(path, text string) error {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, ".keys-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(folder)
}

// syncFolder makes a new name last through a power cut: what a lost key encrypted is lost with it.
func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
