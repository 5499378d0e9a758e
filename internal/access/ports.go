package access

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Store keeps principals, grants, tokens and signing keys. Absent rows are fault.NotFound.
type Store interface {
	// AccessVersion gives a number that every change of principals, roles, grants, signing keys and revocations raises.
	// It is read for every request; what else a request needs is kept in memory for as long as it stays.
	AccessVersion(ctx context.Context) (int64, error)

	PrincipalByID(ctx context.Context, id string) (models.Principal, error)
	PrincipalByName(ctx context.Context, name string) (models.Principal, error)
	PrincipalByClientID(ctx context.Context, clientID string) (models.Principal, error)
	// CreatePrincipal is for principals that an issuer's first token makes.
	CreatePrincipal(ctx context.Context, p models.Principal, event models.AuditEvent) error
	// RolesOfPrincipal gives the principal roles that are assigned to the principal, in order of names.
	RolesOfPrincipal(ctx context.Context, principalID string) ([]models.PrincipalRole, error)
	// PrincipalRolesNamed gives those of the names that there are, in order of names.
	PrincipalRolesNamed(ctx context.Context, names []string) ([]models.PrincipalRole, error)
	// GrantsOfRoles gives the grants of every catalog role that any of the principal roles holds.
	GrantsOfRoles(ctx context.Context, principalRoleIDs []string) ([]policy.Grant, error)

	CreateToken(ctx context.Context, t models.Token, event models.AuditEvent) error
	// IssueToken is CreateToken for a token that was asked for by what its principal was at the version; fault.Conflict,
	// and nothing is added, when the principal is another by now.
	IssueToken(ctx context.Context, t models.Token, principalVersion int64, event models.AuditEvent) error
	// Bearer finds a token by its hash, with its principal.
	Bearer(ctx context.Context, hash string) (Bearer, error)
	// BearerByID finds a token by its id, with its principal.
	BearerByID(ctx context.Context, tokenID string) (Bearer, error)
	TokenByID(ctx context.Context, id string) (models.Token, error)
	// ListTokens gives engine tokens, newest first, those that follow the one with the id after; "" for the newest.
	ListTokens(ctx context.Context, after string, limit int) ([]models.Token, error)
	RevokeToken(ctx context.Context, id string, at time.Time, event models.AuditEvent) error
	TouchToken(ctx context.Context, id string, at time.Time) error
	// PruneAccessTokens removes access tokens that expired before the time.
	PruneAccessTokens(ctx context.Context, before time.Time) error
	CatalogByID(ctx context.Context, id string) (models.Catalog, error)
	AppendAudit(ctx context.Context, event models.AuditEvent) error
	CatalogByName(ctx context.Context, name string) (models.Catalog, error)

	SigningKeys

	// Bootstrap creates the root principal with service_admin, the first catalog with catalog_admin and its grants,
	// in one transaction; fault.AlreadyExists when there is a root principal already.
	Bootstrap(ctx context.Context, b Bootstrap) error
}

// SigningKeys keeps the keys that access tokens are signed with.
type SigningKeys interface {
	// SigningKeys gives every key, newest first.
	SigningKeys(ctx context.Context) ([]models.SigningKey, error)
	// AddSigningKey adds a key, retires the older ones at retireOthers where they would retire later, and removes those
	// that are forgotten by now. It answers fault.Conflict, and adds nothing, when the newest key is another one than
	// newest ("" for none), so that of many processes one makes the next key.
	AddSigningKey(ctx context.Context, key models.SigningKey, newest string, retireOthers time.Time, event models.AuditEvent) error
	// RevokeSigningKeys removes every key but the one that is kept ("" for none): tokens that they signed are worth
	// nothing from the next request on.
	RevokeSigningKeys(ctx context.Context, keep string, event models.AuditEvent) error
}

// Bearer is a token with what is needed to know its holder.
type Bearer struct {
	Token     models.Token
	Principal models.Principal // zero when it is gone
}

// Bootstrap is what a fresh installation starts with.
type Bootstrap struct {
	Root    models.Principal
	Catalog models.Catalog
	// AdminPrivileges are granted to catalog_admin on the catalog; service_admin holds that role.
	AdminPrivileges []models.Privilege
	Events          []models.AuditEvent
}
