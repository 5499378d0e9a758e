package access

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/models"
)

const (
	// refusalWindow is how long a login that fails again from one address, for one client, is recorded once.
	refusalWindow = time.Minute
	// refusalLimit bounds the failed logins of a window that are recorded at all, so that nobody fills the audit.
	refusalLimit = 60
	// clientIDLength is that of the client ids made here. Of a longer one no more is recorded: it may be a secret in
	// the wrong place.
	clientIDLength = 16
)

// refusals remembers which failed logins of the running window are recorded. Its zero value is ready.
type refusals struct {
	mu    sync.Mutex
	since time.Time
	seen  map[refusal]struct{}
}

type refusal struct{ clientID, address string }

// due tells whether the failed login is to be recorded, and remembers that it is.
func (r *refusals) due(what refusal, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || now.Sub(r.since) >= refusalWindow {
		r.since, r.seen = now, map[refusal]struct{}{}
	}
	if _, known := r.seen[what]; known || len(r.seen) >= refusalLimit {
		return false
	}
	r.seen[what] = struct{}{}
	return true
}

// recordRefusal puts a failed login into the audit, the bounds above allowing. principal is whose client id was sent,
// "" for an unknown one.
func (o *OAuth) recordRefusal(ctx context.Context, in GrantRequest, principal, reason string) error {
	now := o.now()
	id := in.ClientID
	if len(id) > clientIDLength {
		id = strings.ToValidUTF8(id[:clientIDLength], "") + "…"
	}
	if !o.refused.due(refusal{id, in.Origin.Address}, now) {
		return nil
	}
	return o.store.AppendAudit(ctx, models.AuditEvent{
		EventID: uuid.NewString(), Type: models.AuditRequestDenied, At: now, Principal: principal, Reason: reason,
		RequestID: in.Origin.RequestID, Address: in.Origin.Address,
		Details: models.JSON[map[string]any]{V: map[string]any{
			"grantType": grantClientCredentials, "clientId": id, "client": in.Origin.Client,
		}},
	})
}
