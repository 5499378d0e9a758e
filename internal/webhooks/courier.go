package webhooks

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// fanPage is how many events one transaction looks at.
	fanPage = 500
	// fanRounds bounds the pages of one webhook in one look, so that one that is far behind lets others have theirs.
	fanRounds = 10
	// deliveryPage is how many deliveries of a webhook Deliver takes, and parallel how many of them are sent at once.
	deliveryPage = 50
	parallel     = 8
	// pageBudget is after how long Deliver begins no more, so that a slow receiver does not keep it.
	pageBudget = 5 * time.Second
	// settleWithin bounds the writing of what was sent when the process stops.
	settleWithin = 5 * time.Second
	// pollEvery is how often Await looks.
	pollEvery = time.Second

	keepDelivered = 7 * 24 * time.Hour
	keepDead      = 30 * 24 * time.Hour
	// pruneBatch is how many deliveries of a state one Prune removes.
	pruneBatch = 5000
)

// CourierDeps is what a Courier needs.
type CourierDeps struct {
	Store      Store
	Sealed     Sealed
	Sealer     Sealer // nil: nothing can be signed, and deliveries are left to others
	Sender     *Sender
	Source     string        // of the CloudEvents: the URL that people reach the installation by, or its name
	GiveUp     time.Duration // after which a delivery that was tried several times is dead
	Registerer prometheus.Registerer
	Log        *slog.Logger
	Now        func() time.Time
}

// Sealed tells how far the audit is sealed.
type Sealed interface {
	AuditState(ctx context.Context) (models.AuditState, error)
}

// Courier takes sealed audit events to webhooks. What is done is in the store, so that any number of them, and one that
// dies, lose nothing; two at one webhook send things twice.
type Courier struct {
	CourierDeps
	results *prometheus.CounterVec
}

// NewCourier makes a Courier.
func NewCourier(d CourierDeps) *Courier {
	c := &Courier{CourierDeps: d, results: newResults()}
	if d.Registerer != nil {
		if err := d.Registerer.Register(c.results); err != nil {
			d.Log.Warn("deliveries are not counted", "error", err)
		}
	}
	return c
}

// Work is what there is to do.
type Work struct {
	Webhooks int      // that are not disabled
	Due      []string // ids of those with deliveries that are due
}

// Await makes deliveries of what was sealed and gives the webhooks, the busy ones left out, that have some which are due. It
// returns at once when there are any, or no webhooks at all, and else looks every second until wait is over or stop is closed.
func (c *Courier) Await(ctx context.Context, busy []string, wait time.Duration, stop <-chan struct{}) (Work, error) {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		work, err := c.look(ctx, busy)
		if err != nil || work.Webhooks == 0 || len(work.Due) > 0 {
			return work, err
		}
		next := time.NewTimer(pollEvery)
		select {
		case <-ctx.Done():
			next.Stop()
			return work, ctx.Err()
		case <-stop:
			next.Stop()
			return work, nil
		case <-deadline.C:
			next.Stop()
			return work, nil
		case <-next.C:
		}
	}
}

func (c *Courier) look(ctx context.Context, busy []string) (Work, error) {
	all, err := c.Store.Webhooks(ctx, "", 0)
	if err != nil {
		return Work{}, err
	}
	all = slices.DeleteFunc(all, func(w models.Webhook) bool { return w.Disabled })
	if len(all) == 0 {
		return Work{}, nil
	}
	end, err := c.Sealed.AuditState(ctx)
	if err != nil {
		return Work{}, err
	}
	for _, w := range all {
		if w.Cursor >= end.Seq {
			continue
		}
		if err := c.fanOut(ctx, w.ID); err != nil {
			return Work{}, err
		}
	}
	due, err := c.Store.DueWebhooks(ctx, c.Now())
	due = slices.DeleteFunc(due, func(id string) bool { return slices.Contains(busy, id) })
	return Work{Webhooks: len(all), Due: due}, err
}

func (c *Courier) fanOut(ctx context.Context, id string) error {
	for range fanRounds {
		more, err := c.Store.FanOut(ctx, id, fanPage)
		if fault.Is(err, fault.NotFound) {
			return nil // deleted meanwhile
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Prune removes old deliveries: those that arrived after a week, dead ones after a month.
func (c *Courier) Prune(ctx context.Context) error {
	for state, keep := range map[models.DeliveryState]time.Duration{models.DeliveryDelivered: keepDelivered, models.DeliveryDead: keepDead} {
		if _, err := c.Store.PruneDeliveries(ctx, state, c.Now().Add(-keep), pruneBatch); err != nil {
			return err
		}
	}
	return nil
}

// disable ends deliveries to a receiver that says it is gone.
func (c *Courier) disable(ctx context.Context, w models.Webhook) error {
	c.Log.Warn("a webhook is disabled, because its receiver says that it is gone", "webhook", w.Name, "to", hostOf(w.URL))
	w.Disabled = true
	details := detailsOf(w)
	details["why"] = "The receiver answered 410 Gone."
	return c.Store.DisableWebhook(ctx, w.ID, models.AuditEvent{
		EventID: uuid.NewString(), Type: models.AuditWebhookUpdated, At: c.Now(), Principal: itself, Allowed: true,
		Details: models.JSON[map[string]any]{V: details},
	})
}
