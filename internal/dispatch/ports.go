package dispatch

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Outbox is the queue of snapshots whose reconciliation is yet to be started.
type Outbox interface {
	// ClaimEvents gives events that nobody has claimed, or whose claim is over, and claims them for the owner until the lease is
	// over by the outbox's own clock: the oldest by id, at most as many, and of the others the newest, at most as many, all in
	// order of id. Of two callers at once, in any processes, each gets others. With nothing to claim it writes nothing.
	ClaimEvents(ctx context.Context, owner string, lease time.Duration, oldest, newest int) ([]models.OutboxEvent, error)
	// ReleaseEvents ends the owner's claims on events; those that it has not, or no more, are left alone.
	ReleaseEvents(ctx context.Context, owner string, ids []int64) error
	// RemoveEvents removes events whose workflows are started.
	RemoveEvents(ctx context.Context, ids []int64) error
	// DelayEvent counts a failed attempt, with its cause, for operators to see.
	DelayEvent(ctx context.Context, id int64, cause string) error
	// Backlog gives the number of events and the time of the oldest, zero when there are none.
	Backlog(ctx context.Context) (int64, time.Time, error)
}

// Starter starts reconciliations. Starting what is already running or done is no error.
type Starter interface {
	StartReconcile(ctx context.Context, event models.OutboxEvent) error
	StartReconcileBatch(ctx context.Context, events []models.OutboxEvent) error
	// AwaitReconcileBatch waits until the batch that was started for just these events has ended, however, or ctx has.
	AwaitReconcileBatch(ctx context.Context, events []models.OutboxEvent) error
}
