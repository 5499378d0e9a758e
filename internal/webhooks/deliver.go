package webhooks

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	firstRetry = 5 * time.Second
	lastRetry  = time.Hour
	// leastAttempts is how often a delivery is tried at least before it is dead, however old it is: nobody may have been there
	// to send it.
	leastAttempts = 5
)

// Page is what Deliver came to.
type Page struct {
	Delivered, Failed, Dead int
	More                    bool // there may be others that are due
}

// Deliver sends a page of a webhook's due deliveries, in the order of events as far as their attempts allow. When a receiver
// takes none of the first ones, and seems to be down, the others are left until the earliest of these is tried again.
func (c *Courier) Deliver(ctx context.Context, webhookID string) (Page, error) {
	if c.Sealer == nil { // another worker may be able to: no attempt is lost on this one
		return Page{}, fault.New(fault.Unavailable, "This worker has no encryption keys and delivers to no webhooks: set encryption-keys as the API has them.")
	}
	w, err := c.Store.Webhook(ctx, webhookID)
	if fault.Is(err, fault.NotFound) || err == nil && w.Disabled {
		return Page{}, nil
	}
	if err != nil {
		return Page{}, err
	}
	due, err := c.Store.DueDeliveries(ctx, w.ID, c.Now(), deliveryPage)
	if err != nil {
		return Page{}, err
	}
	run := &pageRun{Courier: c, webhook: w, out: Page{More: len(due) == deliveryPage}}
	if run.secret, err = c.Sealer.Open(w.Secret, associated(w.ID)); err != nil {
		c.Log.Error("the secret of a webhook cannot be decrypted", "webhook", w.Name, "error", err)
		run.noSecret = "The secret cannot be decrypted: ask the operators whether an encryption key is missing."
	}
	began := c.Now()
	for wave := range slices.Chunk(due, parallel) {
		if c.Now().Sub(began) > pageBudget {
			run.out.More = true
			break
		}
		if goOn, err := run.wave(ctx, wave); err != nil || !goOn {
			return run.out, err
		}
	}
	return run.out, nil
}

// pageRun is one page being delivered.
type pageRun struct {
	*Courier
	webhook  models.Webhook
	secret   []byte
	noSecret string // why there is none
	out      Page
}

// wave sends deliveries side by side and writes how it went. It tells whether to go on.
func (r *pageRun) wave(ctx context.Context, wave []DueDelivery) (goOn bool, err error) {
	answers := make([]answer, len(wave))
	var sending sync.WaitGroup
	for i, d := range wave {
		if d.Event == nil {
			continue
		}
		sending.Go(func() { answers[i] = r.send(ctx, d) })
	}
	sending.Wait()
	var done []models.WebhookDelivery
	down, gone := true, false
	for i, d := range wave {
		if ctx.Err() != nil && !answers[i].ok() {
			continue // it was cut off by us: that says nothing of the receiver
		}
		down = down && d.Event != nil && answers[i].down()
		gone = gone || answers[i].status == http.StatusGone
		done = append(done, r.settled(d, answers[i]))
	}
	r.count(done)
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	postpone := time.Time{}
	if down && len(done) > 0 {
		postpone, r.out.More = earliest(done), false
	}
	if err := r.Store.SettleDeliveries(write, r.webhook.ID, done, postpone); err != nil {
		return false, err
	}
	if gone {
		r.out.More = false
		return false, r.disable(write, r.webhook)
	}
	return postpone.IsZero() && ctx.Err() == nil, ctx.Err()
}

func (r *pageRun) send(ctx context.Context, d DueDelivery) answer {
	if r.noSecret != "" {
		return answer{problem: r.noSecret}
	}
	body, err := message(r.Source, d.EventSeq, *d.Event)
	if err != nil {
		r.Log.Error("an event cannot be written", "event", d.EventID, "error", err)
		return answer{problem: "The event cannot be written as JSON."}
	}
	return r.Sender.send(ctx, r.webhook.URL, d.EventID, r.secret, body)
}

// settled gives a delivery as it is after an attempt.
func (r *pageRun) settled(d DueDelivery, a answer) models.WebhookDelivery {
	now := r.Now()
	out := d.WebhookDelivery
	out.Attempts++
	out.LastStatus, out.LastError = a.status, a.problem
	tried := out.Attempts >= leastAttempts && now.Sub(out.CreatedAt) >= r.GiveUp
	switch {
	case d.Event == nil:
		out.State, out.LastError = models.DeliveryDead, "The event is no longer in the audit."
	case a.ok():
		out.State, out.DeliveredAt = models.DeliveryDelivered, &now
	case tried || a.status == http.StatusGone:
		out.State = models.DeliveryDead
	default:
		out.NextAt = now.Add(max(backoff(out.Attempts), a.retryAfter))
	}
	return out
}

func (r *pageRun) count(done []models.WebhookDelivery) {
	for _, d := range done {
		switch d.State {
		case models.DeliveryDelivered:
			r.out.Delivered++
			r.results.WithLabelValues(resultDelivered).Inc()
		case models.DeliveryDead:
			r.out.Dead++
			r.results.WithLabelValues(resultDead).Inc()
		default:
			r.out.Failed++
			r.results.WithLabelValues(resultFailed).Inc()
		}
	}
}

// backoff is how long to wait after so many attempts: twice as long each time, and up to a fifth more or less, so that
// what failed together does not come together.
func backoff(attempts int) time.Duration {
	wait := lastRetry
	if n := attempts - 1; n < 10 {
		wait = min(firstRetry<<n, lastRetry)
	}
	return time.Duration(float64(wait) * (0.8 + 0.4*rand.Float64()))
}

func earliest(done []models.WebhookDelivery) time.Time {
	first := done[0].NextAt
	for _, d := range done[1:] {
		if d.NextAt.Before(first) {
			first = d.NextAt
		}
	}
	return first
}
