package activities

import "context"

// WriteRowsChunkName is the name of WriteRowsChunk in histories. It never changes.
const WriteRowsChunkName = "WriteRowsChunk"

// WriteRowsChunkInput names a chunk.
type WriteRowsChunkInput struct {
	Target WriteTarget `json:"target"`
	Chunk  int         `json:"chunk"`
}

// WriteRowsChunkResult counts its rows.
type WriteRowsChunkResult struct {
	Rows int64 `json:"rows,omitempty"`
}

// WriteRowsChunk makes data files of a chunk's rows, which nobody sees before they are committed. It is idempotent: which
// files a chunk became is noted beside it, and what an attempt left that died before is garbage.
func (a *Activities) WriteRowsChunk(ctx context.Context, in WriteRowsChunkInput) (WriteRowsChunkResult, error) {
	defer heartbeat(ctx)()
	w, err := a.writer()
	if err != nil {
		return WriteRowsChunkResult{}, toTemporal(ctx, err)
	}
	rows, err := w.WriteChunk(ctx, in.Target.split(), in.Chunk)
	return WriteRowsChunkResult{Rows: rows}, ofWrite(ctx, err)
}
