package access

import (
	"context"
	"net/http"
	"strings"
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
)

// OAuth is the token endpoint: it trades client credentials, or a live token, for a short-lived access token.
type OAuth struct {
	store    Store
	auth     *Authenticator
	lifetime time.Duration
	now      func() time.Time

	mu     sync.Mutex
	pruned time.Time

	refused refusals
}

// NewOAuth makes the endpoint; lifetime is that of the access tokens it issues.
func NewOAuth(store Store, lifetime time.Duration, now func() time.Time) *OAuth {
	return &OAuth{store: store, auth: NewAuthenticator(store, now), lifetime: lifetime, now: now}
}

// IssueAccessToken answers a token request; refusals are *OAuthError.
func (o *OAuth) IssueAccessToken(ctx context.Context, in GrantRequest) (AccessGrant, error) {
	if err := checkScope(in.Scope); err != nil {
		return AccessGrant{}, err
	}
	switch in.GrantType {
	case grantClientCredentials:
		return o.clientCredentials(ctx, in)
	case grantTokenExchange:
		return o.exchange(ctx, in)
	case "":
		return AccessGrant{}, oauthError("invalid_request", http.StatusBadRequest, "grant_type is missing.")
	}
	return AccessGrant{}, oauthError("unsupported_grant_type", http.StatusBadRequest,
		"Use client_credentials or "+grantTokenExchange+".")
}

// checkScope accepts the scopes that mean all of the principal's roles: none, PyIceberg's default, and Polaris's.
func checkScope(scope string) error {
	for s := range strings.FieldsSeq(scope) {
		if s != "PRINCIPAL_ROLE:ALL" && s != "catalog" {
			return oauthError("invalid_scope", http.StatusBadRequest, "The scope offered is PRINCIPAL_ROLE:ALL.")
		}
	}
	return nil
}

func (o *OAuth) clientCredentials(ctx context.Context, in GrantRequest) (AccessGrant, error) {
	principal, err := o.store.PrincipalByClientID(ctx, in.ClientID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return AccessGrant{}, err
	}
	// The same answer and the same work whether the id or the secret is wrong.
	if !secretMatches(in.ClientSecret, principal.SecretHash) || principal.Disabled {
		refusal := oauthError("invalid_client", http.StatusUnauthorized, "The client id or the client secret is wrong.")
		if err := o.recordRefusal(ctx, in, principal.Name, refusal.Description); err != nil {
			return AccessGrant{}, err
		}
		return AccessGrant{}, refusal
	}
	return o.issue(ctx, models.Token{PrincipalID: principal.ID, CanWrite: true, CanGovern: true}, principal.Name, in.Origin)
}

// exchange refreshes: a live access token gives a new one with the same reach. An engine token is answered with
// itself, because a token made from it must stay as narrow, as external and as short-lived as it is.
func (o *OAuth) exchange(ctx context.Context, in GrantRequest) (AccessGrant, error) {
	if in.SubjectToken == "" {
		return AccessGrant{}, oauthError("invalid_request", http.StatusBadRequest, "subject_token is missing.")
	}
	b, err := o.auth.live(ctx, in.SubjectToken)
	if fault.Is(err, fault.Unauthenticated) {
		return AccessGrant{}, oauthError("invalid_grant", http.StatusBadRequest, fault.PublicMessage(err))
	}
	if err != nil {
		return AccessGrant{}, err
	}
	token, principal := b.Token, b.Principal
	if token.Kind == models.EngineToken {
		grant := accessGrant(in.SubjectToken, 0)
		if token.ExpiresAt != nil {
			grant.ExpiresIn = token.ExpiresAt.Sub(o.now())
		}
		return grant, nil
	}
	renewed := models.Token{PrincipalID: token.PrincipalID, CatalogID: token.CatalogID, CanWrite: token.CanWrite, CanGovern: token.CanGovern}
	return o.issue(ctx, renewed, principal.Name, in.Origin)
}

func (o *OAuth) issue(ctx context.Context, token models.Token, principal string, from policy.Origin) (AccessGrant, error) {
	now := o.now()
	o.prune(ctx, now)
	secret := newSecret(accessTokenPrefix)
	expires := now.Add(o.lifetime)
	token.ID, token.Kind, token.Hash, token.Hint = uuid.NewString(), models.AccessToken, HashSecret(secret), secret[:hintLength]
	token.CreatedBy, token.CreatedAt, token.ExpiresAt = principal, now, &expires
	event := models.AuditEvent{
		EventID: uuid.NewString(), Type: models.AuditTokenMinted, At: now, Principal: principal, TokenID: token.ID, Allowed: true,
		RequestID: from.RequestID, Address: from.Address,
		Details: models.JSON[map[string]any]{V: map[string]any{"tokenId": token.ID, "kind": token.Kind}},
	}
	if err := o.store.CreateToken(ctx, token, event); err != nil {
		return AccessGrant{}, err
	}
	return accessGrant(secret, o.lifetime), nil
}

func accessGrant(token string, lifetime time.Duration) AccessGrant {
	return AccessGrant{
		AccessToken: token, TokenType: "bearer", IssuedTokenType: typeAccessToken, Scope: "PRINCIPAL_ROLE:ALL", ExpiresIn: lifetime,
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
