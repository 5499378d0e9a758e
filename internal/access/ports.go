package access

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Store keeps principals, grants and tokens. Absent rows are fault.NotFound.
type Store interface {
	PrincipalByID(ctx context.Context, id string) (models.Principal, error)
	PrincipalByName(ctx context.Context, name string) (models.Principal, error)
	PrincipalByClientID(ctx context.Context, clientID string) (models.Principal, error)
	// PrincipalRoleNames gives the names of the principal's roles.
	PrincipalRoleNames(ctx context.Context, principalID string) ([]string, error)
	// PrincipalGrants gives the grants of every catalog role that the principal's roles hold.
	PrincipalGrants(ctx context.Context, principalID string) ([]models.Grant, error)

	CreateToken(ctx context.Context, t models.Token, event models.AuditEvent) error
	// Bearer finds a token by its hash, with its principal and the version of all grants, as of one moment.
	Bearer(ctx context.Context, hash string) (Bearer, error)
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

	// Bootstrap creates the root principal with service_admin, the first catalog with catalog_admin and its grants,
	// in one transaction; fault.AlreadyExists when there is a root principal already.
	Bootstrap(ctx context.Context, b Bootstrap) error
}

// Bearer is a token with what is needed to know its holder.
type Bearer struct {
	Token     models.Token
	Principal models.Principal // its ID, name and whether it is disabled; zero when it is gone
	Version   int64            // of principals, roles and grants: raised by every change
}

// Bootstrap is what a fresh installation starts with.
type Bootstrap struct {
	Root    models.Principal
	Catalog models.Catalog
	// AdminPrivileges are granted to catalog_admin on the catalog; service_admin holds that role.
	AdminPrivileges []models.Privilege
	Events          []models.AuditEvent
}
