package dispatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/sluice-data/sluice/models"
)

const (
	// stopGrace is how long a stop waits for starts and removals under way: a start that is known need not be repeated.
	stopGrace = 2 * time.Second
	// measureEvery bounds how often the backlog is counted.
	measureEvery = time.Second
	// holdFirst and holdMost bound how long an event that Temporal refuses is left alone.
	holdFirst, holdMost = time.Second, 5 * time.Minute
)

// Dispatcher starts workflows for what the outbox holds. Many may run at once, in one process or several: starting
// twice is harmless, and an event is only removed once its workflow is started.
type Dispatcher struct {
	outbox  Outbox
	starter Starter
	opt     Options
	log     *slog.Logger
	metrics *metrics
	wake    chan struct{}

	// The rest belongs to Run.
	singles  *budget
	backoff  backoff
	held     map[int64]hold
	started  []int64 // started, but not removed because the database failed
	outage   string  // the part that is down, "" when all works
	measured time.Time
}

// hold keeps an event that was refused out of the rounds for a while.
type hold struct {
	until time.Time
	wait  time.Duration
}

// New makes a dispatcher; the error is of the registration of its metrics.
func New(outbox Outbox, starter Starter, o Options) (*Dispatcher, error) {
	o = o.withDefaults()
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, err
	}
	return &Dispatcher{
		outbox: outbox, starter: starter, opt: o, log: o.Logger, metrics: m, wake: make(chan struct{}, 1),
		singles: newBudget(o.SingleRate, o.BatchThreshold, o.Now()),
		backoff: backoff{first: o.BackoffFirst, most: o.BackoffMost},
		held:    map[int64]hold{},
	}, nil
}

// Wake says that the outbox has something new. It never blocks; many calls are one.
func (d *Dispatcher) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run dispatches until ctx ends, and then returns within about two seconds. Failures are waited out, never returned. It
// must not be called twice at once.
func (d *Dispatcher) Run(ctx context.Context) {
	for ctx.Err() == nil {
		pause, patient := d.round(ctx)
		d.sleep(ctx, pause, patient)
	}
}

// sleep waits for the pause to pass or, unless patient, for a Wake.
func (d *Dispatcher) sleep(ctx context.Context, pause time.Duration, patient bool) {
	if pause <= 0 {
		return
	}
	wake := d.wake
	if patient {
		wake = nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-timer.C:
	}
}

// round reads a page and starts what it can of it. It gives how long to pause, and whether a Wake must not cut that short.
func (d *Dispatcher) round(ctx context.Context) (pause time.Duration, patient bool) {
	work, stop := lingering(ctx, stopGrace)
	defer stop()
	if err := d.removeStarted(work); err != nil {
		return d.down(ctx, partOutbox, err), true
	}
	limit := d.opt.pageSize() + len(d.held)
	page, err := d.outbox.PendingEvents(work, limit)
	if err != nil {
		return d.down(ctx, partOutbox, err), true
	}
	d.measure(work, len(page))
	ready := d.ready(page)
	if len(ready) == 0 {
		if len(page) == 0 || d.outage == partOutbox {
			d.recovered()
		}
		return d.opt.PollInterval, false
	}
	launches, batched := d.plan(ready)
	d.launch(ctx, work, launches)
	if err := d.settle(work, launches); err != nil {
		return d.down(ctx, partTemporal, err), true
	}
	if err := d.removeStarted(work); err != nil {
		return d.down(ctx, partOutbox, err), true
	}
	d.recovered()
	switch {
	case len(page) == limit:
		return 0, false
	case batched:
		return d.opt.BatchLinger, true
	}
	return d.opt.PollInterval, false
}

// ready leaves out what is held, and forgets holds of events that are gone.
func (d *Dispatcher) ready(page []models.OutboxEvent) []models.OutboxEvent {
	now := d.opt.Now()
	present := make(map[int64]bool, len(page))
	ready := make([]models.OutboxEvent, 0, len(page))
	for _, e := range page {
		present[e.ID] = true
		if h, ok := d.held[e.ID]; !ok || !now.Before(h.until) {
			ready = append(ready, e)
		}
	}
	for id := range d.held {
		if !present[id] {
			delete(d.held, id)
		}
	}
	return ready
}

// plan decides between one workflow for each commit, the cheaper way to a fast answer, and batches, the cheaper way to many.
// An event that was refused before goes alone, so that it cannot spoil a batch.
func (d *Dispatcher) plan(ready []models.OutboxEvent) (launches []launch, batched bool) {
	var alone, together []models.OutboxEvent
	for _, e := range ready {
		if _, refused := d.held[e.ID]; refused {
			alone = append(alone, e)
		} else {
			together = append(together, e)
		}
	}
	if len(together) <= d.opt.BatchThreshold && d.singles.take(len(together), d.opt.Now()) {
		return planSingles(ready), false
	}
	return append(planSingles(alone), planBatches(together, d.opt.BatchSize)...), true
}

// measure counts the backlog for the metrics. A failure shows in the next read.
func (d *Dispatcher) measure(ctx context.Context, seen int) {
	now := d.opt.Now()
	if seen == 0 {
		d.metrics.measured(0, time.Time{}, now)
		return
	}
	if now.Sub(d.measured) < measureEvery {
		return
	}
	d.measured = now
	if n, oldest, err := d.outbox.Backlog(ctx); err == nil {
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
