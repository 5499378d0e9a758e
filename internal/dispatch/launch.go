package dispatch

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/sluice-data/sluice/internal/fault"
)

// launch starts workflows side by side. It begins no further ones once ctx ends or Temporal turns out to be down: each
// would only wait for its timeout. Nor does it begin what might not be ours any more when it is done.
func (d *Dispatcher) launch(ctx, work context.Context, launches []launch) {
	var down atomic.Bool
	var group errgroup.Group
	group.SetLimit(d.opt.Parallel)
	for i := range launches {
		l := &launches[i]
		group.Go(func() error {
			switch {
			case ctx.Err() != nil || down.Load():
				return nil
			case d.opt.Now().Add(d.opt.StartTimeout).After(l.until()):
				d.metrics.lapsed.Add(float64(len(l.events)))
				return nil
			}
			l.tried = true
			l.err = d.start(work, l)
			switch {
			case isOutage(l.err):
				down.Store(true)
			case l.err == nil && l.batch != nil:
				l.batch.take(ctx, d.starter, l.models())
			}
			return nil
		})
	}
	_ = group.Wait()
}

func (d *Dispatcher) start(ctx context.Context, l *launch) error {
	ctx, cancel := context.WithTimeout(ctx, d.opt.StartTimeout)
	defer cancel()
	if l.batch == nil {
		return d.starter.StartReconcile(ctx, l.events[0].event)
	}
	return d.starter.StartReconcileBatch(ctx, l.models())
}

// isOutage tells an unreachable Temporal from one that refuses this start.
func isOutage(err error) bool { return err != nil && !fault.Is(err, fault.Invalid) }

// settle takes note of what became of the launches; the error is of an outage.
func (d *Dispatcher) settle(ctx context.Context, launches []launch) error {
	var outage error
	for _, l := range launches {
		switch {
		case !l.tried:
			d.abandon(l)
		case l.err == nil:
			d.metrics.started.WithLabelValues(l.kind()).Inc()
			d.metrics.commits.Add(float64(len(l.events)))
			for _, p := range l.events {
				d.started = append(d.started, p.event.ID)
				delete(d.held, p.event.ID)
			}
		case isOutage(l.err):
			if outage == nil { // one note is enough for all
				d.note(ctx, l.events[0].event.ID, l.err)
			}
			outage = l.err
			d.abandon(l)
		default:
			d.refuse(ctx, l)
		}
	}
	if outage != nil {
		_ = d.removeStarted(ctx) // tried again in the next round
	}
	return outage
}

// abandon leaves what was not started to whoever claims it next.
func (d *Dispatcher) abandon(l launch) {
	for _, p := range l.events {
		d.unstarted = append(d.unstarted, p.event.ID)
		d.held.lose(p.event.ID)
	}
}

// refuse holds events that Temporal will not take, longer each time, and lets the others pass. An event of a refused batch is
// tried alone next.
func (d *Dispatcher) refuse(ctx context.Context, l launch) {
	d.metrics.failures.WithLabelValues(partEvent).Inc()
	now := d.opt.Now()
	alone := l.batch == nil
	for _, p := range l.events {
		wait := d.held.refuse(p, alone, now)
		if alone {
			d.log.Warn("Temporal refuses to reconcile a commit; it is tried again later",
				"table", p.event.TableName, "snapshot", p.event.SnapshotID, "event", p.event.ID, "wait", wait, "error", l.err)
		}
		d.note(ctx, p.event.ID, l.err)
	}
}

func (d *Dispatcher) note(ctx context.Context, id int64, cause error) {
	if err := d.outbox.DelayEvent(ctx, id, cause.Error()); err != nil {
		d.log.Debug("a failed start could not be noted", "event", id, "error", err)
	}
}

// removeStarted removes what is started. What cannot be removed now is remembered, and not started again by this process.
func (d *Dispatcher) removeStarted(ctx context.Context) error {
	if len(d.started) == 0 {
		return nil
	}
	if err := d.outbox.RemoveEvents(ctx, d.started); err != nil {
		return err
	}
	d.started = nil
	return nil
}

// down gives the wait after a failed round and logs the first of an outage. A stop is no outage.
func (d *Dispatcher) down(ctx context.Context, part string, err error) pause {
	if ctx.Err() != nil {
		return pause{}
	}
	d.metrics.failures.WithLabelValues(part).Inc()
	if d.outage != part {
		d.outage = part
		d.log.Warn("commits wait for their reconciliation until this is back", "part", part, "error", err)
	}
	return pause{time: d.backoff.wait()}
}

func (d *Dispatcher) recovered() {
	d.backoff.reset()
	if d.outage != "" {
		d.log.Info("commits are reconciled again", "part", d.outage)
		d.outage = ""
	}
}
