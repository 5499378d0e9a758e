package access

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

//nolint:gosec // names of grant and token types, no credentials
const (
	grantClientCredentials = "client_credentials"
	grantTokenExchange     = "urn:ietf:params:oauth:grant-type:token-exchange"
	typeAccessToken        = "urn:ietf:params:oauth:token-type:access_token"
	pruneEvery             = 10 * time.Minute
	issueTries             = 4
)

// OAuth is the token endpoint: it trades client credentials, or a live token, for a short-lived access token, a JWT.
type OAuth struct {
	store Store
	auth  *Authenticator
	keys  *TokenKeys
	now   func() time.Time

	mu     sync.Mutex
	pruned time.Time

	refused refusals
}

// NewOAuth makes the endpoint. auth judges tokens that are exchanged, and with its keys the new ones are signed.
func NewOAuth(store Store, auth *Authenticator, now func() time.Time) *OAuth {
	return &OAuth{store: store, auth: auth, keys: auth.keys, now: now}
}

// IssueAccessToken answers a token request; refusals are *OAuthError. A request whose principal is changed while it is
// served is judged anew: what it came with may be good for nothing by then.
func (o *OAuth) IssueAccessToken(ctx context.Context, in GrantRequest) (AccessGrant, error) {
	asked, err := askedRoles(in.Scope)
	if err != nil {
		return AccessGrant{}, err
	}
	for range issueTries {
		grant, err := o.grant(ctx, in, asked)
		if !fault.Is(err, fault.Conflict) {
			return grant, err
		}
	}
	return AccessGrant{}, fault.New(fault.Unavailable, "The principal is being changed all the time. Ask again.")
}

func (o *OAuth) grant(ctx context.Context, in GrantRequest, asked []string) (AccessGrant, error) {
	switch in.GrantType {
	case grantClientCredentials:
		return o.clientCredentials(ctx, in, asked)
	case grantTokenExchange:
		return o.exchange(ctx, in, asked)
	case "":
		return AccessGrant{}, oauthError("invalid_request", http.StatusBadRequest, "grant_type is missing.")
	}
	return AccessGrant{}, oauthError("unsupported_grant_type", http.StatusBadRequest,
		"Use client_credentials or "+grantTokenExchange+".")
}

func (o *OAuth) clientCredentials(ctx context.Context, in GrantRequest, asked []string) (AccessGrant, error) {
	principal, err := o.client(ctx, in)
	if err != nil {
		return AccessGrant{}, err
	}
	return o.issue(ctx, in, principal, models.Token{CanWrite: true, CanGovern: true}, asked)
}

// client gives the principal whose credentials a request has, the secret before the last rotation included for as long
// as it is good. The answer and the work are the same whether the id or the secret is wrong.
func (o *OAuth) client(ctx context.Context, in GrantRequest) (models.Principal, error) {
	principal, err := o.store.PrincipalByClientID(ctx, in.ClientID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return models.Principal{}, err
	}
	current := secretMatches(in.ClientSecret, principal.SecretHash)
	previous := secretMatches(in.ClientSecret, principal.PreviousSecretHash)
	if until := principal.PreviousSecretUntil; until == nil || !o.now().Before(*until) {
		previous = false
	}
	wrong := oauthError("invalid_client", http.StatusUnauthorized, "The client id or the client secret is wrong.")
	switch {
	case !current && !previous:
		return models.Principal{}, o.refuse(ctx, in, policy.Caller{Principal: principal.Name}, wrong)
	case principal.Disabled:
		return models.Principal{}, o.refuseFor(ctx, in, policy.Caller{Principal: principal.Name}, wrong, "The secret is right, but the principal is disabled.")
	}
	return principal, nil
}

// issue makes an access token of the principal with the reach of token, no further than the roles that are asked for.
func (o *OAuth) issue(ctx context.Context, in GrantRequest, p models.Principal, token models.Token, asked []string) (AccessGrant, error) {
	within, err := o.reachOf(ctx, p, token.Roles.V, asked)
	if refusal, ok := err.(*OAuthError); ok { //nolint:errorlint // reachOf gives it as it is
		return AccessGrant{}, o.refuse(ctx, in, policy.Caller{Principal: p.Name}, refusal)
	}
	if err != nil {
		return AccessGrant{}, err
	}
	now, lifetime := o.now(), o.keys.settings.TokenLifetime
	o.prune(ctx, now)
	expires := wholeSecond(now.Add(lifetime))
	id := uuid.NewString()
	token.ID, token.Kind, token.Hash, token.Hint = id, models.AccessToken, id, id[:hintLength]
	token.PrincipalID, token.Roles.V = p.ID, within.ids
	token.CreatedBy, token.CreatedAt, token.ExpiresAt = p.Name, now, &expires
	bearer, err := o.keys.sign(ctx, claims{
		Subject: p.ID, Principal: p.Name, ID: id, ClientID: p.ClientID, Scope: within.scope,
		IssuedAt: now.Unix(), ExpiresAt: expires.Unix(),
	})
	if err != nil {
		return AccessGrant{}, err
	}
	event := auditEvent(policy.Caller{Principal: p.Name, TokenID: id, Origin: in.Origin}, models.AuditTokenMinted, "", now,
		map[string]any{"tokenId": id, "kind": token.Kind, "scope": within.scope})
	if err := o.store.IssueToken(ctx, token, p.Version, event); err != nil {
		return AccessGrant{}, err
	}
	return accessGrant(bearer, within.scope, lifetime), nil
}

// wholeSecond rounds up, so that a token never expires before its client was told.
func wholeSecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		return whole.Add(time.Second)
	}
	return t
}

func accessGrant(token, scope string, lifetime time.Duration) AccessGrant {
	return AccessGrant{
		AccessToken: token, TokenType: "bearer", IssuedTokenType: typeAccessToken, Scope: scope, ExpiresIn: lifetime,
	}
}

// prune removes expired access tokens now and then; a failure costs only space until the next time.
func (o *OAuth) prune(ctx context.Context, now time.Time) {
	o.mu.Lock()
	due := now.Sub(o.pruned) >= pruneEvery
	if due {
		o.pruned = now
	}
	o.mu.Unlock()
	if due {
		_ = o.store.PruneAccessTokens(ctx, now.Add(-pruneEvery))
	}
}

func oauthError(code string, status int, description string) *OAuthError {
	return &OAuthError{Code: code, Description: description, Status: status}
}
