package access

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

const (
	// refusalWindow is how long what fails again from one address, for one client or token, is recorded once.
	refusalWindow = time.Minute
	// refusalLimit bounds what is recorded in a window at all, so that nobody fills the audit: that much of those who are
	// known, and as much of all others.
	refusalLimit = 60
	// clientIDLength is that of the client ids made here. Of a longer one no more is recorded: it may be a secret in
	// the wrong place.
	clientIDLength = 16
)

// refusals remembers which failed attempts to come in are recorded in the running window. Its zero value is ready.
type refusals struct {
	mu       sync.Mutex
	since    time.Time
	seen     map[refusal]struct{}
	known    int // of those seen
	stranger int
}

// refusal is who fails: the client or token it names, and whence. Of one that is known the principal is named.
type refusal struct{ principal, name, address string }

// due tells whether the attempt is to be recorded, and remembers that it is.
func (r *refusals) due(what refusal, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || now.Sub(r.since) >= refusalWindow {
		r.since, r.seen, r.known, r.stranger = now, map[refusal]struct{}{}, 0, 0
	}
	count := &r.stranger
	if what.principal != "" {
		count = &r.known
	}
	if _, again := r.seen[what]; again || *count >= refusalLimit {
		return false
	}
	r.seen[what] = struct{}{}
	*count++
	return true
}

// refuse gives the refusal of a token request, after it is in the audit, the bounds above allowing. who names the
// principal and the token where they are known.
func (o *OAuth) refuse(ctx context.Context, in GrantRequest, who policy.Caller, why *OAuthError) error {
	return o.refuseFor(ctx, in, who, why, why.Description)
}

// refuseFor is refuse for a reason that the client is not told.
func (o *OAuth) refuseFor(ctx context.Context, in GrantRequest, who policy.Caller, why *OAuthError, reason string) error {
	now := o.now()
	id := in.ClientID
	if len(id) > clientIDLength {
		id = strings.ToValidUTF8(id[:clientIDLength], "") + "…"
	}
	name := id
	if who.TokenID != "" {
		name = who.TokenID
	}
	if reason != why.Description { // another thing than what the client was told before
		name += " " + reason
	}
	if !o.refused.due(refusal{who.Principal, name, in.Origin.Address}, now) {
		return why
	}
	err := o.store.AppendAudit(ctx, models.AuditEvent{
		EventID: uuid.NewString(), Type: models.AuditRequestDenied, At: now, Principal: who.Principal, TokenID: who.TokenID,
		Reason: reason, RequestID: in.Origin.RequestID, Address: in.Origin.Address,
		Details: models.JSON[map[string]any]{V: map[string]any{
			"grantType": in.GrantType, "clientId": id, "client": in.Origin.Client, "error": why.Code,
		}},
	})
	if err != nil {
		return err
	}
	return why
}
