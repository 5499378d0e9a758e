package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// FanOutWebhooksInput asks for webhooks to deliver to.
type FanOutWebhooksInput struct {
	Busy  []string      `json:"busy,omitempty"`  // ids of webhooks that are being delivered to
	Wait  time.Duration `json:"wait,omitempty"`  // at most, in nanoseconds, when there is nothing to do
	Prune bool          `json:"prune,omitempty"` // old deliveries are removed too
}

// FanOutWebhooksResult is what there is to do.
type FanOutWebhooksResult struct {
	Webhooks int      `json:"webhooks"` // that are not disabled
	Due      []string `json:"due,omitempty"`
}

// FanOutWebhooks makes deliveries of what was sealed since, and waits until some are due. It is idempotent: a webhook's
// cursor moves in the transaction that writes the deliveries, and one of an event is one however often it is written.
func (a *Activities) FanOutWebhooks(ctx context.Context, in FanOutWebhooksInput) (FanOutWebhooksResult, error) {
	defer heartbeat(ctx)()
	out, err := a.fanOutWebhooks(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) fanOutWebhooks(ctx context.Context, in FanOutWebhooksInput) (FanOutWebhooksResult, error) {
	if a.ports.Courier == nil { // this installation has no webhooks
		return FanOutWebhooksResult{}, nil
	}
	if in.Prune {
		if err := a.ports.Courier.Prune(ctx); err != nil {
			return FanOutWebhooksResult{}, err
		}
	}
	work, err := a.ports.Courier.Await(ctx, in.Busy, in.Wait, activity.GetWorkerStopChannel(ctx))
	return FanOutWebhooksResult{Webhooks: work.Webhooks, Due: work.Due}, err
}
