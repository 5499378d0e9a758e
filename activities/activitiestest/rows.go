package activitiestest

import (
	"context"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// RowsOfChunk is how many rows every chunk of a split write has.
const RowsOfChunk = 1000

// SplitState is what became of a split write.
type SplitState struct {
	Written  map[int]bool // chunks that are in data files
	Landed   int          // commits
	Cleaned  bool         // the chunks are gone
	LeftOver bool         // data files were cleaned away
}

// SplitWrite gives a write of that many chunks to a table.
func (w *World) SplitWrite(table string, chunks int) activities.WriteTarget {
	t := w.AddTable(table)
	id := uuid.NewSHA1(uuid.Nil, []byte("write "+table)).String()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.splits[id] = &SplitState{Written: map[int]bool{}}
	return activities.WriteTarget{
		WriteID: id, CatalogID: CatalogID, TableID: t.TableID, TableUUID: t.TableUUID, TableName: t.TableName,
		Folder: "file:///warehouse/sales/" + table + "/data/_sluice", Chunks: chunks,
	}
}

// Split gives what became of a write.
func (w *World) Split(id string) SplitState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.splits[id]
}

// WriteChunk implements activities.RowWriter.
func (w *World) WriteChunk(ctx context.Context, s models.SplitWrite, chunk int) (int64, error) {
	if err := w.called(ctx, "WriteChunk", s.TableID); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	state := w.splits[s.WriteID]
	if state.Cleaned {
		return 0, fault.New(fault.NotFound, "The chunk is gone.")
	}
	state.Written[chunk] = true
	return RowsOfChunk, nil
}

// CommitChunks implements activities.RowWriter.
func (w *World) CommitChunks(ctx context.Context, s models.SplitWrite) error {
	if err := w.called(ctx, "CommitChunks", s.TableID); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	state := w.splits[s.WriteID]
	if len(state.Written) != s.Chunks {
		return fault.New(fault.Invalid, "A chunk is not written.")
	}
	state.Landed = 1
	return nil
}

// CleanChunks implements activities.RowWriter.
func (w *World) CleanChunks(ctx context.Context, s models.SplitWrite) error {
	if err := w.called(ctx, "CleanChunks", s.TableID); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	state := w.splits[s.WriteID]
	state.Cleaned, state.LeftOver = true, state.Landed == 0
	return nil
}
