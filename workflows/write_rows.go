package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

const (
	// WriteRowsName is the name under which WriteRows is registered.
	WriteRowsName = "WriteRows"
	// DataQueue has the activities that turn rows into files, so that these hold up nothing else.
	DataQueue = "sluice-data"

	writePrefix = "write/"

	stageWriting    = "writing"
	stageCommitting = "committing"
	stageCleaning   = "cleaning"

	// parallelChunks is how many chunks of one write are worked on at once.
	parallelChunks = 16
)

// WriteRowsID is the workflow id of a split write.
func WriteRowsID(writeID string) string { return writePrefix + writeID }

// WriteRowsInput names the write.
type WriteRowsInput struct {
	Target activities.WriteTarget `json:"target"`
}

// WriteRowsResult counts rows of chunks; the write's own row tells the rest.
type WriteRowsResult struct {
	Rows int64 `json:"rows"`
}

// WriteRows lands a governed write whose rows were checked and lie in chunks: it makes data files of the chunks, side by
// side, commits all of them once, and removes the chunks. Until the commit nobody sees anything of the write; where it
// fails, nothing is left of it.
func WriteRows(ctx workflow.Context, in WriteRowsInput) (WriteRowsResult, error) {
	w := &writeRows{in: in}
	if err := w.setup(ctx); err != nil {
		return WriteRowsResult{}, err
	}
	return w.run(ctx)
}

type writeRows struct {
	in       WriteRowsInput
	out      WriteRowsResult
	failed   error // of the first chunk that failed
	progress Progress
}

func (w *writeRows) setup(ctx workflow.Context) error {
	w.progress = Progress{Stage: stageWriting, Table: w.in.Target.TableName, Total: w.in.Target.Chunks}
	return w.progress.answer(ctx)
}

func (w *writeRows) run(ctx workflow.Context) (WriteRowsResult, error) {
	err := w.chunks(ctx)
	if err == nil {
		w.progress.Stage = stageCommitting
		_, err = ordinary(ctx, landing(), references().CommitRows, activities.CommitRowsInput{Target: w.in.Target})
	}
	w.progress.Stage = stageCleaning
	cleaning, cancel := workflow.NewDisconnectedContext(ctx) // also of a run that is cancelled
	defer cancel()
	_, left := ordinary(cleaning, landing(), references().CleanRows, activities.CleanRowsInput{Target: w.in.Target})
	if left != nil {
		workflow.GetLogger(ctx).Warn("files of a write stay behind", "folder", w.in.Target.Folder, "write", w.in.Target.WriteID, "error", left)
	}
	w.progress.Stage = stageDone
	return w.out, err
}

// chunks makes data files of all chunks; the first failure ends it.
func (w *writeRows) chunks(ctx workflow.Context) error {
	slots := workflow.NewSemaphore(ctx, parallelChunks)
	all := workflow.NewWaitGroup(ctx)
	for chunk := range w.in.Target.Chunks {
		if err := slots.Acquire(ctx, 1); err != nil || w.failed != nil {
			break // cancelled, or pointless
		}
		all.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			w.chunk(ctx, chunk)
			slots.Release(1)
			all.Done()
		})
	}
	all.Wait(ctx)
	if w.failed != nil {
		return w.failed
	}
	return ctx.Err()
}

func (w *writeRows) chunk(ctx workflow.Context, chunk int) {
	done, err := ordinary(ctx, landing(), references().WriteRowsChunk, activities.WriteRowsChunkInput{Target: w.in.Target, Chunk: chunk})
	if err != nil {
		if w.failed == nil {
			w.failed = err
		}
		return
	}
	w.out.Rows += done.Rows
	w.progress.Done++
}
