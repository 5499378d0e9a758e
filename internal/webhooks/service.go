package webhooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// itself is who does what nobody asked for.
const itself = "sluice"

// mostWebhooks bounds how many there are: each is asked about every second.
const mostWebhooks = 100

// Deps is what the use cases need.
type Deps struct {
	Store    Store
	Catalogs Catalogs
	Sealer   Sealer
	Sender   *Sender
	Waker    Waker // nil: the schedule begins the delivery
	Source   string
	Private  bool // addresses in private networks and plain http are allowed
	Log      *slog.Logger
	Now      func() time.Time
}

// Service is the use cases. Webhooks belong to who administers the installation: they see every event, wherever their
// address is. It keeps nothing between calls and may be used by many at once.
type Service struct{ Deps }

// New makes a Service.
func New(d Deps) *Service { return &Service{d} }

// View is a webhook with what it has not got.
type View struct {
	models.Webhook
	Pending, Dead int64
}

// mayRead lets in who may read the whole audit, which is what webhooks carry.
func mayRead(caller policy.Caller) error {
	if caller.CatalogID != "" {
		return fault.New(fault.Forbidden, "This token is bound to one catalog, and webhooks are in none. Use one that is bound to none.")
	}
	return caller.Require(policy.ReadAllAudit, policy.Service, policy.Path{}, "the service")
}

// mayChange keeps out read-only tokens and those of jobs besides. what completes "may not".
func mayChange(caller policy.Caller, what string) error {
	switch {
	case caller.ReadOnly:
		return fault.New(fault.Forbidden, "This token is read-only and may not %s. Use a token minted with canWrite and canGovern.", what)
	case !caller.CanGovern:
		return fault.New(fault.Forbidden, "This token may not change governance. Use one minted with canGovern or the principal's credentials.")
	}
	return mayRead(caller)
}

// Webhooks gives webhooks in order of their ids after the given one.
func (s *Service) Webhooks(ctx context.Context, caller policy.Caller, after string, limit int) ([]View, error) {
	if err := mayRead(caller); err != nil {
		return nil, err
	}
	rows, err := s.Store.Webhooks(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	return s.views(ctx, rows...)
}

// Webhook gives one.
func (s *Service) Webhook(ctx context.Context, caller policy.Caller, id string) (View, error) {
	if err := mayRead(caller); err != nil {
		return View{}, err
	}
	row, err := s.Store.Webhook(ctx, id)
	if err != nil {
		return View{}, err
	}
	return s.view(ctx, row)
}

func (s *Service) view(ctx context.Context, row models.Webhook) (View, error) {
	views, err := s.views(ctx, row)
	if err != nil {
		return View{}, err
	}
	return views[0], nil
}

func (s *Service) views(ctx context.Context, rows ...models.Webhook) ([]View, error) {
	counts, err := s.Store.WebhookBacklogs(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]View, len(rows))
	for i, row := range rows {
		out[i].Webhook = row
		for _, c := range counts {
			if c.WebhookID == row.ID {
				out[i].Pending, out[i].Dead = c.Pending, c.Dead
			}
		}
	}
	return out, nil
}

// CreateWebhook adds a webhook, which gets what happens from now on, and gives the secret that its deliveries are signed
// with, which is not shown again.
func (s *Service) CreateWebhook(ctx context.Context, caller policy.Caller, in Input) (View, string, error) {
	if err := mayChange(caller, "make webhooks"); err != nil {
		return View{}, "", err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return View{}, "", err
	}
	now := s.Now()
	w := models.Webhook{ID: id.String(), CreatedBy: caller.Principal, CreatedAt: now, UpdatedAt: now}
	if err := s.apply(ctx, &w, in); err != nil {
		return View{}, "", err
	}
	shown, err := s.giveSecret(&w)
	if err != nil {
		return View{}, "", err
	}
	if err := s.Store.CreateWebhook(ctx, w, mostWebhooks, s.event(caller, models.AuditWebhookCreated, detailsOf(w))); err != nil {
		return View{}, "", err
	}
	s.wake(ctx)
	stored, err := s.Store.Webhook(ctx, w.ID)
	return View{Webhook: stored}, shown, err
}

