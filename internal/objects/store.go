package objects

import (
	"context"
	"io"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

// Limits of one call.
const (
	MaxReadFile = 256 << 20 // bytes ReadFile gives at most; larger objects are read through OpenFile
	MaxList     = 1000      // objects List gives at most, and for a limit of 0
)

// Store keeps objects by absolute location. It is safe for concurrent use.
type Store interface {
	// ReadFile gives a whole object; fault.NotFound when it is missing, fault.TooLarge above MaxReadFile.
	ReadFile(ctx context.Context, location string) ([]byte, error)
	// CreateFile writes a new object, durably and whole or not at all. It never overwrites: fault.AlreadyExists.
	CreateFile(ctx context.Context, location string, data []byte) error
	// DeleteFile removes an object. A missing one is fine.
	DeleteFile(ctx context.Context, location string) error
	// Stat describes an object; fault.NotFound when it is missing.
	Stat(ctx context.Context, location string) (Info, error)
	// List gives the objects below prefix after the location after ("" for the first page), at most limit. A prefix that
	// does not exist has none. The order is that of the bytes of their locations; in Azure accounts with a hierarchical
	// namespace it is that of their segments, so that what is in folder a comes before a.txt.
	List(ctx context.Context, prefix, after string, limit int) ([]Info, error)
	// OpenFile opens an object for reading; ctx bounds the reads too. fault.NotFound when it is missing.
	OpenFile(ctx context.Context, location string) (File, error)
	// EnsureFolder makes the folder, and those above it, where the store has folders: engines that write into a
	// local warehouse themselves expect a table's metadata and data folders to be there.
	EnsureFolder(ctx context.Context, location string) error
}

// Info describes an object.
type Info struct {
	Location string // absolute, in the normal form of Location.String
	Size     int64  // bytes
	Modified time.Time
	// ETag is the store's name for the content, without quotes: another one after the object was replaced. Stores differ
	// in whether the same bytes get the same one again. Stat gives it, List does not.
	ETag string
}

// File is an object open for reading. Its ReadAt may be called concurrently, Read and Seek may not.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64 // bytes
}

// Missing is the answer to reading what is not there, in the words clients of Iceberg catalogs know.
func Missing(loc Location, cause error) error {
	err := fault.About(fault.NotFound, fault.File, "Failed to open input stream for file: %s", loc)
	err.Cause = cause
	return err
}

// Taken is the answer to creating what is already there.
func Taken(loc Location, cause error) error {
	err := fault.About(fault.AlreadyExists, fault.File, "File already exists: %s", loc)
	err.Cause = cause
	return err
}

// TooLarge is the answer to reading at once what is to be read in parts.
func TooLarge(loc Location, size, limit int64) error {
	return fault.About(fault.TooLarge, fault.File, "File %s has %d bytes; at most %d are read at once.", loc, size, limit)
}

// Replaced is the answer to reading on in an object that is another one by now.
func Replaced(loc Location, cause error) error {
	return fault.Wrap(cause, fault.Unavailable, "File %s was replaced while it was read. Try again.", loc)
}

// Stopped turns the end of a context into an error that says so; nil while it lives.
func Stopped(ctx context.Context, loc Location) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The request ended before the storage answered for %s.", loc)
	}
	return nil
}

// discard closes what was only read from: nothing is lost by an error.
func discard(c io.Closer) { _ = c.Close() }
