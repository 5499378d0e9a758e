package folder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/versity/versitygw/s3err"
)

// absent tells whether err means that there is no such object.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) ||
		errors.Is(err, syscall.ENXIO) || errors.Is(err, s3err.GetAPIError(s3err.ErrNoSuchKey))
}

// fail gives the S3 error for what went wrong. What is nobody's fault but ours is logged; the client learns no more
// than that it happened.
func (b *Backend) fail(doing string, err error) error {
	var known s3err.S3Error
	var system syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case absent(err):
		return s3err.GetAPIError(s3err.ErrNoSuchKey)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.Canceled), errors.Is(err, os.ErrDeadlineExceeded):
		return s3err.GetAPIError(s3err.ErrIncompleteBody)
	case errors.Is(err, syscall.ENOSPC):
		b.log.Error("The disk of the warehouse is full.", "while", doing)
		return s3err.GetAPIError(s3err.ErrNoSpaceLeftOnDevice)
	case errors.Is(err, syscall.EDQUOT):
		return s3err.GetAPIError(s3err.ErrQuotaExceeded)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return badKey("A key here is the path of a file: this one is longer than the file system allows.")
	case errors.As(err, new(*fs.PathError)) && !errors.As(err, &system):
		return s3err.GetAPIError(s3err.ErrNoSuchKey) // os.Root did not leave the folder
	}
	b.log.Error("The S3 endpoint could not do what was asked.", "while", doing, "error", err)
	return s3err.GetAPIError(s3err.ErrInternalError)
}
