package dispatch

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluice-data/sluice/models"
)

// pending is an event that is ours to start until a time.
type pending struct {
	event   models.OutboxEvent
	until   time.Time
	refused bool // before
}

// launch is one workflow to start: of one event, or of a batch, which then has a slot of some.
type launch struct {
	events []pending
	batch  *slots // nil for one event
	tried  bool
	err    error
}

func (l launch) kind() string {
	if l.batch == nil {
		return kindCommit
	}
	return kindBatch
}

// models gives the events without what is only of interest here.
func (l launch) models() []models.OutboxEvent {
	out := make([]models.OutboxEvent, len(l.events))
	for i, p := range l.events {
		out[i] = p.event
	}
	return out
}

// until is when the first claim of its events ends.
func (l launch) until() time.Time {
	first := l.events[0].until
	for _, p := range l.events[1:] {
		if p.until.Before(first) {
			first = p.until
		}
	}
	return first
}

// plan decides between one workflow for each commit, the cheaper way to a fast answer, and batches, the cheaper way to many.
// An event that was refused before goes alone, so that it cannot spoil a batch. In a backlog, events from the id fresh on are
// new, and a batch of their own that goes first; 0 is no backlog.
//
// The workflow of a single commit reconciles what it builds on too, a batch only its own commits: in a backlog singles would all
// do the same.
func (d *Dispatcher) plan(ready []pending, fresh int64) (launches []launch, batched bool) {
	var alone, together []pending
	for _, p := range ready {
		if p.refused {
			alone = append(alone, p)
		} else {
			together = append(together, p)
		}
	}
	if fresh == 0 && len(together) <= d.opt.BatchThreshold {
		groups := byTable(together)
		if d.singles.take(len(groups), d.opt.Now()) {
			return append(planSingles(alone), d.planTables(groups)...), false
		}
	}
	if fresh > 0 {
		first, _ := slices.BinarySearchFunc(together, fresh, func(p pending, id int64) int { return cmp.Compare(p.event.ID, id) })
		launches = planBatches(together[first:], d.opt.BatchThreshold, d.freshSlots)
		together = together[:first]
	}
	launches = append(launches, planSingles(alone)...)
	return append(launches, planBatches(together, d.opt.BatchSize, d.slots)...), true
}

// byTable groups events by their tables, in order of the first of each.
func byTable(events []pending) [][]pending {
	var groups [][]pending
	at := map[string]int{}
	for _, p := range events {
		key := p.event.TableID + "/" + p.event.TableUUID
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

// planTables makes one launch of each table's events.
func (d *Dispatcher) planTables(groups [][]pending) []launch {
	out := make([]launch, 0, len(groups))
	for _, events := range groups {
		l := launch{events: events}
		if len(events) > 1 {
			l.batch = d.slots
		}
		out = append(out, l)
	}
	return out
}

// planSingles makes one launch of each event.
func planSingles(events []pending) []launch {
	out := make([]launch, 0, len(events))
	for _, p := range events {
		out = append(out, launch{events: []pending{p}})
	}
	return out
}

// planBatches cuts the events into launches of at most size, in order, which get slots.
func planBatches(events []pending, size int, s *slots) []launch {
	var out []launch
	for len(events) > 0 {
		n := min(size, len(events))
		out = append(out, launch{events: events[:n:n], batch: s})
		events = events[n:]
	}
	return out
}

// budget is a token bucket: how many single starts are affordable now.
type budget struct {
	rate, most, tokens float64
	at                 time.Time
}

func newBudget(rate float64, most int, now time.Time) *budget {
	return &budget{rate: rate, most: float64(most), tokens: float64(most), at: now}
}

// take takes n tokens if there are as many.
func (b *budget) take(n int, now time.Time) bool {
	b.tokens = min(b.most, b.tokens+max(0, now.Sub(b.at).Seconds())*b.rate)
	b.at = now
	if float64(n) > b.tokens {
		return false
	}
	b.tokens -= float64(n)
	return true
}
