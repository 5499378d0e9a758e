package dataplane

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	// mostAttempts is how often a commit is made anew that lost to another, before the client is asked to try again.
	mostAttempts = 40
	firstPause   = 10 * time.Millisecond
	lastPause    = time.Second
)

// tableLocks lets the writes of this process commit to a table one after the other, so that they wait for each other
// instead of losing to each other. Between processes the catalog's compare-and-swap decides.
type tableLocks struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // closed when the table is free again
}

func newTableLocks() *tableLocks { return &tableLocks{taken: map[string]chan struct{}{}} }

// lock takes the tables of the ids, in an order that cannot deadlock.
func (l *tableLocks) lock(ctx context.Context, ids ...string) (unlock func(), err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for i, id := range ids {
		if err := l.lockOne(ctx, id); err != nil {
			l.unlock(ids[:i])
			return nil, err
		}
	}
	return func() { l.unlock(ids) }, nil
}

func (l *tableLocks) lockOne(ctx context.Context, id string) error {
	for {
		l.mu.Lock()
		free, taken := l.taken[id]
		if !taken {
			l.taken[id] = make(chan struct{})
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *tableLocks) unlock(ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		close(l.taken[id])
		delete(l.taken, id)
	}
}

// pause waits a jittered, doubling time before another attempt, or until the context ends.
func pause(ctx context.Context, attempt int) error {
	limit := lastPause
	if attempt < 7 {
		limit = firstPause << attempt
	}
	timer := time.NewTimer(rand.N(limit) + time.Millisecond) //nolint:gosec // no secret
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
