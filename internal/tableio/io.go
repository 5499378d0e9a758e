package tableio

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

// undoWithin bounds the removal of files of a write that did not happen; what is left is garbage.
const undoWithin = 30 * time.Second

// removers is how many files are removed at a time.
const removers = 8

// IO writes files of tables and makes commits of them. It holds no state and is safe for concurrent use.
type IO struct {
	core  Core
	files Files
	now   func() time.Time
}

// New makes an IO. core is used by Append alone.
func New(core Core, files Files, now func() time.Time) *IO {
	return &IO{core: core, files: files, now: now}
}

// remove deletes files that nothing refers to, whatever became of the context. One that stays is garbage.
func (o *IO) remove(ctx context.Context, locations []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	slots := make(chan struct{}, removers)
	var all sync.WaitGroup
	for _, location := range locations {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			_ = o.files.DeleteFile(ctx, location)
		})
	}
	all.Wait()
}

// undone tells whether an error says that a commit did not happen. Of one whose outcome is not known everything stays.
func undone(err error) bool { return err != nil && !fault.Is(err, fault.UnknownState) }
