package access

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// maxPath is the longest path that is recorded, in bytes.
const maxPath = 1 << 10

// Denial is a request that was refused, for the audit.
type Denial struct {
	Method, Route, Path string
	Status              int    // as it was answered
	Reason              string // the true one, where the answer hid it
	Catalog             string // names from the path, "" where it has none
	Namespace           string // dotted
	Table               string // dotted, with the namespace; of a view too
}

// Denials records refused requests.
type Denials struct {
	store   AuditStore
	now     func() time.Time
	refused refusals
}

// AuditStore adds to the audit.
type AuditStore interface {
	AppendAudit(ctx context.Context, event models.AuditEvent) error
}

// NewDenials makes a Denials over the store.
func NewDenials(store AuditStore, now func() time.Time) *Denials {
	return &Denials{store: store, now: now}
}

// RecordDenial puts a refused request into the audit as one event. Requests of somebody who was not let in, status 401,
// are recorded once a minute for each token and address, and no more than refusalLimit in all.
func (d *Denials) RecordDenial(ctx context.Context, caller policy.Caller, denied Denial) error {
	now := d.now()
	if denied.Status == http.StatusUnauthorized && !d.refused.due(refusal{caller.Principal, caller.TokenID, caller.Origin.Address}, now) {
		return nil
	}
	return d.store.AppendAudit(ctx, models.AuditEvent{
		EventID: uuid.NewString(), Type: models.AuditRequestDenied, At: now, Principal: caller.Principal, TokenID: caller.TokenID,
		Catalog: denied.Catalog, Namespace: denied.Namespace, Table: denied.Table, Reason: denied.Reason,
		RequestID: caller.Origin.RequestID, Address: caller.Origin.Address,
		Details: models.JSON[map[string]any]{V: map[string]any{
			"method": denied.Method, "route": denied.Route, "path": shortPath(denied.Path), "status": denied.Status,
			"client": caller.Origin.Client,
		}},
	})
}

// shortPath cuts what a query string may hold, and what is too long.
func shortPath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if len(path) > maxPath {
		path = path[:maxPath]
	}
	return strings.ToValidUTF8(path, "\uFFFD")
}
