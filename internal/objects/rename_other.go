//go:build !linux

package objects

import (
	"errors"
	"os"
)

// renameNoReplace is offered by Linux alone; elsewhere the file system must have hard links.
func renameNoReplace(_ *os.File, from, to string) error {
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: errors.ErrUnsupported}
}
