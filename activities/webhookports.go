package activities

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/webhooks"
)

// Names of the activities that take events to webhooks.
const (
	FanOutWebhooksName = "FanOutWebhooks"
	DeliverPageName    = "DeliverPage"
)

// Courier takes audit events to webhooks. What it did is in the database, so that every method may be repeated.
type Courier interface {
	// Await makes deliveries of what was sealed and gives the webhooks, the busy ones left out, that have some which are due:
	// at once when there are any, or no webhooks at all, and else as soon as there are, when wait is over or stop is closed.
	Await(ctx context.Context, busy []string, wait time.Duration, stop <-chan struct{}) (webhooks.Work, error)
	// Deliver sends deliveries of a webhook that are due, and writes how it went.
	Deliver(ctx context.Context, webhookID string) (webhooks.Page, error)
	// Prune removes old deliveries.
	Prune(ctx context.Context) error
}
