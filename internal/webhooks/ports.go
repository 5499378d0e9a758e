package webhooks

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Store keeps webhooks and what is on its way to them. Absent rows are fault.NotFound, taken names fault.AlreadyExists.
// Every change of a webhook is one transaction with its audit event.
type Store interface {
	WebhookStore
	DeliveryStore
}

// WebhookStore keeps webhooks.
type WebhookStore interface {
	// Webhooks gives webhooks in order of their ids after the given one; limit 0: all.
	Webhooks(ctx context.Context, after string, limit int) ([]models.Webhook, error)
	Webhook(ctx context.Context, id string) (models.Webhook, error)
	// CreateWebhook adds a webhook whose cursor is where the sealed audit ends, at most most of them.
	CreateWebhook(ctx context.Context, w models.Webhook, most int, event models.AuditEvent) error
	// UpdateWebhook stores all of w but its cursor, where the row was not changed since before: else fault.Conflict. One that
	// was disabled and is not any more goes on where the sealed audit ends.
	UpdateWebhook(ctx context.Context, w models.Webhook, before time.Time, event models.AuditEvent) error
	// DeleteWebhook takes its deliveries with it.
	DeleteWebhook(ctx context.Context, id string, event models.AuditEvent) error
	// WebhookBacklogs counts what webhooks have not got: of all of them, those without any too.
	WebhookBacklogs(ctx context.Context) ([]models.WebhookBacklog, error)
}

// DeliveryStore keeps deliveries.
type DeliveryStore interface {
	Deliveries(ctx context.Context, f models.DeliveryFilter) ([]models.WebhookDelivery, error)
	// ReplayDead makes a webhook's dead deliveries pending again, due at once, and counts them; without any there is no event.
	// event gets the count as its detail "deliveries".
	ReplayDead(ctx context.Context, webhookID string, event models.AuditEvent) (int64, error)
	// ReplaySince puts a webhook's cursor before the first sealed event that is not older than since, and counts those of the
	// events up to the old cursor that the webhook wants. They are delivered again, whatever became of them.
	ReplaySince(ctx context.Context, webhookID string, since time.Time, event models.AuditEvent) (int64, error)

	// FanOut makes a delivery of each sealed event that a webhook wants, from its cursor on, limit events at most, and moves
	// the cursor past them, in one transaction. more tells whether there may be others. A disabled webhook gets none.
	FanOut(ctx context.Context, webhookID string, limit int) (more bool, err error)
	// DueWebhooks gives those of the webhooks that have deliveries that are due and are not disabled.
	DueWebhooks(ctx context.Context, now time.Time) ([]string, error)
	// DueDeliveries gives a webhook's deliveries that are due, the longest due first.
	DueDeliveries(ctx context.Context, webhookID string, now time.Time, limit int) ([]DueDelivery, error)
	// SettleDeliveries writes how attempts went, each where nobody settled that attempt before. When postpone is not zero,
	// the webhook's other deliveries that are due before it are due then.
	SettleDeliveries(ctx context.Context, webhookID string, done []models.WebhookDelivery, postpone time.Time) error
	// DisableWebhook disables a webhook that is not; without effect there is no event.
	DisableWebhook(ctx context.Context, id string, event models.AuditEvent) error
	// PruneDeliveries removes deliveries of a state that were made before, limit at most.
	PruneDeliveries(ctx context.Context, state models.DeliveryState, before time.Time, limit int) (int64, error)
}

// DueDelivery is a delivery with its event; Event is nil when the event is no longer in the audit.
type DueDelivery struct {
	models.WebhookDelivery
	Event *models.AuditEvent
}

// Catalogs finds catalogs by their names.
type Catalogs interface {
	CatalogByName(ctx context.Context, name string) (models.Catalog, error)
}

// Sealer encrypts the secrets that deliveries are signed with; internal/keyring does.
type Sealer interface {
	Seal(plain, associated []byte) ([]byte, error)
	Open(sealed, associated []byte) ([]byte, error)
}

// Waker starts the delivery at once where it does not run.
type Waker interface {
	WakeDelivery(ctx context.Context) error
}
