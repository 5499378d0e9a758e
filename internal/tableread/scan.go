package tableread

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/scan"
)

// Scan gives the rows that a scan asks for. yield is called by one goroutine at a time, with batches that are valid
// during the call; it must not read with the same Reader. Rows come in no order, unless the Reader has one worker. The
// error is yield's, that of ctx, or a fault that names the file that cannot be read.
func (r *Reader) Scan(ctx context.Context, s Scan, yield func(arrow.RecordBatch) error) (Stats, error) {
	p, err := r.newPlan(s)
	if err != nil {
		return Stats{}, err
	}
	defer p.close()
	if err := p.find(ctx, s); err != nil {
		return p.stats(), err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &scanWork{
		plan: p, queue: newQueue(p.files), yield: yield, left: s.Limit, limited: s.Limit > 0,
		want: want{columns: p.columns, schema: p.arrow}, cancel: cancel,
	}
	if w.limited && w.left <= batchRows {
		w.want.few = int(w.left)
	}
	stop := context.AfterFunc(inner, w.queue.stop)
	defer stop()
	var workers sync.WaitGroup
	for range min(r.options.Workers, max(len(p.files), 1)*mostGroupsAtOnce) {
		workers.Go(func() {
			if err := w.run(inner); err != nil {
				w.fail(err)
			}
		})
	}
	workers.Wait()
	return p.stats(), w.outcome(ctx)
}

// mostGroupsAtOnce is how many workers may share one data file.
const mostGroupsAtOnce = 64

// scanWork is what the workers of a scan share.
type scanWork struct {
	plan   *plan
	queue  *queue
	want   want
	cancel context.CancelCauseFunc

	mutex   sync.Mutex // of what follows; it is held while rows are given
	yield   func(arrow.RecordBatch) error
	limited bool
	left    int64
	failed  error
	ended   bool // the limit is reached
}

// fail ends the scan; the first failure counts.
func (w *scanWork) fail(err error) {
	w.mutex.Lock()
	if w.failed == nil && !w.ended {
		w.failed = err
	}
	w.mutex.Unlock()
	w.cancel(err)
}

func (w *scanWork) outcome(ctx context.Context) error {
	if own := ctx.Err(); own != nil && (w.failed != nil || !w.ended) {
		return own
	}
	if s, ok := w.failed.(stopped); ok { //nolint:errorlint // it is never wrapped
		return s.error
	}
	return w.failed
}

// run takes work until there is none.
func (w *scanWork) run(ctx context.Context) error {
	for {
		file, group, ok := w.queue.next()
		if !ok {
			return ctx.Err()
		}
		if file != nil {
			if err := w.openFile(ctx, file); err != nil {
				return err
			}
			continue
		}
		if err := w.readGroup(ctx, group); err != nil {
			return err
		}
		group.file.done()
	}
}

func (w *scanWork) openFile(ctx context.Context, of *scan.DataFile) error {
	f, err := w.plan.open(ctx, of)
	if err != nil {
		w.queue.opened(nil)
		return err
	}
	groups := make([]groupOf, len(f.footer.meta.RowGroups))
	for i := range groups {
		groups[i] = groupOf{f, i}
	}
	if len(groups) == 0 {
		f.close()
	}
	w.queue.opened(groups)
	return nil
}

func (w *scanWork) readGroup(ctx context.Context, g groupOf) error {
	return w.plan.group(ctx, g.file, g.index, &w.want, func(r *groupReader) error {
		return r.read(ctx, rowsToRead{}, func(batch arrow.RecordBatch, _ []int64) (bool, error) { return w.give(ctx, batch) })
	})
}

// give hands a batch on. It tells whether more is wanted.
func (w *scanWork) give(ctx context.Context, batch arrow.RecordBatch) (bool, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if err := ctx.Err(); err != nil || w.ended {
		return false, err
	}
	if w.limited && batch.NumRows() > w.left {
		batch = batch.NewSlice(0, w.left)
		defer batch.Release()
	}
	if err := w.yield(batch); err != nil {
		return false, err
	}
	w.plan.given.Add(batch.NumRows())
	if w.limited {
		if w.left -= batch.NumRows(); w.left <= 0 {
			w.ended = true
			w.cancel(nil)
			return false, nil
		}
	}
	return true, nil
}

// groupOf is a row group to read.
type groupOf struct {
	file  *dataFile
	index int
}

// queue is what is left to read: the row groups of files that are open, and then the files that are not, in order.
type queue struct {
	mutex   sync.Mutex
	changed *sync.Cond
	files   []*scan.DataFile
	groups  []groupOf
	opening int
	isOver  bool
}

func newQueue(files []*scan.DataFile) *queue {
	q := &queue{files: files}
	q.changed = sync.NewCond(&q.mutex)
	return q
}

// next gives a file to open or a row group to read. It waits for files that are being opened; false when nothing is left.
func (q *queue) next() (*scan.DataFile, groupOf, bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for !q.isOver {
		switch {
		case len(q.groups) > 0:
			g := q.groups[0]
			q.groups = q.groups[1:]
			return nil, g, true
		case len(q.files) > 0:
			f := q.files[0]
			q.files = q.files[1:]
			q.opening++
			return f, groupOf{}, true
		case q.opening == 0:
			return nil, groupOf{}, false
		}
		q.changed.Wait()
	}
	return nil, groupOf{}, false
}

// opened adds the row groups of a file that next gave.
func (q *queue) opened(groups []groupOf) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.opening--
	q.groups = append(q.groups, groups...)
	q.changed.Broadcast()
}

func (q *queue) stop() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.isOver = true
	q.changed.Broadcast()
}
