package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noWebhook(id string) error {
	return fault.New(fault.NotFound, "There is no webhook with the id %q.", id)
}

func webhookTaken(name string) error {
	return fault.New(fault.AlreadyExists, "Webhook %q exists already: choose another name.", name)
}

// Webhooks implements webhooks.Store.
func (s *Store) Webhooks(ctx context.Context, after string, limit int) ([]models.Webhook, error) {
	if !storable(after) {
		return []models.Webhook{}, nil
	}
	return all[models.Webhook](ctx, limited(s.query(ctx), limit).Where("id > ?", after).Order("id"))
}

// Webhook implements webhooks.Store.
func (s *Store) Webhook(ctx context.Context, id string) (models.Webhook, error) {
	if !storable(id) {
		return models.Webhook{}, noWebhook(id)
	}
	return one[models.Webhook](ctx, s.query(ctx).Where("id = ?", id), noWebhook(id))
}

// CreateWebhook implements webhooks.Store.
func (s *Store) CreateWebhook(ctx context.Context, w models.Webhook, most int, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		row := w
		s.stamp(&row.CreatedAt, &row.UpdatedAt)
		var there int64
		if err := tx.Model(&models.Webhook{}).Count(&there).Error; err != nil {
			return err
		}
		if there >= int64(most) {
			return fault.New(fault.Invalid, "There are %d webhooks, which is the most that there may be. Delete one first.", there)
		}
		var err error
		if row.Cursor, err = sealedEnd(tx); err != nil {
			return err
		}
		if err := tx.Create(&row).Error; isDuplicate(err) {
			return webhookTaken(row.Name)
		} else if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// sealedEnd gives the place of the last sealed event.
func sealedEnd(tx *gorm.DB) (int64, error) {
	var state models.AuditState
	err := tx.Where("id = 1").Take(&state).Error
	return state.Seq, err
}

// UpdateWebhook implements webhooks.Store.
func (s *Store) UpdateWebhook(ctx context.Context, w models.Webhook, before time.Time, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		is, err := lockWebhook(tx, w.ID)
		if err != nil {
			return err
		}
		if !is.UpdatedAt.Equal(stored(before)) {
			return fault.New(fault.Conflict, "Webhook %q was changed meanwhile: load it and try again.", is.Name)
		}
		if is.Disabled && !w.Disabled {
			if is.Cursor, err = sealedEnd(tx); err != nil {
				return err
			}
		}
		err = tx.Model(&models.Webhook{}).Where("id = ?", w.ID).UpdateColumns(map[string]any{
			"name": w.Name, "url": w.URL, "types": w.Types, "catalog": w.Catalog, "secret": w.Secret, "disabled": w.Disabled,
			"updated_at": stored(w.UpdatedAt), "cursor": is.Cursor,
		}).Error
		if isDuplicate(err) {
			return webhookTaken(w.Name)
		}
		if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// lockWebhook reads a webhook that is to be changed, and holds it.
func lockWebhook(tx *gorm.DB, id string) (models.Webhook, error) {
	var row models.Webhook
	if !storable(id) {
		return row, noWebhook(id)
	}
	err := locking(tx, "UPDATE").Where("id = ?", id).Take(&row).Error
	if isAbsent(err) {
		return row, noWebhook(id)
	}
	return row, err
}

// DeleteWebhook implements webhooks.Store. The database takes its deliveries with it.
func (s *Store) DeleteWebhook(ctx context.Context, id string, event models.AuditEvent) error {
	if !storable(id) {
		return noWebhook(id)
	}
	return deleteOne[models.Webhook](ctx, s, id, noWebhook(id), event)
}

// DisableWebhook implements webhooks.Store.
func (s *Store) DisableWebhook(ctx context.Context, id string, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		row, err := lockWebhook(tx, id)
		if fault.Is(err, fault.NotFound) || err == nil && row.Disabled {
			return nil
		}
		if err != nil {
			return err
		}
		at := s.clock()
		if !at.After(row.UpdatedAt) {
			at = row.UpdatedAt.Add(time.Microsecond)
		}
		err = tx.Model(&models.Webhook{}).Where("id = ?", id).UpdateColumns(map[string]any{"disabled": true, "updated_at": at}).Error
		if err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// WebhookBacklogs implements webhooks.Store.
func (s *Store) WebhookBacklogs(ctx context.Context) ([]models.WebhookBacklog, error) {
	hooks, err := s.Webhooks(ctx, "", 0)
	if err != nil || len(hooks) == 0 {
		return []models.WebhookBacklog{}, err
	}
	var counts []struct {
		WebhookID string
		State     models.DeliveryState
		Count     int64
	}
	err = s.query(ctx).Model(&models.WebhookDelivery{}).Select("webhook_id, state, count(*) AS count").
		Where("state IN ?", []models.DeliveryState{models.DeliveryPending, models.DeliveryDead}).Group("webhook_id, state").Scan(&counts).Error
	if err != nil {
		return nil, translate(ctx, err)
	}
	out := make([]models.WebhookBacklog, len(hooks))
	for i, w := range hooks {
		out[i].WebhookID, out[i].Webhook = w.ID, w.Name
		for _, c := range counts {
			switch {
			case c.WebhookID != w.ID:
			case c.State == models.DeliveryDead:
				out[i].Dead = c.Count
			default:
				out[i].Pending = c.Count
			}
		}
		if out[i].Pending == 0 {
			continue
		}
		var oldest []models.WebhookDelivery
		err := s.query(ctx).Where("state = ? AND webhook_id = ?", models.DeliveryPending, w.ID).Order("created_at").Limit(1).Find(&oldest).Error
		if err != nil {
			return nil, translate(ctx, err)
		}
		if len(oldest) > 0 {
			out[i].OldestPending = &oldest[0].CreatedAt
		}
	}
	return out, nil
}
