package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

// stillPending is the predicate of the index webhook_deliveries_due. It is written out, because an index of a part is not used for a
// value that a statement is given.
const stillPending = "state = 'pending'"

// deliveryBatch is how many deliveries one statement adds.
const deliveryBatch = 200

// Deliveries implements webhooks.Store.
func (s *Store) Deliveries(ctx context.Context, f models.DeliveryFilter) ([]models.WebhookDelivery, error) {
	if !storable(f.Before) || !storable(f.WebhookID) {
		return []models.WebhookDelivery{}, nil
	}
	query := limited(s.query(ctx), f.Limit).Where("webhook_id = ?", f.WebhookID).Order("id DESC")
	if f.State != "" {
		query = query.Where("state = ?", f.State)
	}
	if f.Before != "" {
		query = query.Where("id < ?", f.Before)
	}
	return all[models.WebhookDelivery](ctx, query)
}

// FanOut implements webhooks.Store. An event that is there already is one that is replayed: it is to be delivered again.
func (s *Store) FanOut(ctx context.Context, webhookID string, limit int) (more bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		hook, err := lockWebhook(tx, webhookID)
		if err != nil || hook.Disabled {
			more = false
			return err
		}
		found, err := sealedAfter(tx, hook.Cursor, limit)
		if err != nil || len(found) == 0 {
			more = false
			return err
		}
		rows, err := s.deliveriesOf(hook, found)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			if err := tx.Clauses(deliverAgain()).CreateInBatches(&rows, deliveryBatch).Error; err != nil {
				return err
			}
		}
		more = len(found) == limit
		return tx.Model(&models.Webhook{}).Where("id = ?", hook.ID).UpdateColumn("cursor", found[len(found)-1].Seq).Error
	})
	return more && err == nil, err
}

func (s *Store) deliveriesOf(hook models.Webhook, found []models.SealedEvent) ([]models.WebhookDelivery, error) {
	var rows []models.WebhookDelivery
	now := s.clock()
	for _, e := range found {
		if !hook.Wants(e.AuditEvent) {
			continue
		}
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		rows = append(rows, models.WebhookDelivery{
			ID: id.String(), WebhookID: hook.ID, EventID: e.EventID, EventSeq: e.Seq, Type: e.Type,
			State: models.DeliveryPending, NextAt: now, CreatedAt: now,
		})
	}
	return rows, nil
}

func deliverAgain() clause.OnConflict {
	return clause.OnConflict{
		Columns: []clause.Column{{Name: "webhook_id"}, {Name: "event_id"}},
		DoUpdates: clause.Assignments(map[string]any{
			"state": models.DeliveryPending, "attempts": 0, "next_at": gorm.Expr("excluded.next_at"),
			"created_at": gorm.Expr("excluded.created_at"), "delivered_at": nil, "last_error": "", "last_status": 0,
		}),
	}
}

// DueWebhooks implements webhooks.Store.
func (s *Store) DueWebhooks(ctx context.Context, now time.Time) ([]string, error) {
	due := s.query(ctx).Table("webhook_deliveries AS d").Select("1").
		Where("d.webhook_id = w.id AND d."+stillPending+" AND d.next_at <= ?", stored(now))
	ids := []string{}
	err := s.query(ctx).Table("webhooks AS w").Select("w.id").Where("NOT w.disabled AND EXISTS (?)", due).Order("w.id").Scan(&ids).Error
	return ids, translate(ctx, err)
}

// DueDeliveries implements webhooks.Store.
func (s *Store) DueDeliveries(ctx context.Context, webhookID string, now time.Time, limit int) ([]webhooks.DueDelivery, error) {
	rows, err := all[models.WebhookDelivery](ctx, limited(s.query(ctx), limit).
		Where("webhook_id = ? AND "+stillPending+" AND next_at <= ?", webhookID, stored(now)).Order("next_at, event_seq"))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.EventID
	}
	found, err := all[models.AuditEvent](ctx, s.query(ctx).Where("event_id IN ?", padded(ids)))
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*models.AuditEvent, len(found))
	for i := range found {
		byID[found[i].EventID] = &found[i]
	}
	out := make([]webhooks.DueDelivery, len(rows))
	for i, r := range rows {
		out[i] = webhooks.DueDelivery{WebhookDelivery: r, Event: byID[r.EventID]}
	}
	return out, nil
}

