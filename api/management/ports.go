package management

import (
	"context"

	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Administration is the use cases behind the API. Each checks the caller's rights itself.
type Administration interface {
	Catalogs
	Principals
	Roles
	Grants
}

// Catalogs administers catalogs.
type Catalogs interface {
	ListCatalogs(ctx context.Context, caller policy.Caller) ([]models.Catalog, error)
	CreateCatalog(ctx context.Context, caller policy.Caller, in management.NewCatalog) (models.Catalog, error)
	GetCatalog(ctx context.Context, caller policy.Caller, name string) (models.Catalog, error)
	UpdateCatalog(ctx context.Context, caller policy.Caller, name string, in management.CatalogChange) (models.Catalog, error)
	DeleteCatalog(ctx context.Context, caller policy.Caller, name string) error
}

// Principals administers principals and which principal roles they have.
type Principals interface {
	ListPrincipals(ctx context.Context, caller policy.Caller) ([]models.Principal, error)
	CreatePrincipal(ctx context.Context, caller policy.Caller, in management.NewPrincipal) (models.Principal, management.Credentials, error)
	GetPrincipal(ctx context.Context, caller policy.Caller, name string) (models.Principal, error)
	UpdatePrincipal(ctx context.Context, caller policy.Caller, name string, in management.PrincipalChange) (models.Principal, error)
	DeletePrincipal(ctx context.Context, caller policy.Caller, name string) error
	// RotateCredentials is for the principal itself; the secret before stays good for a while.
	RotateCredentials(ctx context.Context, caller policy.Caller, name string) (models.Principal, management.Credentials, error)
	// ResetCredentials is for administrators; what there was is good for nothing at once. Empty members are made up.
	ResetCredentials(ctx context.Context, caller policy.Caller, name string, in management.Credentials) (models.Principal, management.Credentials, error)

	PrincipalRolesOf(ctx context.Context, caller policy.Caller, principal string) ([]models.PrincipalRole, error)
	AssignPrincipalRole(ctx context.Context, caller policy.Caller, principal, role string) error
	RevokePrincipalRole(ctx context.Context, caller policy.Caller, principal, role string) error
}

// Roles administers principal roles, catalog roles and which principal role has which catalog role.
type Roles interface {
	ListPrincipalRoles(ctx context.Context, caller policy.Caller) ([]models.PrincipalRole, error)
	CreatePrincipalRole(ctx context.Context, caller policy.Caller, in management.NewRole) (models.PrincipalRole, error)
	GetPrincipalRole(ctx context.Context, caller policy.Caller, name string) (models.PrincipalRole, error)
	UpdatePrincipalRole(ctx context.Context, caller policy.Caller, name string, in management.RoleChange) (models.PrincipalRole, error)
	DeletePrincipalRole(ctx context.Context, caller policy.Caller, name string) error
	PrincipalsOf(ctx context.Context, caller policy.Caller, role string) ([]models.Principal, error)

	CatalogRolesOf(ctx context.Context, caller policy.Caller, principalRole, catalog string) ([]models.CatalogRole, error)
	AssignCatalogRole(ctx context.Context, caller policy.Caller, principalRole, catalog, catalogRole string) error
	RevokeCatalogRole(ctx context.Context, caller policy.Caller, principalRole, catalog, catalogRole string) error

	ListCatalogRoles(ctx context.Context, caller policy.Caller, catalog string) ([]models.CatalogRole, error)
	CreateCatalogRole(ctx context.Context, caller policy.Caller, catalog string, in management.NewRole) (models.CatalogRole, error)
	GetCatalogRole(ctx context.Context, caller policy.Caller, catalog, name string) (models.CatalogRole, error)
	UpdateCatalogRole(ctx context.Context, caller policy.Caller, catalog, name string, in management.RoleChange) (models.CatalogRole, error)
	DeleteCatalogRole(ctx context.Context, caller policy.Caller, catalog, name string) error
	PrincipalRolesWith(ctx context.Context, caller policy.Caller, catalog, catalogRole string) ([]models.PrincipalRole, error)
}

// Grants administers the grants of catalog roles.
type Grants interface {
	ListGrants(ctx context.Context, caller policy.Caller, catalog, role string) ([]management.GrantInput, error)
	AddGrant(ctx context.Context, caller policy.Caller, catalog, role string, in management.GrantInput) error
	// RevokeGrant with cascade takes the privilege from everything within the object too.
	RevokeGrant(ctx context.Context, caller policy.Caller, catalog, role string, in management.GrantInput, cascade bool) error
}
