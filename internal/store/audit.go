package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/models"
)

// AppendAudit implements catalog.Store, for events without another effect, such as refusals.
func (s *Store) AppendAudit(ctx context.Context, event models.AuditEvent) error {
	if s.one != nil { // a statement is a transaction, and one round trip
		return translate(ctx, s.insertAudit(s.query(ctx), event))
	}
	return s.writeAlone(ctx, func(tx *gorm.DB) error { return s.insertAudit(tx, event) })
}

// AuditEvents gives audit events, newest first.
func (s *Store) AuditEvents(ctx context.Context, f models.AuditFilter) ([]models.AuditEvent, error) {
	query := limited(s.query(ctx), f.Limit).Order("id DESC")
	equal := func(column, value string) {
		if value != "" {
			query = query.Where(column+" = ?", clean(value))
		}
	}
	equal("type", string(f.Type))
	equal("catalog", f.Catalog)
	equal("principal", f.Principal)
	equal("table_uuid", f.TableUUID)
	if f.TableUUID == "" {
		equal("table_name", f.Table)
	}
	if !f.Since.IsZero() {
		query = query.Where("at >= ?", stored(f.Since))
	}
	if f.Before > 0 {
		query = query.Where("id < ?", f.Before)
	}
	return all[models.AuditEvent](ctx, query)
}

// insertAudit adds events; one whose dedupe key is taken is there already and is left out.
func (s *Store) insertAudit(tx *gorm.DB, events ...models.AuditEvent) error {
	if len(events) == 0 {
		return nil
	}
	rows := make([]models.AuditEvent, len(events))
	for i, e := range events {
		rows[i] = s.auditRow(e)
		if e.DedupeKey != nil {
			tx = tx.Clauses(auditOnce())
		}
	}
	return tx.Create(&rows).Error
}

func auditOnce() clause.OnConflict {
	return clause.OnConflict{
		Columns:     []clause.Column{{Name: "dedupe_key"}},
		TargetWhere: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "dedupe_key IS NOT NULL"}}},
		DoNothing:   true,
	}
}

// auditRow completes an event and makes its text storable and short: much of it is what a client sent.
func (s *Store) auditRow(e models.AuditEvent) models.AuditEvent {
	e.ID = 0
	if e.EventID == "" {
		e.EventID = uuid.NewString()
	}
	if e.At.IsZero() {
		e.At = s.clock()
	}
	e.At = stored(e.At)
	for _, text := range []*string{
		&e.Principal, &e.TokenID, &e.Catalog, &e.Namespace, &e.Table, &e.TableUUID, &e.Reason, &e.RequestID, &e.Address,
	} {
		*text = clean(*text)
	}
	e.Reason = cutText(e.Reason, maxAuditReason) // names have bounds of their own, and are searched by
	e.Details = boundDetails(e.Details)
	if e.DedupeKey != nil {
		key := clean(*e.DedupeKey)
		e.DedupeKey = &key
	}
	return e
}

// stamp sets times that are not set, and rounds those that are to what the database keeps.
func (s *Store) stamp(times ...*time.Time) {
	now := s.clock()
	for _, t := range times {
		if t.IsZero() {
			*t = now
		}
		*t = stored(*t)
	}
}
