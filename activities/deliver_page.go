package activities

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
)

// DeliverPageInput names a webhook.
type DeliverPageInput struct {
	WebhookID string `json:"webhookId"`
}

// DeliverPageResult counts deliveries by what became of them.
type DeliverPageResult struct {
	Delivered int  `json:"delivered,omitempty"`
	Failed    int  `json:"failed,omitempty"` // to be tried again
	Dead      int  `json:"dead,omitempty"`
	More      bool `json:"more,omitempty"` // there may be others that are due
}

// DeliverPage sends a page of a webhook's due deliveries. It is idempotent as far as a receiver allows: one that was sent
// and not written as sent goes again, with the same id, by which receivers tell that it did.
func (a *Activities) DeliverPage(ctx context.Context, in DeliverPageInput) (DeliverPageResult, error) {
	if a.ports.Courier == nil {
		return DeliverPageResult{}, toTemporal(ctx, fault.New(fault.Unavailable, "This worker delivers to no webhooks."))
	}
	defer heartbeat(ctx)()
	page, err := a.ports.Courier.Deliver(ctx, in.WebhookID)
	return DeliverPageResult{Delivered: page.Delivered, Failed: page.Failed, Dead: page.Dead, More: page.More}, toTemporal(ctx, err)
}