// UpdateWebhook changes what the input names. The secret is "" unless there is a new one. A webhook that is enabled again
// gets what happens from then on; what it missed can be replayed.
func (s *Service) UpdateWebhook(ctx context.Context, caller policy.Caller, id string, in Input) (view View, secret string, err error) {
	if err := mayChange(caller, "change webhooks"); err != nil {
		return View{}, "", err
	}
	w, err := s.Store.Webhook(ctx, id)
	if err != nil {
		return View{}, "", err
	}
	before := w
	if err := s.apply(ctx, &w, in); err != nil {
		return View{}, "", err
	}
	if in.RotateSecret {
		if secret, err = s.giveSecret(&w); err != nil {
			return View{}, "", err
		}
	}
	if !in.RotateSecret && same(before, w) {
		view, err = s.view(ctx, before)
		return view, "", err
	}
	// The time is what tells this change from others.
	if w.UpdatedAt = s.Now(); !w.UpdatedAt.After(before.UpdatedAt) {
		w.UpdatedAt = before.UpdatedAt.Add(time.Microsecond)
	}
	details := detailsOf(w)
	if in.RotateSecret {
		details["secretRotated"] = true
	}
	if err := s.Store.UpdateWebhook(ctx, w, before.UpdatedAt, s.event(caller, models.AuditWebhookUpdated, details)); err != nil {
		return View{}, "", err
	}
	s.wake(ctx)
	view, err = s.Webhook(ctx, caller, id)
	return view, secret, err
}

// DeleteWebhook removes a webhook and what is on its way to it.
func (s *Service) DeleteWebhook(ctx context.Context, caller policy.Caller, id string) error {
	if err := mayChange(caller, "delete webhooks"); err != nil {
		return err
	}
	w, err := s.Store.Webhook(ctx, id)
	if err != nil {
		return err
	}
	details := map[string]any{"webhook": w.ID, "name": w.Name}
	return s.Store.DeleteWebhook(ctx, id, s.event(caller, models.AuditWebhookDeleted, details))
}

// Deliveries gives deliveries of a webhook, newest first.
func (s *Service) Deliveries(ctx context.Context, caller policy.Caller, f models.DeliveryFilter) ([]models.WebhookDelivery, error) {
	if err := mayRead(caller); err != nil {
		return nil, err
	}
	if _, err := s.Store.Webhook(ctx, f.WebhookID); err != nil {
		return nil, err
	}
	return s.Store.Deliveries(ctx, f)
}

// Replay sends again what is dead, or what happened since a time, and counts the deliveries. Exactly one of the two is to be
// asked for.
func (s *Service) Replay(ctx context.Context, caller policy.Caller, id string, since time.Time, dead bool) (int64, error) {
	if err := mayChange(caller, "replay deliveries"); err != nil {
		return 0, err
	}
	if dead != since.IsZero() {
		return 0, fault.New(fault.Invalid, "Give either since or state to say what is to be sent again.")
	}
	w, err := s.Store.Webhook(ctx, id)
	if err != nil {
		return 0, err
	}
	if w.Disabled {
		return 0, fault.New(fault.Invalid, "Webhook %s is disabled and gets nothing. Enable it first.", w.Name)
	}
	details := map[string]any{"webhook": w.ID, "name": w.Name}
	var count int64
	if dead {
		details["state"] = models.DeliveryDead
		count, err = s.Store.ReplayDead(ctx, id, s.event(caller, models.AuditWebhookReplayed, details))
	} else {
		details["since"] = since.UTC()
		count, err = s.Store.ReplaySince(ctx, id, since, s.event(caller, models.AuditWebhookReplayed, details))
	}
	if err == nil {
		s.wake(ctx)
	}
	return count, err
}

// wake begins the delivery; where that fails the schedule does.
func (s *Service) wake(ctx context.Context) {
	if s.Waker == nil {
		return
	}
	if err := s.Waker.WakeDelivery(ctx); err != nil {
		s.Log.WarnContext(ctx, "webhooks are delivered from the next minute on", "error", err)
	}
}

// event is the audit row of a change.
func (s *Service) event(caller policy.Caller, typ models.AuditType, details map[string]any) models.AuditEvent {
	return models.AuditEvent{
		EventID: uuid.NewString(), Type: typ, At: s.Now(), Principal: caller.Principal, TokenID: caller.TokenID, Allowed: true,
		RequestID: caller.Origin.RequestID, Address: caller.Origin.Address, Details: models.JSON[map[string]any]{V: details},
	}
}

// detailsOf says what a webhook is, without what may be secret.
func detailsOf(w models.Webhook) map[string]any {
	return map[string]any{
		"webhook": w.ID, "name": w.Name, "url": withoutQuery(w.URL), "types": w.Types.V, "catalog": w.Catalog, "disabled": w.Disabled,
	}
}
