package access

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// touchEvery bounds how often a token's last use is written: it is told to the minute.
const touchEvery = time.Minute

// Authenticator turns bearer tokens into callers. The token, its principal and the version of all grants are read anew
// for every request, so that a revoked token, role or grant and a disabled principal count on the next request of every
// process; the grants themselves are kept for as long as the version stays.
type Authenticator struct {
	store  Store
	now    func() time.Time
	grants *grants
}

// NewAuthenticator makes an Authenticator over the store.
func NewAuthenticator(store Store, now func() time.Time) *Authenticator {
	return &Authenticator{store: store, now: now, grants: newGrants(store)}
}

// Authenticate gives the caller behind a bearer token, or fault.Unauthenticated when the token is unknown, expired
// or revoked, or its principal is disabled.
func (a *Authenticator) Authenticate(ctx context.Context, bearer string) (policy.Caller, error) {
	b, err := a.live(ctx, bearer)
	if err != nil {
		return policy.Caller{}, err
	}
	held, err := a.grants.of(ctx, b.Principal.ID, b.Version)
	if err != nil {
		return policy.Caller{}, err
	}
	token := b.Token
	caller := policy.Caller{
		PrincipalID: b.Principal.ID, Principal: b.Principal.Name,
		TokenID: token.ID, EngineToken: token.Kind == models.EngineToken, ReadOnly: !token.CanWrite,
		CanGovern: token.CanWrite && token.CanGovern,
		ExpiresAt: token.ExpiresAt, Held: held,
	}
	if token.CatalogID != nil {
		caller.CatalogID = *token.CatalogID
	}
	return caller, nil
}

// live finds a token that opens something: neither expired nor revoked, of a principal who is there and not disabled.
func (a *Authenticator) live(ctx context.Context, bearer string) (Bearer, error) {
	if bearer == "" {
		return Bearer{}, fault.New(fault.Unauthenticated, "Send a bearer token in the Authorization header.")
	}
	b, err := a.store.Bearer(ctx, HashSecret(bearer))
	if fault.Is(err, fault.NotFound) {
		return Bearer{}, fault.New(fault.Unauthenticated, "The token is not known here. Mint one with `sluice tokens mint` or ask the token endpoint.")
	}
	if err != nil {
		return Bearer{}, err
	}
	now := a.now()
	switch {
	case b.Token.RevokedAt != nil:
		return Bearer{}, fault.New(fault.Unauthenticated, "The token is revoked.")
	case !b.Token.Live(now):
		return Bearer{}, fault.New(fault.Unauthenticated, "The token has expired.")
	case b.Principal.ID == "" || b.Principal.Disabled:
		return Bearer{}, fault.New(fault.Unauthenticated, "The principal of this token no longer exists or is disabled.")
	}
	if used := b.Token.LastUsedAt; used == nil || now.Sub(*used) >= touchEvery {
		// When a token was last used is advice for people; a request must not fail for it.
		_ = a.store.TouchToken(ctx, b.Token.ID, now.Truncate(touchEvery))
	}
	return b, nil
}
