package objects

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames a file within the folder unless the new name is taken: EEXIST. A file system that cannot
// answers EINVAL, which is told as ENOTSUP: an errors.ErrUnsupported.
func renameNoReplace(folder *os.File, from, to string) error {
	fd := int(folder.Fd())
	err := unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) {
		err = unix.ENOTSUP
	}
	if err != nil {
		return &os.LinkError{Op: "renameat2", Old: from, New: to, Err: err}
	}
	return nil
}
