package dispatch

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"
)

const (
	// stopGrace is how long a stop waits for starts and removals under way: a start that is known need not be repeated.
	stopGrace = 2 * time.Second
	// freshBatches is how many batches of the newest commits are under way in a backlog: one begins while the other does the
	// rest of a table that got many.
	freshBatches = 2
	// measureEvery bounds how often the backlog is counted.
	measureEvery = time.Second
)

// Dispatcher starts workflows for what the outbox holds. Many may run at once, in one process or several: each claims
// what it starts, for a while, and an event is only removed once its workflow is started. When a claim runs out in the
// middle of a start, as in a process that stood still, another dispatcher starts the same once more, which is harmless.
type Dispatcher struct {
	owner   string
	outbox  Outbox
	starter Starter
	opt     Options
	log     *slog.Logger
	metrics *metrics
	wake    chan struct{}
	freed   chan struct{} // a batch has ended
	// Of batches: freshSlots are for those of new commits in a backlog.
	slots, freshSlots *slots

	// The rest belongs to Run.
	singles   *budget
	backoff   backoff
	held      holds
	started   []int64 // started, but not removed because the database failed
	unstarted []int64 // claimed, and to be given back
	outage    string  // the part that is down, "" when all works
	measured  time.Time
	waiting   int64 // events in the outbox when they were counted last
}

// New makes a dispatcher; the error is of the registration of its metrics.
func New(outbox Outbox, starter Starter, o Options) (*Dispatcher, error) {
	o = o.withDefaults()
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, err
	}
	freed := make(chan struct{}, 1)
	return &Dispatcher{
		owner: rand.Text(), outbox: outbox, starter: starter, opt: o, log: o.Logger, metrics: m,
		wake: make(chan struct{}, 1), freed: freed,
		slots: newSlots(o.Batches, o.BatchPatience, freed), freshSlots: newSlots(freshBatches, o.BatchPatience, freed),
		singles: newBudget(o.SingleRate, o.BatchThreshold, o.Now()),
		backoff: backoff{first: o.BackoffFirst, most: o.BackoffMost},
		held:    holds{},
	}, nil
}

// Wake says that the outbox has something new. It never blocks; many calls are one.
func (d *Dispatcher) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run dispatches until ctx ends, gives back what it has claimed, and returns within about three seconds. Failures are
// waited out, never returned. It must not be called twice at once.
func (d *Dispatcher) Run(ctx context.Context) {
	for ctx.Err() == nil {
		d.sleep(ctx, d.round(ctx))
	}
	d.slots.wait()
	d.freshSlots.wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace/2)
	defer cancel()
	d.unstarted = append(d.unstarted, d.held.drop()...)
	d.giveBack(last)
}

// pause is how long to wait between two rounds, and what cuts that short.
type pause struct {
	time       time.Duration
	wake, slot bool // a Wake, the end of a batch
}

// sleep waits for the pause to pass.
func (d *Dispatcher) sleep(ctx context.Context, p pause) {
	if p.time <= 0 {
		return
	}
	var wake, freed chan struct{}
	if p.wake {
		wake = d.wake
	}
	if p.slot {
		freed = d.freed
	}
	timer := time.NewTimer(p.time)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-freed:
	case <-timer.C:
	}
}

// round claims a page and starts what it can of it.
func (d *Dispatcher) round(ctx context.Context) pause {
	work, stop := lingering(ctx, stopGrace)
	defer stop()
	if err := d.removeStarted(work); err != nil {
		return d.down(ctx, partOutbox, err)
	}
	d.giveBack(work)
	c, err := d.claim(work)
	if err != nil {
		return d.down(ctx, partOutbox, err)
	}
	d.measure(work)
	ready := d.ready(c)
	switch {
	case len(ready) > 0:
	case c.none():
		return pause{time: d.opt.BatchLinger, slot: true}
	default:
		if d.waiting == 0 || d.outage == partOutbox { // else Temporal may be down still: others have what waits
			d.recovered()
		}
		return pause{time: d.opt.PollInterval, wake: true}
	}
	launches, batched := d.plan(ready, c.fresh())
	d.launch(ctx, work, launches)
	err = d.settle(work, launches)
	d.giveBack(work)
	if err != nil {
		return d.down(ctx, partTemporal, err)
	}
	if err := d.removeStarted(work); err != nil {
		return d.down(ctx, partOutbox, err)
	}
	d.recovered()
	switch {
	case c.full():
		return pause{}
	case batched:
		return pause{time: d.opt.BatchLinger}
	}
	return pause{time: d.opt.PollInterval, wake: true}
}

// measure counts the backlog for the metrics, of all dispatchers. A failure shows in the next read.
func (d *Dispatcher) measure(ctx context.Context) {
	now := d.opt.Now()
	if now.Sub(d.measured) < measureEvery {
		return
	}
	d.measured = now
	if n, oldest, err := d.outbox.Backlog(ctx); err == nil {
		d.waiting = n
		d.metrics.measured(n, oldest, now)
	}
}

// lingering gives a context that ends a while after ctx: what is under way at a stop may finish.
func lingering(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-work.Done():
		}
	})
	return work, func() { unhook(); cancel() }
}
