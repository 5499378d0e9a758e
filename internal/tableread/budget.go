package tableread

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/sluice-data/sluice/internal/fault"
)

// budget is what all reads of a Reader hold together. Deletes and rows are apart: who holds deletes may wait for room for
// rows, never the other way round.
type budget struct {
	deletes, rows         *semaphore.Weighted
	mostDeletes, mostRows int64 // bytes
	held                  atomic.Int64
}

const (
	defaultMemory = 512 << 20
	leastMemory   = 8 << 20
	footersPart   = 16 // of the memory
	deletesPart   = 4
)

func newBudget(bytes int64) *budget {
	b := &budget{mostDeletes: bytes / deletesPart}
	b.mostRows = bytes - bytes/footersPart - b.mostDeletes
	b.deletes, b.rows = semaphore.NewWeighted(b.mostDeletes), semaphore.NewWeighted(b.mostRows)
	return b
}

// Held is what all reads hold now, in bytes.
func (r *Reader) Held() int64 { return r.memory.held.Load() }

// holdDeletes waits for what the deletes of a read take.
func (b *budget) holdDeletes(ctx context.Context, bytes int64) (release func(), err error) {
	if bytes > b.mostDeletes {
		return func() {}, fault.New(fault.TooLarge, "The table's delete files take about %d MB to apply, and %d MB are there for them. Compact the table, so that deletes are in its data files.",
			bytes>>20, b.mostDeletes>>20)
	}
	if err := b.deletes.Acquire(ctx, bytes); err != nil {
		return func() {}, err
	}
	b.held.Add(bytes)
	return func() { b.held.Add(-bytes); b.deletes.Release(bytes) }, nil
}

// holdRows waits for what reading rows takes. Whatever takes more than there is has all of it.
func (b *budget) holdRows(ctx context.Context, bytes int64) (release func(), err error) {
	bytes = min(max(bytes, 1), b.mostRows)
	if err := b.rows.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	b.held.Add(bytes)
	return func() { b.held.Add(-bytes); b.rows.Release(bytes) }, nil
}

func (o Options) withDefaults() Options {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	o.Memory = max(o.Memory, leastMemory)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}
