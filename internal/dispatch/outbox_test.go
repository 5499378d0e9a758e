package dispatch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/sluice-data/sluice/models"
)

// outbox is an outbox in memory that can fail.
type outbox struct {
	mu      sync.Mutex
	next    int64
	events  []models.OutboxEvent
	tries   int
	err     error // of everything
	removal error // of removals
}

func newOutbox(*testing.T) *outbox { return &outbox{} }

func (o *outbox) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for range n {
		o.next++
		o.events = append(o.events, models.OutboxEvent{
			ID: o.next, TableID: "t", TableUUID: "u", TableName: "sales.orders", SnapshotID: o.next, CreatedAt: time.Now(),
		})
	}
}

func (o *outbox) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.events)
}

func (o *outbox) attempts() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tries
}

func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

func (o *outbox) failRemovals(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.removal = err
}

func (o *outbox) PendingEvents(_ context.Context, limit int) ([]models.OutboxEvent, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	return append([]models.OutboxEvent(nil), o.events[:min(limit, len(o.events))]...), nil
}

func (o *outbox) RemoveEvents(_ context.Context, ids []int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if o.removal != nil {
		return o.removal
	}
	gone := map[int64]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	var kept []models.OutboxEvent
	for _, e := range o.events {
		if !gone[e.ID] {
			kept = append(kept, e)
		}
	}
	o.events = kept
	return nil
}

func (o *outbox) DelayEvent(context.Context, int64, string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tries++
	return o.err
}

func (o *outbox) Backlog(context.Context) (int64, time.Time, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || len(o.events) == 0 {
		return 0, time.Time{}, o.err
	}
	return int64(len(o.events)), o.events[0].CreatedAt, nil
}
