package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Issuers knows the tokens of the OpenID Connect issuers that are configured.
type Issuers interface {
	// Identify verifies a token of an issuer that is configured; ok is false when it is of none, and then there is no
	// error. A token of a configured issuer that is no good is fault.Unauthenticated, with a sentence for its holder, and
	// with ext where its issuer did sign it, as of one that has expired; an issuer that cannot be asked is fault.Unavailable. It is called for every request that comes with such a token.
	Identify(ctx context.Context, bearer string) (ext External, ok bool, err error)
}

// External is who an issuer's token is of, by the mapping that is configured for the issuer.
type External struct {
	Issuer          string
	Subject         string
	Principal       string   // name
	Roles           []string // names of the principal roles that the token gives; nil: the issuer says nothing of roles
	CreatePrincipal bool     // make the principal when there is none
	Govern          bool     // the token may change governance where its principal may
	ExpiresAt       time.Time
}

// outsider is what the rights of an issuer's token depend on.
type outsider struct {
	principal string
	narrowed  bool   // the token names roles
	roles     string // their names, each ended by a line feed
	create    bool
}

// outsider gives the caller behind a token of another issuer.
func (a *Authenticator) outsider(ctx context.Context, version int64, bearer string) (policy.Caller, error) {
	ext, err := a.identify(ctx, bearer)
	if err != nil && ext.Principal == "" {
		return policy.Caller{}, err
	}
	if err != nil {
		return policy.Caller{Principal: ext.Principal, TokenID: outsideTokenID(ext, bearer)}, err
	}
	if !a.now().Before(ext.ExpiresAt) {
		return policy.Caller{Principal: ext.Principal, TokenID: outsideTokenID(ext, bearer)}, expired(ext.ExpiresAt)
	}
	key := outsider{principal: ext.Principal, narrowed: ext.Roles != nil, create: ext.CreatePrincipal}
	for _, role := range slices.Sorted(slices.Values(ext.Roles)) {
		key.roles += role + "\n"
	}
	h, err := a.outside.get(ctx, version, key, func(ctx context.Context, version int64) (holder, error) {
		return a.findOutsider(ctx, version, ext)
	})
	caller := h.caller
	caller.TokenID, caller.CanGovern, caller.ExpiresAt = outsideTokenID(ext, bearer), ext.Govern, &ext.ExpiresAt
	if err == nil {
		err = enabled(h.principal)
	}
	if err != nil {
		return policy.Caller{Principal: caller.Principal, TokenID: caller.TokenID}, err
	}
	return caller, nil
}

func (a *Authenticator) identify(ctx context.Context, bearer string) (External, error) {
	if a.issuers != nil && len(bearer) <= maxBearer {
		ext, ok, err := a.issuers.Identify(ctx, bearer)
		if ok || err != nil {
			return ext, err
		}
	}
	return External{}, fault.New(fault.Unauthenticated, "The token is of an issuer that is not accepted here. Ask the token endpoint of this installation for one, or an administrator to configure the issuer.")
}

// outsideTokenID tells tokens of other issuers apart in the audit.
func outsideTokenID(ext External, bearer string) string {
	sum := sha256.Sum256([]byte(ext.Issuer + "\n" + ext.Subject + "\n" + bearer))
	return "oidc:" + hex.EncodeToString(sum[:8])
}

// findOutsider reads the principal and the roles that an issuer's token maps to. Roles that the token names count when
// they are federated, or assigned to the principal; when it says nothing of roles, those count that are assigned.
func (a *Authenticator) findOutsider(ctx context.Context, version int64, ext External) (holder, error) {
	principal, err := a.store.PrincipalByName(ctx, ext.Principal)
	if fault.Is(err, fault.NotFound) {
		principal, err = a.welcome(ctx, ext)
	}
	if err != nil {
		return holder{}, err
	}
	h := holder{principal: principal, caller: policy.Caller{
		PrincipalID: principal.ID, Principal: principal.Name, Clearance: principal.Clearance,
	}}
	roles, err := a.rolesOf(ctx, version, principal.ID)
	if err != nil {
		return h, err
	}
	if ext.Roles != nil {
		if roles, err = a.outsideRoles(ctx, roles, ext.Roles); err != nil {
			return h, err
		}
		h.caller.Roles = idsOf(roles)
	}
	h.caller.RoleNames = namesOf(roles)
	h.caller.Held, err = a.holding(ctx, version, roles)
	return h, err
}

func (a *Authenticator) outsideRoles(ctx context.Context, assigned []models.PrincipalRole, names []string) ([]models.PrincipalRole, error) {
	named, err := a.store.PrincipalRolesNamed(ctx, names)
	if err != nil {
		return nil, err
	}
	ids := idsOf(assigned)
	return slices.DeleteFunc(named, func(r models.PrincipalRole) bool { return !r.Federated && !slices.Contains(ids, r.ID) }), nil
}

// welcome makes the principal of an issuer's first token, where the issuer's may be made. Of several requests at once one
// makes it.
func (a *Authenticator) welcome(ctx context.Context, ext External) (models.Principal, error) {
	if !ext.CreatePrincipal {
		return models.Principal{}, fault.New(fault.Unauthenticated,
			"There is no principal %q, which the token is of. Ask an administrator to create it.", ext.Principal)
	}
	flaw := models.NameFlaw(ext.Principal)
	if ext.Principal == platformName {
		flaw = "is what the audit calls the server itself"
	}
	if flaw != "" {
		return models.Principal{}, fault.New(fault.Unauthenticated, "The token names the principal %.300q here, which cannot be one: the name %s. Map it to another.", ext.Principal, flaw)
	}
	now := a.now()
	p := models.Principal{
		ID: uuid.NewString(), Name: ext.Principal, Clearance: models.Internal, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	err := a.store.CreatePrincipal(ctx, p, auditEvent(policy.Caller{Principal: p.Name}, models.AuditPrincipalCreated, "", now,
		map[string]any{"principal": p.Name, "issuer": ext.Issuer, "subject": ext.Subject}))
	if err == nil || fault.Is(err, fault.AlreadyExists) {
		return a.store.PrincipalByName(ctx, ext.Principal)
	}
	return models.Principal{}, err
}

// platformName is whom the audit names for what Sluice does by itself.
const platformName = "sluice"
