package models

import (
	"slices"
	"strings"
	"time"
)

// Webhook is an address that audit events are sent to.
type Webhook struct {
	ID        string `gorm:"primaryKey"` // a UUID that sorts by time
	Name      string // unique
	URL       string
	Types     JSON[[]string] // of the events that it gets, "finding.*" for a group; empty: all
	Catalog   string         // name; "" for events of all catalogs and of none
	Secret    []byte         // that deliveries are signed with, sealed by internal/keyring
	Disabled  bool
	CreatedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
	Cursor    int64 // seq of the last sealed audit event that was looked at for it
}

// Wants tells whether the webhook gets the event.
func (w Webhook) Wants(e AuditEvent) bool {
	return (w.Catalog == "" || w.Catalog == e.Catalog) &&
		(len(w.Types.V) == 0 || slices.ContainsFunc(w.Types.V, func(pattern string) bool { return e.Type.Matches(pattern) }))
}

// typeGroup ends a pattern that stands for every type of a noun: finding.*
const typeGroup = ".*"

// Matches tells whether the type is the pattern, or in the group that it names: "finding.*" is every finding.….
func (t AuditType) Matches(pattern string) bool {
	noun, isGroup := strings.CutSuffix(pattern, typeGroup)
	if isGroup {
		return strings.HasPrefix(string(t), noun+".")
	}
	return string(t) == pattern
}

// TypeGroup gives the noun of a pattern such as "finding.*".
func TypeGroup(pattern string) (noun string, ok bool) { return strings.CutSuffix(pattern, typeGroup) }

// KnownPattern tells whether some event has a type that matches the pattern.
func KnownPattern(pattern string) bool {
	return slices.ContainsFunc(AuditTypes(), func(t AuditType) bool { return t.Matches(pattern) })
}

// WebhookBacklog counts what a webhook has not got.
type WebhookBacklog struct {
	WebhookID     string
	Webhook       string // name
	Pending       int64
	Dead          int64
	OldestPending *time.Time // when that delivery was made; nil without one
}

// DeliveryState is how far a delivery is.
type DeliveryState string

// The states.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryDead      DeliveryState = "dead" // given up; it can be replayed
)

// WebhookDelivery is one audit event on its way to one webhook.
type WebhookDelivery struct {
	ID          string `gorm:"primaryKey"` // a UUID that sorts by time
	WebhookID   string
	EventID     string // of the audit event, and the id of the CloudEvent
	EventSeq    int64
	Type        AuditType
	State       DeliveryState
	Attempts    int
	NextAt      time.Time // not before
	LastError   string
	LastStatus  int // HTTP status of the last attempt, 0 for none
	CreatedAt   time.Time
	DeliveredAt *time.Time
}

// DeliveryFilter selects deliveries of a webhook, newest first.
type DeliveryFilter struct {
	WebhookID string
	State     DeliveryState // "" for all
	Before    string        // delivery ids below it
	Limit     int
}
