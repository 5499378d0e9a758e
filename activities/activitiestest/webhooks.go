package activitiestest

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/webhooks"
)

// webhookPage is how many deliveries one page has.
const webhookPage = 50

// webhook is one that goes once it has got everything.
type webhook struct {
	id      string
	pending int
	takes   time.Duration // a page
}

// AddWebhook adds a webhook with deliveries that are due, each page of which takes a while.
func (w *World) AddWebhook(id string, pending int, takes time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.webhooks = append(w.webhooks, &webhook{id: id, pending: pending, takes: takes})
}

// Courier takes the deliveries of the world's webhooks away.
func (w *World) Courier() activities.Courier { return courier{w} }

type courier struct{ world *World }

// Await implements activities.Courier, as do the methods below. It does not wait.
func (c courier) Await(ctx context.Context, busy []string, _ time.Duration, _ <-chan struct{}) (webhooks.Work, error) {
	if err := c.world.called(ctx, "Await", ""); err != nil {
		return webhooks.Work{}, err
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	var out webhooks.Work
	for _, hook := range c.world.webhooks {
		if hook.pending == 0 {
			continue
		}
		out.Webhooks++
		if !slices.Contains(busy, hook.id) {
			out.Due = append(out.Due, hook.id)
		}
	}
	return out, nil
}

// Deliver sends a page.
func (c courier) Deliver(ctx context.Context, id string) (webhooks.Page, error) {
	if err := c.world.called(ctx, "Deliver", id); err != nil {
		return webhooks.Page{}, err
	}
	c.world.mu.Lock()
	at := slices.IndexFunc(c.world.webhooks, func(h *webhook) bool { return h.id == id })
	hook := c.world.webhooks[at]
	c.world.mu.Unlock()
	time.Sleep(hook.takes)
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	n := min(webhookPage, hook.pending)
	hook.pending -= n
	return webhooks.Page{Delivered: n, More: hook.pending > 0}, nil
}

// Prune counts that it was asked for.
func (c courier) Prune(ctx context.Context) error { return c.world.called(ctx, "Prune", "") }
