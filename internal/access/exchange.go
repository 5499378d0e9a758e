package access

import (
	"context"
	"net/http"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// exchange refreshes: a live access token gives a new one with the same reach, or a narrower one when roles are asked
// for. Client credentials that come with it must be good, and then it need not be live: Iceberg's Java client refreshes
// an expired token so, and would be locked out until its restart.
//
// An engine token is answered with itself, because a token made from it must stay as narrow, as external and as
// short-lived as it is. Tokens of other issuers are not exchanged: their issuer refreshes them.
func (o *OAuth) exchange(ctx context.Context, in GrantRequest, asked []string) (AccessGrant, error) {
	if in.SubjectToken == "" {
		return AccessGrant{}, oauthError("invalid_request", http.StatusBadRequest, "subject_token is missing.")
	}
	var client models.Principal
	if in.ClientSecret != "" {
		var err error
		if client, err = o.client(ctx, in); err != nil {
			return AccessGrant{}, err
		}
	}
	if issuer, signed := issuerOf(in.SubjectToken); signed && issuer != o.keys.settings.Issuer {
		return AccessGrant{}, o.refuse(ctx, in, policy.Caller{Principal: client.Name}, invalidGrant(
			"Tokens of other issuers are not exchanged. Where the issuer is accepted, send its token as the bearer token, and let the issuer refresh it."))
	}
	version, err := o.auth.versions.current(ctx)
	if err != nil {
		return AccessGrant{}, err
	}
	h, err := o.auth.live(ctx, version, in.SubjectToken)
	switch {
	case err != nil && !fault.Is(err, fault.Unauthenticated):
		return AccessGrant{}, err
	case err != nil && client.ID != "":
		return o.renewExpired(ctx, in, client, h, asked, err)
	case err != nil:
		return AccessGrant{}, o.refuse(ctx, in, h.known(), exchangeError(h, err))
	case client.ID != "" && client.ID != h.principal.ID:
		return AccessGrant{}, o.refuse(ctx, in, h.known(), invalidGrant("The token is not of the principal whose credentials were sent."))
	case h.token.Kind == models.EngineToken:
		return o.itself(ctx, in, h, asked)
	}
	return o.issue(ctx, in, h.principal, reachable(h.token), asked)
}

// reachable is what of a token its successor keeps.
func reachable(t models.Token) models.Token {
	return models.Token{CatalogID: t.CatalogID, Roles: t.Roles, CanWrite: t.CanWrite, CanGovern: t.CanGovern}
}

func (o *OAuth) itself(ctx context.Context, in GrantRequest, h holder, asked []string) (AccessGrant, error) {
	same, err := o.reachOf(ctx, h.principal, h.token.Roles.V, nil)
	if err != nil {
		return AccessGrant{}, err
	}
	if asked != nil {
		return AccessGrant{}, o.refuse(ctx, in, h.known(), invalidScope(
			"An engine token keeps the roles that it was minted with. Ask for the scope "+scopeAll+", which leaves them as they are."))
	}
	grant := accessGrant(in.SubjectToken, same.scope, 0)
	if h.token.ExpiresAt != nil {
		grant.ExpiresIn = h.token.ExpiresAt.Sub(o.now())
	}
	return grant, nil
}

// renewExpired issues a token by the client's credentials in the place of one that is good no more: with its reach where
// that is still known, else with what the credentials give. cause says why it is good no more.
func (o *OAuth) renewExpired(
	ctx context.Context, in GrantRequest, client models.Principal, h holder, asked []string, cause error,
) (AccessGrant, error) {
	old, err := h.token, error(nil)
	if old.ID == "" && h.caller.TokenID != "" {
		if old, err = o.store.TokenByID(ctx, h.caller.TokenID); err != nil && !fault.Is(err, fault.NotFound) {
			return AccessGrant{}, err
		}
	}
	switch {
	case old.ID == "":
		old = models.Token{CanWrite: true, CanGovern: true}
	case old.PrincipalID != client.ID:
		return AccessGrant{}, o.refuse(ctx, in, h.known(), invalidGrant("The token is not of the principal whose credentials were sent."))
	case old.RevokedAt != nil, old.Kind == models.EngineToken:
		return AccessGrant{}, o.refuse(ctx, in, h.known(), invalidGrant(fault.PublicMessage(cause)))
	}
	return o.issue(ctx, in, client, reachable(old), asked)
}

// exchangeError is invalid_client for a principal that may not come in at all, as it is for its credentials.
func exchangeError(h holder, err error) *OAuthError {
	if h.token.ID != "" && enabled(h.principal) != nil {
		return oauthError("invalid_client", http.StatusUnauthorized, fault.PublicMessage(err))
	}
	return invalidGrant(fault.PublicMessage(err))
}

func invalidGrant(description string) *OAuthError {
	return oauthError("invalid_grant", http.StatusBadRequest, description)
}
