package objects

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/sluice-data/sluice/internal/fault"
)

// readFault says what went wrong when a file was read.
func readFault(loc Location, err error) error {
	switch {
	case absent(err), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENXIO):
		return Missing(loc, err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fault.Wrap(err, fault.Unavailable, "File %s was cut short while it was read. Try again.", loc)
	}
	return fileFault(loc, err)
}

// writeFault says what went wrong when a file or folder was made or removed: nothing was done.
func writeFault(loc Location, err error) error {
	switch {
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, fs.ErrExist):
		return fault.Wrap(err, fault.Invalid, "Location %s runs through a file where a folder must be. Choose another location.", loc)
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(err, fault.Unavailable, "The folder of %s was removed while it was written to. Try again.", loc)
	}
	return fileFault(loc, err)
}

// fileFault says what reading and writing have in common.
func fileFault(loc Location, err error) error {
	switch {
	case leadsOut(err):
		return fault.Wrap(err, fault.Forbidden, "Location %s leads out of its storage root through a symbolic link. Use the location that it leads to.", loc)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault.Wrap(err, fault.Unavailable, "The disk that holds %s is full. Free space on it and try again.", loc)
	case errors.Is(err, syscall.EROFS):
		return fault.Wrap(err, fault.Unavailable, "The disk that holds %s is read-only. Mount it for writing and try again.", loc)
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(err, fault.Unavailable, "Sluice lacks the file permissions for %s. Give them to the user it runs as and try again.", loc)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fault.Wrap(err, fault.Invalid, "Location %s has a name longer than the file system allows.", loc)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fault.Wrap(err, fault.Unavailable, "Too many files are open. Try again, and raise the limit of open files if this stays.")
	}
	return fault.Wrap(err, fault.Unavailable, "The disk did not do what was asked for %s. Try again, and look at the log if this stays.", loc)
}

// leadsOut tells whether os.Root refused to leave the root, or a symbolic link went round in circles. os.Root's
// refusal is not exported: it is what a path error has for a cause that is neither the system's nor a known one.
func leadsOut(err error) bool {
	if errors.Is(err, syscall.ELOOP) {
		return true
	}
	var cause error
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pathErr.Err
	}
	if cause == nil || errors.Is(cause, fs.ErrClosed) || errors.Is(cause, fs.ErrInvalid) {
		return false
	}
	_, system := errors.AsType[syscall.Errno](cause)
	return !system
}

// openFolder is root.OpenRoot, which for a file has an error of no known kind, with ENOTDIR for it.
func openFolder(root *os.Root, name string) (*os.Root, error) {
	folder, err := root.OpenRoot(name)
	if err == nil {
		return folder, nil
	}
	if info, statErr := root.Stat(name); statErr == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	return nil, err
}
