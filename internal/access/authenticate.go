package access

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// The most that is kept in memory of each kind.
const (
	maxHolders    = 20_000
	maxPrincipals = 20_000
	maxHeld       = 5_000
)

// Authenticator turns bearer tokens into callers. For each request it reads one number, the version of all rights, which
// every change of principals, roles, grants, signing keys and revocations raises; all else is kept in memory under it.
// So what is revoked counts on the next request of every process. That time passes is seen without the database.
type Authenticator struct {
	store    Store
	keys     *TokenKeys
	issuers  Issuers
	now      func() time.Time
	versions *versions

	holders  *memory[[sha256.Size]byte, holder]
	outside  *memory[outsider, holder]
	assigned *memory[string, []models.PrincipalRole] // by id of the principal
	held     *memory[string, *policy.Held]           // by ids of principal roles
	used     *lastUses
}

// NewAuthenticator makes an Authenticator over the store. keys verifies the access tokens that were issued here; issuers
// knows those of others, nil when none is configured.
func NewAuthenticator(store Store, keys *TokenKeys, issuers Issuers, now func() time.Time) *Authenticator {
	return &Authenticator{
		store: store, keys: keys, issuers: issuers, now: now, versions: keys.versions,
		holders:  newMemory[[sha256.Size]byte, holder](maxHolders),
		outside:  newMemory[outsider, holder](maxPrincipals),
		assigned: newMemory[string, []models.PrincipalRole](maxPrincipals),
		held:     newMemory[string, *policy.Held](maxHeld),
		used:     newLastUses(),
	}
}

// holder is whose a token is and what it may, time aside.
type holder struct {
	token     models.Token
	principal models.Principal // zero when it is gone
	caller    policy.Caller
}

// known names the holder of a token that opens nothing, for the audit.
func (h holder) known() policy.Caller {
	return policy.Caller{Principal: h.caller.Principal, TokenID: h.caller.TokenID}
}

// Authenticate gives the caller behind a bearer token, or fault.Unauthenticated when the token is unknown, expired or
// revoked, or its principal is disabled. When the token is known all the same, the Caller names the principal and the
// token, and holds nothing.
func (a *Authenticator) Authenticate(ctx context.Context, bearer string) (policy.Caller, error) {
	if bearer == "" {
		return policy.Caller{}, fault.New(fault.Unauthenticated, "Send a bearer token in the Authorization header.")
	}
	version, err := a.versions.current(ctx)
	if err != nil {
		return policy.Caller{}, err
	}
	issuer, signed := issuerOf(bearer)
	if signed && issuer != a.keys.settings.Issuer {
		caller, err := a.outsider(ctx, version, bearer)
		caller.AsOf = version
		return caller, err
	}
	h, err := a.live(ctx, version, bearer)
	if err != nil {
		return h.known(), err
	}
	if a.used.due(h.token, a.now()) {
		// When a token was last used is advice for people; a request must not fail for it.
		_ = a.store.TouchToken(ctx, h.token.ID, a.now().Truncate(touchEvery))
	}
	caller := h.caller
	caller.AsOf = version
	return caller, nil
}

// live finds whose a token of ours is that opens something: neither expired nor revoked, of a principal who is there and
// not disabled. Of a token that is known and opens nothing the holder is given with the error.
func (a *Authenticator) live(ctx context.Context, version int64, bearer string) (holder, error) {
	h, err := a.holders.get(ctx, version, sha256.Sum256([]byte(bearer)), func(ctx context.Context, version int64) (holder, error) {
		return a.find(ctx, version, bearer)
	})
	if err != nil {
		return h, err
	}
	return h, h.good(a.now())
}

func (h holder) good(now time.Time) error {
	switch {
	case h.token.RevokedAt != nil:
		return fault.New(fault.Unauthenticated, "The token is revoked. Ask for another.")
	case !h.token.Live(now):
		return expired(*h.token.ExpiresAt)
	}
	return enabled(h.principal)
}

func enabled(p models.Principal) error {
	switch {
	case p.ID == "":
		return fault.New(fault.Unauthenticated, "The principal of this token no longer exists.")
	case p.Disabled:
		return fault.New(fault.Unauthenticated, "The principal of this token is disabled. Ask an administrator to enable it.")
	}
	return nil
}

// find reads the token, its principal and what they hold.
func (a *Authenticator) find(ctx context.Context, version int64, bearer string) (holder, error) {
	b, named, err := a.bearer(ctx, version, bearer)
	if err != nil {
		return holder{caller: named}, err
	}
	h := holder{token: b.Token, principal: b.Principal}
	h.caller = policy.Caller{
		PrincipalID: b.Principal.ID, Principal: b.Principal.Name, TokenID: b.Token.ID,
		EngineToken: b.Token.Kind == models.EngineToken, ReadOnly: !b.Token.CanWrite,
		CanGovern: b.Token.CanWrite && b.Token.CanGovern, Roles: b.Token.Roles.V, ExpiresAt: b.Token.ExpiresAt,
		Clearance:  b.Principal.Clearance,
		MustRotate: b.Principal.RotationRequired && b.Token.Kind == models.AccessToken,
	}
	if b.Token.CatalogID != nil {
		h.caller.CatalogID = *b.Token.CatalogID
	}
	if enabled(b.Principal) != nil {
		return h, nil
	}
	roles, err := a.rolesOf(ctx, version, b.Principal.ID)
	if err != nil {
		return h, err
	}
	roles = only(roles, b.Token.Roles.V)
	h.caller.RoleNames = namesOf(roles)
	h.caller.Held, err = a.holding(ctx, version, roles)
	return h, err
}

// bearer reads the row of a token of ours. The caller names who is known by an error's token.
func (a *Authenticator) bearer(ctx context.Context, version int64, bearer string) (Bearer, policy.Caller, error) {
	if strings.HasPrefix(bearer, engineTokenPrefix) {
		b, err := a.store.Bearer(ctx, HashSecret(bearer))
		return b, policy.Caller{}, notKnown(err)
	}
	if _, signed := issuerOf(bearer); !signed {
		return Bearer{}, policy.Caller{}, notKnown(fault.New(fault.NotFound, "no token"))
	}
	c, err := a.keys.verify(ctx, version, bearer)
	named := policy.Caller{Principal: c.Principal, TokenID: c.ID}
	if err != nil {
		return Bearer{}, named, err
	}
	b, err := a.store.BearerByID(ctx, c.ID)
	if err == nil && (b.Token.Kind != models.AccessToken || b.Token.PrincipalID != c.Subject) {
		err = fault.New(fault.NotFound, "the row is another token's")
	}
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.Unauthenticated, "The token is revoked, or its principal no longer exists. Ask the token endpoint for another.")
	}
	return b, named, err
}

func notKnown(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Unauthenticated, "The token is not known here. Mint one with `sluice tokens mint` or ask the token endpoint.")
	}
	return err
}
