package access

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Bounds of what is recorded of a path, in bytes. A client may put anything in the place of a name, and the audit keeps it
// for ever: a name is kept as long as names may be, of a deep namespace the beginning.
const (
	maxPath = 1 << 10
	maxName = 4 << 10
)

// Denial is a request that was refused, for the audit.
type Denial struct {
	Method, Route, Path string
	Status              int    // as it was answered
	Reason              string // the true one, where the answer hid it
	Catalog             string // names from the path, "" where it has none
	Namespace           string // dotted
	Table               string // dotted, with the namespace; of a view too
}

// Failure is a request that would have changed something and failed, for the audit. Its reason is what the client was told.
type Failure struct {
	Denial
	Error string // type of the error, as it was answered
}

// Denials records refused and failed requests.
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
	return d.store.AppendAudit(ctx, requestEvent(models.AuditRequestDenied, now, caller, denied, nil))
}

// RecordFailure puts a failed request into the audit as one event.
func (d *Denials) RecordFailure(ctx context.Context, caller policy.Caller, failed Failure) error {
	more := map[string]any{"error": failed.Error}
	return d.store.AppendAudit(ctx, requestEvent(models.AuditRequestFailed, d.now(), caller, failed.Denial, more))
}

// requestEvent tells of a request that had no effect.
func requestEvent(typ models.AuditType, now time.Time, caller policy.Caller, r Denial, more map[string]any) models.AuditEvent {
	details := map[string]any{
		"method": r.Method, "route": r.Route, "path": shortPath(r.Path), "status": r.Status, "client": caller.Origin.Client,
	}
	maps.Copy(details, more)
	return models.AuditEvent{
		EventID: uuid.NewString(), Type: typ, At: now, Principal: caller.Principal, TokenID: caller.TokenID,
		Catalog: shortName(r.Catalog), Namespace: shortName(r.Namespace), Table: shortName(r.Table), Reason: r.Reason,
		RequestID: caller.Origin.RequestID, Address: caller.Origin.Address,
		Details: models.JSON[map[string]any]{V: details},
	}
}

// shortName cuts a name that is too long, not within a character.
func shortName(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "") + "…"
}

// shortPath cuts what a query string may hold, and what is too long.
func shortPath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if len(path) > maxPath {
		path = path[:maxPath]
	}
	return strings.ToValidUTF8(path, "\uFFFD")
}
