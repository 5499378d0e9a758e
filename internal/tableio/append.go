package tableio

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Append is rows for a table, as it was when it was loaded.
type Append struct {
	Table   models.TableIdent
	Base    *metadata.Document
	Rows    []arrow.RecordBatch
	Summary map[string]string // added to the snapshot's
	Sorted  bool              // the rows are in the order of the table, and its files say so
}

// Append writes the rows and commits them as one snapshot after the head of Base, and gives its id; 0 when there are no
// rows. fault.Conflict: the table has another head by now, and nothing was appended.
func (o *IO) Append(ctx context.Context, caller policy.Caller, cat models.Catalog, in Append) (int64, error) {
	w, err := o.NewFileWriter(ctx, in.Base, FileOptions{Sorted: in.Sorted})
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	for _, rows := range in.Rows {
		if err := w.Write(rows); err != nil {
			return 0, err
		}
	}
	written, err := w.Close()
	if err != nil || written.Rows == 0 {
		return 0, err
	}
	staged, err := o.Stage(ctx, Delta{Table: in.Table, Base: in.Base, Adds: []*Written{written}, Summary: in.Summary})
	if err != nil {
		written.Remove(ctx)
		return 0, err
	}
	if _, err := o.core.CommitTable(ctx, caller, cat, staged.Input); err != nil {
		staged.Undo(ctx, err)
		return 0, err
	}
	return staged.SnapshotID, nil
}
