package access

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// touchEvery bounds how often a token's last use is written: it is told to the minute.
const touchEvery = time.Minute

// Authenticator turns bearer tokens into callers. Nothing is cached: a revoked token or a disabled principal is
// refused on the next request of every process.
type Authenticator struct {
	store Store
	now   func() time.Time
}

// NewAuthenticator makes an Authenticator over the store.
func NewAuthenticator(store Store, now func() time.Time) *Authenticator {
	return &Authenticator{store: store, now: now}
}

// Authenticate gives the caller behind a bearer token, or fault.Unauthenticated when the token is unknown, expired
// or revoked, or its principal is disabled.
func (a *Authenticator) Authenticate(ctx context.Context, bearer string) (policy.Caller, error) {
	token, err := a.liveToken(ctx, bearer)
	if err != nil {
		return policy.Caller{}, err
	}
	principal, err := a.store.PrincipalByID(ctx, token.PrincipalID)
	if fault.Is(err, fault.NotFound) || err == nil && principal.Disabled {
		return policy.Caller{}, fault.New(fault.Unauthenticated, "The principal of this token no longer exists or is disabled.")
	}
	if err != nil {
		return policy.Caller{}, err
	}
	held, err := a.held(ctx, principal.ID)
	if err != nil {
		return policy.Caller{}, err
	}
	caller := policy.Caller{
		PrincipalID: principal.ID, Principal: principal.Name,
		TokenID: token.ID, EngineToken: token.Kind == models.EngineToken, ReadOnly: !token.CanWrite,
		CanGovern: token.CanWrite && token.CanGovern,
		ExpiresAt: token.ExpiresAt, Held: held,
	}
	if token.CatalogID != nil {
		caller.CatalogID = *token.CatalogID
	}
	return caller, nil
}

func (a *Authenticator) liveToken(ctx context.Context, bearer string) (models.Token, error) {
	if bearer == "" {
		return models.Token{}, fault.New(fault.Unauthenticated, "Send a bearer token in the Authorization header.")
	}
	token, err := a.store.TokenByHash(ctx, HashSecret(bearer))
	if fault.Is(err, fault.NotFound) {
		return models.Token{}, fault.New(fault.Unauthenticated, "The token is not known here. Mint one with `sluice tokens mint` or ask the token endpoint.")
	}
	if err != nil {
		return models.Token{}, err
	}
	now := a.now()
	switch {
	case token.RevokedAt != nil:
		return models.Token{}, fault.New(fault.Unauthenticated, "The token is revoked.")
	case !token.Live(now):
		return models.Token{}, fault.New(fault.Unauthenticated, "The token has expired.")
	}
	if token.LastUsedAt == nil || now.Sub(*token.LastUsedAt) >= touchEvery {
		// When a token was last used is advice for people; a request must not fail for it.
		_ = a.store.TouchToken(ctx, token.ID, now.Truncate(touchEvery))
	}
	return token, nil
}

func (a *Authenticator) held(ctx context.Context, principalID string) (*policy.Held, error) {
	roles, err := a.store.PrincipalRoleNames(ctx, principalID)
	if err != nil {
		return nil, err
	}
	grants, err := a.store.PrincipalGrants(ctx, principalID)
	if err != nil {
		return nil, err
	}
	var service []models.Privilege
	if slices.Contains(roles, models.ServiceAdminRole) {
		service = append(service, models.ServiceManageAccess)
	}
	return policy.NewHeld(service, grants), nil
}