// SettleDeliveries implements webhooks.Store. The number of attempts tells whether another settled the attempt, or the
// delivery is one that is replayed.
func (s *Store) SettleDeliveries(ctx context.Context, webhookID string, done []models.WebhookDelivery, postpone time.Time) error {
	if len(done) == 0 && postpone.IsZero() {
		return nil
	}
	return s.writeAlone(ctx, func(tx *gorm.DB) error {
		for _, d := range done {
			set := map[string]any{
				"state": d.State, "attempts": d.Attempts, "next_at": stored(d.NextAt), "last_error": clean(d.LastError), "last_status": d.LastStatus,
			}
			if d.DeliveredAt != nil {
				set["delivered_at"] = stored(*d.DeliveredAt)
			}
			err := tx.Model(&models.WebhookDelivery{}).
				Where("id = ? AND "+stillPending+" AND attempts = ?", d.ID, d.Attempts-1).UpdateColumns(set).Error
			if err != nil {
				return err
			}
		}
		if postpone.IsZero() {
			return nil
		}
		return tx.Model(&models.WebhookDelivery{}).
			Where("webhook_id = ? AND "+stillPending+" AND next_at < ?", webhookID, stored(postpone)).
			UpdateColumn("next_at", stored(postpone)).Error
	})
}

// ReplayDead implements webhooks.Store.
func (s *Store) ReplayDead(ctx context.Context, webhookID string, event models.AuditEvent) (count int64, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		if _, err := lockWebhook(tx, webhookID); err != nil {
			return err
		}
		now := s.clock()
		done := tx.Model(&models.WebhookDelivery{}).Where("webhook_id = ? AND state = ?", webhookID, models.DeliveryDead).
			UpdateColumns(map[string]any{"state": models.DeliveryPending, "attempts": 0, "next_at": now, "created_at": now})
		if count = done.RowsAffected; done.Error != nil || count == 0 {
			return done.Error
		}
		return s.insertAudit(tx, counted(event, count))
	})
	return count, err
}

// counted gives a copy of an event that says how many deliveries it is about.
func counted(event models.AuditEvent, deliveries int64) models.AuditEvent {
	details := maps.Clone(event.Details.V)
	details["deliveries"] = deliveries
	event.Details.V = details
	return event
}

// ReplaySince implements webhooks.Store.
func (s *Store) ReplaySince(ctx context.Context, webhookID string, since time.Time, event models.AuditEvent) (count int64, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		hook, err := lockWebhook(tx, webhookID)
		if err != nil {
			return err
		}
		var first *int64
		err = tx.Model(&models.AuditEvent{}).Select("MIN(seq)").Where("at >= ? AND seq IS NOT NULL", stored(since)).Scan(&first).Error
		if err != nil {
			return err
		}
		count = 0
		if first == nil || *first > hook.Cursor {
			return nil // all of that is still to come
		}
		if count, err = countWanted(tx, hook, *first); err != nil {
			return err
		}
		err = tx.Model(&models.Webhook{}).Where("id = ?", hook.ID).UpdateColumn("cursor", *first-1).Error
		if err != nil {
			return err
		}
		return s.insertAudit(tx, counted(event, count))
	})
	return count, err
}

// countWanted counts the events from a place up to the cursor that a webhook wants.
func countWanted(tx *gorm.DB, hook models.Webhook, first int64) (count int64, err error) {
	query := tx.Model(&models.AuditEvent{}).Where("seq >= ? AND seq <= ?", first, hook.Cursor)
	if hook.Catalog != "" {
		query = query.Where("catalog = ?", hook.Catalog)
	}
	if len(hook.Types.V) > 0 {
		wanted := slices.DeleteFunc(models.AuditTypes(), func(t models.AuditType) bool {
			return !slices.ContainsFunc(hook.Types.V, t.Matches)
		})
		query = query.Where("type IN ?", wanted)
	}
	err = query.Count(&count).Error
	return count, err
}

// PruneDeliveries implements webhooks.Store.
func (s *Store) PruneDeliveries(ctx context.Context, state models.DeliveryState, before time.Time, limit int) (removed int64, err error) {
	if state == models.DeliveryPending {
		return 0, fault.New(fault.Internal, "Deliveries that are on their way are not removed.")
	}
	err = s.writeAlone(ctx, func(tx *gorm.DB) error {
		old := tx.Model(&models.WebhookDelivery{}).Select("id").Where("state = ? AND created_at < ?", state, stored(before)).Order("created_at").Limit(limit)
		done := tx.Where("id IN (?)", old).Delete(&models.WebhookDelivery{})
		removed = done.RowsAffected
		return done.Error
	})
	return removed, err
}
