package access

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// tokenChunk is how many tokens a list reads at once: most may be others', and a short page must not cost a query for each.
const tokenChunk = 500

// Tokens mints and lists engine tokens, and revokes tokens of both kinds.
type Tokens struct {
	store Store
	now   func() time.Time
}

// NewTokens makes a Tokens over the store.
func NewTokens(store Store, now func() time.Time) *Tokens { return &Tokens{store: store, now: now} }

// MintToken makes an engine token and gives its secret, which is not kept. A caller mints for itself, or for others
// with SERVICE_MANAGE_ACCESS by a token that is bound to no catalog; no token opens or outlives what the token that
// mints it may, and only one that governs mints. With roles it acts with these alone, each of which must be the
// principal's.
func (t *Tokens) MintToken(ctx context.Context, caller policy.Caller, in MintInput) (models.Token, string, error) {
	if err := mayGovern(caller, "mint tokens"); err != nil {
		return models.Token{}, "", err
	}
	if err := checkMint(in); err != nil {
		return models.Token{}, "", err
	}
	principal, err := t.mintFor(ctx, caller, in.Principal)
	if err != nil {
		return models.Token{}, "", err
	}
	catalogID, catalog, err := t.mintOn(ctx, caller, in.Catalog)
	if err != nil {
		return models.Token{}, "", err
	}
	roles, err := t.mintRoles(ctx, caller, principal, in.Roles)
	if err != nil {
		return models.Token{}, "", err
	}
	now := t.now()
	secret := newSecret(engineTokenPrefix)
	token := models.Token{
		ID: uuid.NewString(), Kind: models.EngineToken, Name: in.Name, Hash: HashSecret(secret), Hint: secret[:hintLength],
		PrincipalID: principal.ID, CatalogID: catalogID, CanWrite: in.CanWrite, CanGovern: in.CanGovern,
		Roles: models.JSON[[]string]{V: idsOrAll(roles)}, CreatedBy: caller.Principal, CreatedAt: now,
		ExpiresAt: mintExpiry(caller, in.ExpiresIn, now),
	}
	details := map[string]any{"tokenId": token.ID, "for": principal.Name, "canWrite": token.CanWrite, "canGovern": token.CanGovern, "name": in.Name}
	if roles != nil {
		details["roles"] = namesOf(roles)
	}
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
	if caller.CatalogID != "" { // whose principal's right over others it does not carry
		return models.Principal{}, fault.New(fault.Forbidden, "This token is bound to one catalog and mints for its own principal alone. Use one that is bound to none.")
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
	if caller.CatalogID != "" && caller.CatalogID != cat.ID || !caller.SeesCatalog(cat.ID) {
		why := "The token is bound to another catalog, or principal " + caller.Principal + " holds nothing on catalog " + name + " or in it."
		return nil, "", fault.Conceal(fault.Catalog, why, "Catalog %q does not exist.", name)
	}
	return &cat.ID, cat.Name, nil
}

// ListTokens gives engine tokens, newest first, those after the one of that id: the caller's own, or everyone's with
// SERVICE_MANAGE_ACCESS. A token that is bound to a catalog sees those that are bound to it too.
func (t *Tokens) ListTokens(ctx context.Context, caller policy.Caller, after string, limit int) ([]TokenView, error) {
	names := newNames(t.store)
	var views []TokenView
	chunk := max(limit, tokenChunk)
	for len(views) < limit {
		page, err := t.store.ListTokens(ctx, after, chunk)
		if err != nil {
			return nil, err
		}
		for _, token := range page {
			if after = token.ID; len(views) == limit || !reaches(caller, token) {
				continue
			}
			view, err := names.view(ctx, token)
			if err != nil {
				return nil, err
			}
			views = append(views, view)
		}
		if len(page) < chunk {
			break
		}
	}
	return views, nil
}

// RevokeToken ends a token at once. Revoking a revoked token changes nothing. A token that the caller does not reach
// does not exist for it.
func (t *Tokens) RevokeToken(ctx context.Context, caller policy.Caller, id string) error {
	if err := mayGovern(caller, "revoke tokens"); err != nil {
		return err
	}
	token, err := t.store.TokenByID(ctx, id)
	if err == nil && !reaches(caller, token) {
		err = fault.Conceal(fault.Token, "The token "+id+" is not one that principal "+caller.Principal+" may see with this token.", "The token does not exist.")
	}
	if err != nil {
		return err
	}
	if token.RevokedAt != nil {
		return nil
	}
	now := t.now()
	details := map[string]any{"tokenId": id}
	if token.Name != "" {
		details["name"] = token.Name
	}
	return t.store.RevokeToken(ctx, id, now, auditEvent(caller, models.AuditTokenRevoked, "", now, details))
}

// mayGovern keeps the tokens of jobs from tokens: whoever copies one must not be able to make others of it.
func mayGovern(caller policy.Caller, what string) error {
	switch {
	case caller.ReadOnly:
		return fault.New(fault.Forbidden, "This token is read-only and may not %s. Use a token minted with canWrite and canGovern.", what)
	case !caller.CanGovern:
		return fault.New(fault.Forbidden, "This token may not change governance. Use one minted with canGovern or the principal's credentials.")
	}
	return nil
}

// reaches tells whether a token is the caller's to see and to end: its principal's own, or anyone's with
// SERVICE_MANAGE_ACCESS, and of the catalog that the caller is bound to.
func reaches(caller policy.Caller, token models.Token) bool {
	if caller.CatalogID != "" && (token.CatalogID == nil || *token.CatalogID != caller.CatalogID) {
		return false
	}
	return token.PrincipalID == caller.PrincipalID || managesAccess(caller)
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
