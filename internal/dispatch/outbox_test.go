package dispatch_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluice-data/sluice/models"
)

// outbox is an outbox in memory that can fail.
type outbox struct {
	mu        sync.Mutex
	next      int64
	events    []models.OutboxEvent
	tries     int
	claims    int              // made so far
	now       func() time.Time // of the leases
	perTable  int              // commits of each table that follow each other
	onRelease func()
	err       error // of everything
	removal   error // of removals
}

func newOutbox(*testing.T) *outbox { return &outbox{now: time.Now, perTable: 1} }

func (o *outbox) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for range n {
		o.next++
		o.events = append(o.events, models.OutboxEvent{
			ID: o.next, TableID: fmt.Sprintf("t%d", o.next/int64(o.perTable)), TableUUID: "u", TableName: "sales.orders", SnapshotID: o.next, CreatedAt: o.now(),
		})
	}
}

func (o *outbox) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.events)
}

// newest is the id of the newest event that there was.
func (o *outbox) newest() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.next
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

func (o *outbox) ClaimEvents(_ context.Context, owner string, lease time.Duration, oldest, newest int) ([]models.OutboxEvent, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	var free []int
	for i, e := range o.events {
		if e.ClaimedBy == "" || !o.now().Before(*e.ClaimedUntil) {
			free = append(free, i)
		}
	}
	if len(free) > oldest+newest {
		free = append(free[:oldest:oldest], free[len(free)-newest:]...)
	}
	until := o.now().Add(lease)
	var claimed []models.OutboxEvent
	for _, i := range free {
		o.events[i].ClaimedBy, o.events[i].ClaimedUntil = owner, &until
		claimed = append(claimed, o.events[i])
	}
	o.claims += len(claimed)
	return claimed, nil
}

func (o *outbox) ReleaseEvents(_ context.Context, owner string, ids []int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.onRelease != nil {
		o.onRelease()
	}
	for i, e := range o.events {
		if e.ClaimedBy == owner && slices.Contains(ids, e.ID) {
			o.events[i].ClaimedBy, o.events[i].ClaimedUntil = "", nil
		}
	}
	return o.err
}

// claimed counts the claims that are held now, and made so far.
func (o *outbox) claimed() (now, made int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.events {
		if e.ClaimedBy != "" {
			now++
		}
	}
	return now, o.claims
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
