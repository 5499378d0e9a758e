package dispatch

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/models"
)

// claim is a page of events that are this dispatcher's until a time by its own clock, taken before the claim was made: the
// outbox ends it no earlier.
type claim struct {
	events         []models.OutboxEvent
	oldest, newest int // how many were asked for of either end
	until          time.Time
}

// none tells whether nothing was asked for, because nothing could be started.
func (c claim) none() bool { return c.oldest+c.newest == 0 }

// full tells whether there may be more than was claimed.
func (c claim) full() bool { return len(c.events) >= c.oldest+c.newest }

// fresh is the id of the first event that was claimed for being new; 0 where all there was is claimed.
func (c claim) fresh() int64 {
	if !c.full() || c.newest == 0 {
		return 0
	}
	return c.events[len(c.events)-c.newest].ID
}

// claim takes as much as can be started now: a batch of the oldest for each free slot, and a few of the newest, so that commits
// which come during a backlog do not wait for its end. While Temporal is down that is one event, to try whether it is back.
func (d *Dispatcher) claim(ctx context.Context) (claim, error) {
	c := claim{until: d.opt.Now().Add(d.opt.Lease)}
	if d.outage == partTemporal {
		c.oldest = 1
	} else {
		c.oldest = d.slots.free() * d.opt.BatchSize
		c.newest = d.freshSlots.free() * d.opt.BatchThreshold
	}
	if c.none() {
		return c, nil
	}
	var err error
	c.events, err = d.outbox.ClaimEvents(ctx, d.owner, d.opt.Lease, c.oldest, c.newest)
	return c, err
}

// ready gives the launchable events: what was claimed and is not held, and what was held until now.
func (d *Dispatcher) ready(c claim) []pending {
	now := d.opt.Now()
	ready := make([]pending, 0, len(c.events))
	for _, e := range c.events {
		if !d.held.keep(e, c.until) {
			ready = append(ready, pending{event: e, until: c.until})
		}
	}
	return append(d.held.due(now, now.Add(d.opt.StartTimeout)), ready...)
}

// giveBack ends the claims of what was not started. What cannot be given back is anybody's when its lease is over.
func (d *Dispatcher) giveBack(ctx context.Context) {
	if len(d.unstarted) == 0 {
		return
	}
	if err := d.outbox.ReleaseEvents(ctx, d.owner, d.unstarted); err != nil {
		d.log.Debug("claims could not be given back", "events", len(d.unstarted), "error", err)
		return
	}
	d.unstarted = nil
}
