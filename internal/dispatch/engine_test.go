package dispatch_test

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// engine is Temporal as a dispatcher sees it: it can be down, slow, or refuse single events.
type engine struct {
	mu      sync.Mutex
	down    bool
	delay   time.Duration
	refuse  map[int64]bool
	starts  map[int64]int // by event
	batches [][]int64
	last    chan struct{} // batches end with each value, at once where it is nil
	lasting int64         // only batches that begin with this event at most
}

func newEngine() *engine {
	return &engine{refuse: map[int64]bool{}, starts: map[int64]int{}, lasting: math.MaxInt64}
}

func (e *engine) StartReconcile(ctx context.Context, event models.OutboxEvent) error {
	return e.start(ctx, event)
}

func (e *engine) StartReconcileBatch(ctx context.Context, events []models.OutboxEvent) error {
	if err := e.start(ctx, events...); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var ids []int64
	for _, event := range events {
		ids = append(ids, event.ID)
	}
	e.batches = append(e.batches, ids)
	return nil
}

// AwaitReconcileBatch waits while batches are set to last.
func (e *engine) AwaitReconcileBatch(ctx context.Context, events []models.OutboxEvent) error {
	e.mu.Lock()
	last := e.last
	e.mu.Unlock()
	if last == nil || events[0].ID > e.lasting {
		return nil
	}
	select {
	case <-ctx.Done():
	case <-last:
	}
	return ctx.Err()
}

func (e *engine) start(ctx context.Context, events ...models.OutboxEvent) error {
	e.mu.Lock()
	delay := e.delay
	e.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(delay):
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down || ctx.Err() != nil {
		return fault.New(fault.Unavailable, "Temporal cannot be reached.")
	}
	for _, event := range events {
		if e.refuse[event.ID] {
			return fault.New(fault.Invalid, "Temporal refuses to start the workflow.")
		}
	}
	for _, event := range events {
		e.starts[event.ID]++
	}
	return nil
}

func (e *engine) set(change func(*engine)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(e)
}

func (e *engine) started() map[int64]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make(map[int64]int, len(e.starts))
	for id, n := range e.starts {
		out[id] = n
	}
	return out
}

func (e *engine) batched() [][]int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([][]int64(nil), e.batches...)
}
