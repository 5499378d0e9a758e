package contend

import (
	"context"
	"slices"
	"sync"
)

// Locks serialises what is done under one key within this process, so that losers see the winner's state before they work for
// nothing. It is no safeguard: between processes the store's compare-and-swap decides.
type Locks struct {
	mu    sync.Mutex
	locks map[string]*keyedLock
}

type keyedLock struct {
	held  chan struct{} // holds one value while taken
	users int
}

// NewLocks makes a set of locks. None is kept of a key that nobody holds or waits for.
func NewLocks() *Locks { return &Locks{locks: map[string]*keyedLock{}} }

// Lock takes the locks of all keys, in an order that cannot deadlock, and gives the function that releases them. The error is
// the context's: then none is held.
func (k *Locks) Lock(ctx context.Context, keys ...string) (unlock func(), err error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for i, key := range keys {
		if err := k.lockOne(ctx, key); err != nil {
			k.unlock(keys[:i])
			return nil, err
		}
	}
	return func() { k.unlock(keys) }, nil
}

func (k *Locks) lockOne(ctx context.Context, key string) error {
	k.mu.Lock()
	l := k.locks[key]
	if l == nil {
		l = &keyedLock{held: make(chan struct{}, 1)}
		k.locks[key] = l
	}
	l.users++
	k.mu.Unlock()
	select {
	case l.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		k.forget(key, l)
		return context.Cause(ctx)
	}
}

func (k *Locks) unlock(keys []string) {
	for _, key := range keys {
		k.mu.Lock()
		l := k.locks[key]
		k.mu.Unlock()
		<-l.held
		k.forget(key, l)
	}
}

func (k *Locks) forget(key string, l *keyedLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.locks, key)
	}
}
