package dispatch

import (
	"maps"
	"slices"
	"time"

	"github.com/sluice-data/sluice/models"
)

// holdFirst and holdMost bound how long an event that Temporal refuses is left alone.
const holdFirst, holdMost = time.Second, 5 * time.Minute

// hold keeps an event that was refused out of the rounds for a while. Its claim may end before: then another dispatcher
// may try it.
type hold struct {
	event   models.OutboxEvent
	claimed time.Time // until when it is ours
	until   time.Time
	wait    time.Duration
}

// holds are the events that were refused, by id.
type holds map[int64]hold

// keep tells whether an event that was just claimed is on hold, and notes the new claim.
func (h holds) keep(e models.OutboxEvent, claimed time.Time) bool {
	held, ok := h[e.ID]
	if ok {
		held.event, held.claimed = e, claimed
		h[e.ID] = held
	}
	return ok
}

// due gives the held events whose time has come and that are ours until a start would be over, in order. Those that have not
// come back long after are somebody else's, and forgotten.
func (h holds) due(now, over time.Time) []pending {
	var due []pending
	for _, id := range slices.Sorted(maps.Keys(h)) {
		held := h[id]
		switch {
		case now.Before(held.until):
		case !over.After(held.claimed):
			due = append(due, pending{event: held.event, until: held.claimed, refused: true})
		case now.Sub(held.until) > holdMost && now.After(held.claimed):
			delete(h, id)
		}
	}
	return due
}

// refuse holds an event: not at all when it was refused in a batch and is yet to be tried alone, else longer each time.
func (h holds) refuse(p pending, alone bool, now time.Time) (wait time.Duration) {
	held := h[p.event.ID]
	held.event, held.claimed = p.event, p.until
	if alone {
		held.wait = min(max(2*held.wait, holdFirst), holdMost)
	}
	held.until = now.Add(held.wait)
	h[p.event.ID] = held
	return held.wait
}

// lose notes that an event is not ours any more; how long it is held is remembered.
func (h holds) lose(id int64) {
	if held, ok := h[id]; ok {
		held.claimed = time.Time{}
		h[id] = held
	}
}

// drop forgets all holds and gives their events.
func (h holds) drop() []int64 {
	ids := slices.Sorted(maps.Keys(h))
	clear(h)
	return ids
}
