package catalog

import (
	"context"
	"slices"
	"sync"
)

// keyedLocks serialises commits to one table within this process, so that losers see the winner's state before they
// write a metadata file for nothing. It is no safeguard: between processes the store's compare-and-swap decides.
type keyedLocks struct {
	mu    sync.Mutex
	locks map[string]*keyedLock
}

type keyedLock struct {
	held  chan struct{} // holds one value while taken
	users int
}

func newKeyedLocks() *keyedLocks { return &keyedLocks{locks: map[string]*keyedLock{}} }

// lock takes the locks of all keys, in an order that cannot deadlock, and gives the function that releases them.
func (k *keyedLocks) lock(ctx context.Context, keys []string) (func(), error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for i, key := range keys {
		if err := k.lockOne(ctx, key); err != nil {
			k.unlock(keys[:i])
			return nil, err
		}
	}
	return func() { k.unlock(keys) }, nil
}

func (k *keyedLocks) lockOne(ctx context.Context, key string) error {
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
		return ctx.Err()
	}
}

func (k *keyedLocks) unlock(keys []string) {
	for _, key := range keys {
		k.mu.Lock()
		l := k.locks[key]
		k.mu.Unlock()
		<-l.held
		k.forget(key, l)
	}
}

func (k *keyedLocks) forget(key string, l *keyedLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.locks, key)
	}
}
