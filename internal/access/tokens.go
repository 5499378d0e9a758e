package access

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Tokens mints, lists and revokes engine tokens.
type Tokens struct {
	store Store
	now   func() time.Time
}

// NewTokens makes a Tokens over the store.
func NewTokens(store Store, now func() time.Time) *Tokens { return &Tokens{store: store, now: now} }

// MintToken makes an engine token and gives its secret, which is not kept. A caller mints for itself, or for others
// with SERVICE_MANAGE_ACCESS; no token opens, writes or outlives what the token that mints it may.
func (t *Tokens) MintToken(ctx context.Context, caller policy.Caller, in MintInput) (models.Token, string, error) {
	if in.ExpiresIn < 0 {
		return models.Token{}, "", fault.New(fault.Invalid, "expiresIn must be positive, or absent for a token that does not expire.")
	}
	principal, err := t.mintFor(ctx, caller, in.Principal)
	if err != nil {
		return models.Token{}, "", err
	}
	catalogID, catalog, err := t.mintOn(ctx, caller, in.Catalog)
	if err != nil {
		return models.Token{}, "", err
	}
	if in.CanWrite && caller.ReadOnly {
		return models.Token{}, "", fault.New(fault.Forbidden, "A read-only token cannot mint a token that writes.")
	}
	now := t.now()
	secret := newSecret(engineTokenPrefix)
	token := models.Token{
		ID: uuid.NewString(), Kind: models.EngineToken, Name: in.Name, Hash: HashSecret(secret), Hint: secret[:hintLength],
		PrincipalID: principal.ID, CatalogID: catalogID, CanWrite: in.CanWrite, CreatedBy: caller.Principal, CreatedAt: now,
		ExpiresAt: mintExpiry(caller, in.ExpiresIn, now),
	}
	details := map[string]any{"tokenId": token.ID, "for": principal.Name, "canWrite": token.CanWrite, "name": in.Name}
	if token.ExpiresAt != nil {
		details["expiresAt"] = token.ExpiresAt.UTC().Format(time.RFC3339)
	}
	if err := t.store.CreateToken(ctx, token, auditEvent(caller, models.AuditTokenMinted, catalog, now, details)); err != nil {
		return models.Token{}, "", err
	}
	return token, secret, nil
}

// mintExpiry bounds a new token by the life of an engine token that mints it, so that none outlives a leak's expiry.
func mintExpiry(caller policy.Caller, in time.Duration, now time.Time) *time.Time {
	var at *time.Time
	if in > 0 {
		e := now.Add(in)
		at = &e
	}
	if caller.EngineToken && caller.ExpiresAt != nil && (at == nil || at.After(*caller.ExpiresAt)) {
		at = caller.ExpiresAt
	}
	return at
}

func (t *Tokens) mintFor(ctx context.Context, caller policy.Caller, name string) (models.Principal, error) {
	if name == "" || name == caller.Principal {
		return t.store.PrincipalByID(ctx, caller.PrincipalID)
	}
	if !managesAccess(caller) {
		return models.Principal{}, fault.New(fault.Forbidden, "Minting a token for principal %s needs the privilege SERVICE_MANAGE_ACCESS.", name)
	}
	return t.store.PrincipalByName(ctx, name)
}

func (t *Tokens) mintOn(ctx context.Context, caller policy.Caller, name string) (*string, string, error) {
	if name == "" {
		if caller.CatalogID == "" {
			return nil, "", nil
		}
		cat, err := t.store.CatalogByID(ctx, caller.CatalogID)
		return &cat.ID, cat.Name, err
	}
	cat, err := t.store.CatalogByName(ctx, name)
	if err != nil {
		return nil, "", err
	}
	if caller.CatalogID != "" && caller.CatalogID != cat.ID {
		return nil, "", fault.New(fault.Forbidden, "This token is bound to another catalog and cannot mint a token for %s.", name)
	}
	return &cat.ID, cat.Name, nil
}

// ListTokens gives engine tokens in order of id: the caller's own, or everyone's with SERVICE_MANAGE_ACCESS.
func (t *Tokens) ListTokens(ctx context.Context, caller policy.Caller, after string, limit int) ([]TokenView, error) {
	all := managesAccess(caller)
	names := newNames(t.store)
	var views []TokenView
	for len(views) < limit {
		page, err := t.store.ListTokens(ctx, after, limit)
		if err != nil {
			return nil, err
		}
		for _, token := range page {
			if after = token.ID; len(views) == limit || !all && token.PrincipalID != caller.PrincipalID {
				continue
			}
			view, err := names.view(ctx, token)
			if err != nil {
				return nil, err
			}
			views = append(views, view)
		}
		if len(page) < limit {
			break
		}
	}
	return views, nil
}

// RevokeToken ends a token at once. Revoking a revoked token changes nothing.
func (t *Tokens) RevokeToken(ctx context.Context, caller policy.Caller, id string) error {
	token, err := t.store.TokenByID(ctx, id)
	if err != nil {
		return err
	}
	if token.PrincipalID != caller.PrincipalID && !managesAccess(caller) {
		return fault.About(fault.NotFound, fault.Token, "There is no token %s.", id)
	}
	if token.RevokedAt != nil {
		return nil
	}
	now := t.now()
	return t.store.RevokeToken(ctx, id, now, auditEvent(caller, models.AuditTokenRevoked, "", now, map[string]any{"tokenId": id}))
}

func managesAccess(caller policy.Caller) bool {
	return caller.Has(models.ServiceManageAccess, policy.Path{})
}

func auditEvent(caller policy.Caller, typ models.AuditType, catalog string, now time.Time, details map[string]any) models.AuditEvent {
	return models.AuditEvent{
		EventID: uuid.NewString(), Type: typ, At: now, Principal: caller.Principal, TokenID: caller.TokenID,
		Catalog: catalog, Allowed: true, RequestID: caller.Origin.RequestID, Address: caller.Origin.Address,
		Details: models.JSON[map[string]any]{V: details},
	}
}
