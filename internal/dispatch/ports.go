package dispatch

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Outbox is the queue of snapshots whose reconciliation is yet to be started.
type Outbox interface {
	// PendingEvents gives the oldest events, by id, at most limit.
	PendingEvents(ctx context.Context, limit int) ([]models.OutboxEvent, error)
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
}
