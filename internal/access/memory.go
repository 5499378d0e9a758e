package access

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

// loadTimeout bounds a read that several requests may wait for.
const loadTimeout = 30 * time.Second

// memory keeps what was read of the store under the newest version of all rights that any request has seen. What is in
// it was read after that version was, so it may be newer than the version, never older.
type memory[K comparable, V any] struct {
	most int

	mu      sync.Mutex
	version int64
	entries map[K]*entry[V]
}

type entry[V any] struct {
	version int64 // that it is at least as new as
	done    chan struct{}
	value   V
	err     error
}

// newMemory makes a memory of at most so many entries: when it is full it is emptied.
func newMemory[K comparable, V any](most int) *memory[K, V] {
	return &memory[K, V]{most: most, entries: map[K]*entry[V]{}}
}

// get gives the value of the key as of the version or newer, by load where it is not known. load is told the version that
// what it reads must be as new as, which may be newer than the one that was asked for. Requests that ask for one key at
// once share a load, which does not end with the request that began it. An error is not kept.
func (m *memory[K, V]) get(ctx context.Context, version int64, key K, load func(context.Context, int64) (V, error)) (V, error) {
	e, mine := m.find(version, key)
	if mine {
		m.fill(ctx, key, e, load)
		return e.value, e.err
	}
	select {
	case <-e.done:
		return e.value, e.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

func (m *memory[K, V]) fill(ctx context.Context, key K, e *entry[V], load func(context.Context, int64) (V, error)) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
	defer cancel()
	e.err = fault.New(fault.Internal, "An internal error occurred. Try again.") // should load panic
	defer func() {
		if e.err != nil {
			m.forget(key, e)
		}
		close(e.done)
	}()
	e.value, e.err = load(bounded, e.version)
}

// find gives the entry of a key, and whether it is the asker's to fill.
func (m *memory[K, V]) find(version int64, key K) (*entry[V], bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.version < version {
		m.version = version
		clear(m.entries)
	}
	if e, ok := m.entries[key]; ok {
		return e, false
	}
	if len(m.entries) >= m.most {
		clear(m.entries)
	}
	e := &entry[V]{version: m.version, done: make(chan struct{})}
	m.entries[key] = e
	return e, true
}

func (m *memory[K, V]) forget(key K, e *entry[V]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[key] == e {
		delete(m.entries, key)
	}
}
