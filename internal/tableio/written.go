package tableio

import (
	"context"

	"github.com/apache/iceberg-go"
)

// Written is data files that no commit refers to yet.
type Written struct {
	DataFiles []iceberg.DataFile
	Rows      int64
	Bytes     int64    // of the files
	Paths     []string // of the files, and of those whose storing failed

	io     *IO
	layout *layout
}

// Remove deletes the files, for a commit that did not happen.
func (w *Written) Remove(ctx context.Context) { w.io.remove(ctx, w.Paths) }
