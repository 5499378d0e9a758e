package idempotency

import (
	"context"
	"sync"
)

// running lets one request of a key through at a time within this process. Between processes the store's key decides.
type running struct {
	mu   sync.Mutex
	keys map[string]chan struct{} // closed when the request is over
}

func newRunning() *running { return &running{keys: map[string]chan struct{}{}} }

// enter waits until no other request of the key runs, or ctx ends.
func (r *running) enter(ctx context.Context, key string) (leave func(), err error) {
	for {
		r.mu.Lock()
		other, taken := r.keys[key]
		if !taken {
			mine := make(chan struct{})
			r.keys[key] = mine
			r.mu.Unlock()
			return func() { r.leave(key, mine) }, nil
		}
		r.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *running) leave(key string, mine chan struct{}) {
	r.mu.Lock()
	delete(r.keys, key)
	r.mu.Unlock()
	close(mine)
}
