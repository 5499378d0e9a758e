package tableio

import (
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
)

// behind works on batches in a goroutine of its own, one after the other, so that reading rows and writing them go on side
// by side. After an error it lets batches go.
type behind struct {
	work  func(arrow.RecordBatch) error
	queue chan arrow.RecordBatch
	ended sync.WaitGroup
	err   atomic.Pointer[error]
}

func newBehind(work func(arrow.RecordBatch) error) *behind { return &behind{work: work} }

// take takes a batch over. It waits while another one is waiting.
func (b *behind) take(batch arrow.RecordBatch) {
	if b.queue == nil {
		queue := make(chan arrow.RecordBatch, 1)
		b.queue = queue
		b.ended.Go(func() { b.run(queue) })
	}
	b.queue <- batch
}

func (b *behind) run(queue <-chan arrow.RecordBatch) {
	for batch := range queue {
		if b.failure() == nil {
			if err := guarded(func() error { return b.work(batch) }); err != nil {
				b.fail(err)
			}
		}
		batch.Release()
	}
}

// end waits for what was taken and gives the first error. It may be called again.
func (b *behind) end() error {
	if b.queue != nil {
		close(b.queue)
		b.queue = nil
	}
	b.ended.Wait()
	return b.failure()
}

// fail ends the work with an error, unless one has before.
func (b *behind) fail(err error) { b.err.CompareAndSwap(nil, &err) }

func (b *behind) failure() error {
	if err := b.err.Load(); err != nil {
		return *err
	}
	return nil
}
