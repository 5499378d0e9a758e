package dispatch

import (
	"time"

	"github.com/sluice-data/sluice/models"
)

// launch is one workflow to start: of one event, or of a batch.
type launch struct {
	events []models.OutboxEvent
	tried  bool
	err    error
}

func (l launch) kind() string {
	if len(l.events) == 1 {
		return kindCommit
	}
	return kindBatch
}

// planSingles makes one launch of each event.
func planSingles(events []models.OutboxEvent) []launch {
	out := make([]launch, 0, len(events))
	for _, e := range events {
		out = append(out, launch{events: []models.OutboxEvent{e}})
	}
	return out
}

// planBatches cuts the events into launches of at most size, in order.
func planBatches(events []models.OutboxEvent, size int) []launch {
	var out []launch
	for len(events) > 0 {
		n := min(size, len(events))
		out = append(out, launch{events: events[:n:n]})
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
