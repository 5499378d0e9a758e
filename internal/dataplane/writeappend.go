package dataplane

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// cargo is what a commit has to put in place. Until it is handed over to a landing it is its sink's to remove.
type cargo struct {
	adds      []*tableio.Written
	manifests []tableio.ManifestRef // of data files that others wrote
	lost      *rowSet               // rows of the log that do not land
	keys      []arrow.RecordBatch   // of an upsert: keys of the rows that land, in their order
	split     *splitWriter          // nil: all rows are in files
}

// newSink makes the sink of a mode.
func (w *writing) newSink(ctx context.Context) (sink, error) {
	if w.in.Mode == models.UpsertRows {
		return newUpsertSink(w), nil
	}
	files, err := w.newFileWriter(ctx)
	return &appendSink{w: w, files: files}, err
}

func (w *writing) newFileWriter(ctx context.Context) (*tableio.FileWriter, error) {
	return w.s.IO.NewFileWriter(ctx, w.table.Document, tableio.FileOptions{Name: w.id, MemoryBytes: w.memory.files()})
}

// appendSink writes rows into data files as they arrive. From a size on, it puts them down in chunks for workers.
type appendSink struct {
	w       *writing
	files   *tableio.FileWriter
	written *tableio.Written
	split   *splitWriter
}

func (a *appendSink) add(ctx context.Context, batch arrow.RecordBatch, _ [][16]byte) error {
	if a.split == nil && a.w.s.Split != nil && a.w.in.received.bytes > a.w.s.Limits.SplitAfter {
		a.split = newSplitWriter(a.w)
	}
	if a.split != nil {
		return a.split.add(ctx, batch)
	}
	return a.files.Write(batch)
}

func (a *appendSink) finish(ctx context.Context) (cargo, error) {
	written, err := a.files.Close()
	if err != nil {
		return cargo{}, err
	}
	a.written = written
	out := cargo{adds: []*tableio.Written{written}, split: a.split}
	if a.split != nil {
		err = a.split.finish(ctx)
	}
	return out, err
}

func (a *appendSink) abort(ctx context.Context) {
	a.files.Abort()
	if a.written != nil {
		a.written.Remove(ctx)
	}
	if a.split != nil {
		a.split.abort(ctx)
	}
}

func (a *appendSink) release() {}
