package tableread

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/sluice-data/sluice/internal/fault"
)

// budget is what all reads of a Reader hold together. Deletes, pages and rows are apart: who holds deletes may wait for
// room for a page, and who holds either for room for rows, never the other way round.
type budget struct {
	deletes, pages, rows *pool
	held                 atomic.Int64
}

const (
	defaultMemory = 512 << 20
	leastMemory   = 8 << 20
	footersPart   = 16 // of the memory
	deletesPart   = 4
	pagesPart     = 4
)

func newBudget(bytes int64) *budget {
	b := &budget{}
	deletes, pages := bytes/deletesPart, bytes/pagesPart
	b.deletes, b.pages = newPool(deletes, &b.held), newPool(pages, &b.held)
	b.rows = newPool(bytes-bytes/footersPart-deletes-pages, &b.held)
	return b
}

// Held is what all reads hold now, in bytes.
func (r *Reader) Held() int64 { return r.memory.held.Load() }

// holdDeletes waits for what the deletes of a read take.
func (b *budget) holdDeletes(ctx context.Context, owner string, bytes int64) (release func(), err error) {
	if most := b.deletes.most; bytes > most {
		return func() {}, fault.New(fault.TooLarge, "The table's delete files take about %d MB to apply, and %d MB are there for them. Compact the table, so that deletes are in its data files.",
			bytes>>20, most>>20)
	}
	keep, err := b.deletes.hold(ctx, owner, bytes)
	if err != nil {
		return func() {}, err
	}
	return func() { keep(0) }, nil
}

// holdRows waits for what reading rows takes. Whatever takes more than there is has all of it.
func (b *budget) holdRows(ctx context.Context, owner string, bytes int64) (release func(), err error) {
	keep, err := b.rows.hold(ctx, owner, bytes)
	if err != nil {
		return nil, err
	}
	return func() { keep(0) }, nil
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
