package management

import (
	"context"

	"github.com/sluice-data/sluice/models"
)

// Store keeps what is administered. Absent rows are fault.NotFound with their subject, taken names fault.AlreadyExists,
// an Update or Delete whose row has another Version than the one given fault.Conflict. Lists are in order of names.
// Every mutation is one transaction with its audit event; one that changes nothing answers false and adds no event.
type Store interface {
	CatalogStore
	PrincipalStore
	RoleStore
	GrantStore
}

// CatalogStore keeps catalogs.
type CatalogStore interface {
	Catalogs(ctx context.Context) ([]models.Catalog, error)
	CatalogByName(ctx context.Context, name string) (models.Catalog, error)
	// PlaceCatalog runs place in one transaction, during which nobody else, in whatever process, makes a table or gives a
	// catalog a location. It may run it several times.
	PlaceCatalog(ctx context.Context, place func(at Places) error) error
	// SetStorageSecrets keeps what was sealed, nothing when it is empty, as a compare-and-swap on the catalog's Version.
	SetStorageSecrets(ctx context.Context, catalogID string, version int64, sealed []byte, event models.AuditEvent) error
	// DeleteCatalog takes its roles, grants and tokens with it. It answers fault.NotEmpty while the catalog has namespaces
	// or dropped tables that still hold their files.
	DeleteCatalog(ctx context.Context, id string, event models.AuditEvent) error
}

// Places is what there is and can be made while a catalog gets its locations.
type Places interface {
	Catalogs() ([]models.Catalog, error)
	// TableWithin names a table, a view or a dropped table of any catalog but one whose location overlaps the location, ""
	// if there is none.
	TableWithin(location, exceptCatalogID string) (string, error)
	// CreateCatalog adds a catalog with its catalog_admin role, which service_admin is given and which holds the
	// privileges on the catalog.
	CreateCatalog(c models.Catalog, adminPrivileges []models.Privilege, event models.AuditEvent) error
	// UpdateCatalog is a compare-and-swap on Version. The answer to the client is the row as it is stored.
	UpdateCatalog(c models.Catalog, event models.AuditEvent) error
}

// PrincipalStore keeps principals and the principal roles that they have.
type PrincipalStore interface {
	Principals(ctx context.Context) ([]models.Principal, error)
	PrincipalByName(ctx context.Context, name string) (models.Principal, error)
	PrincipalByID(ctx context.Context, id string) (models.Principal, error)
	CreatePrincipal(ctx context.Context, p models.Principal, event models.AuditEvent) error
	// UpdatePrincipal stores all of p but its name, as a compare-and-swap on Version.
	UpdatePrincipal(ctx context.Context, p models.Principal, event models.AuditEvent) error
	// ResetSecret is UpdatePrincipal that revokes the principal's access tokens too.
	ResetSecret(ctx context.Context, p models.Principal, event models.AuditEvent) error
	DeletePrincipal(ctx context.Context, id string, event models.AuditEvent) error

	RolesOfPrincipal(ctx context.Context, principalID string) ([]models.PrincipalRole, error)
	PrincipalsWithRole(ctx context.Context, principalRoleID string) ([]models.Principal, error)
	AssignPrincipalRole(ctx context.Context, m models.PrincipalRoleMember, event models.AuditEvent) (changed bool, err error)
	RevokePrincipalRole(ctx context.Context, m models.PrincipalRoleMember, event models.AuditEvent) (changed bool, err error)
}

// RoleStore keeps principal roles, catalog roles and which principal role has which catalog role.
type RoleStore interface {
	PrincipalRoles(ctx context.Context) ([]models.PrincipalRole, error)
	PrincipalRoleByName(ctx context.Context, name string) (models.PrincipalRole, error)
	CreatePrincipalRole(ctx context.Context, r models.PrincipalRole, event models.AuditEvent) error
	UpdatePrincipalRole(ctx context.Context, r models.PrincipalRole, event models.AuditEvent) error // properties
	DeletePrincipalRole(ctx context.Context, id string, event models.AuditEvent) error

	CatalogRoles(ctx context.Context, catalogID string) ([]models.CatalogRole, error)
	CatalogRoleByName(ctx context.Context, catalogID, name string) (models.CatalogRole, error)
	CreateCatalogRole(ctx context.Context, r models.CatalogRole, event models.AuditEvent) error
	UpdateCatalogRole(ctx context.Context, r models.CatalogRole, event models.AuditEvent) error // properties
	DeleteCatalogRole(ctx context.Context, id string, event models.AuditEvent) error            // with its grants

	// CatalogRolesOf gives the roles of one catalog that a principal role has; of every catalog when catalogID is "".
	CatalogRolesOf(ctx context.Context, principalRoleID, catalogID string) ([]models.CatalogRole, error)
	PrincipalRolesWith(ctx context.Context, catalogRoleID string) ([]models.PrincipalRole, error)
	AssignCatalogRole(ctx context.Context, m models.CatalogRoleMember, event models.AuditEvent) (changed bool, err error)
	RevokeCatalogRole(ctx context.Context, m models.CatalogRoleMember, event models.AuditEvent) (changed bool, err error)
}

// GrantStore keeps grants and finds what they are on.
type GrantStore interface {
	// NamespacePath gives the namespace of the key preceded by its ancestors, outermost first.
	NamespacePath(ctx context.Context, catalogID string, key models.NamespaceKey) ([]models.Namespace, error)
	TableByName(ctx context.Context, namespaceID, name string) (models.Table, error)
	ViewByName(ctx context.Context, namespaceID, name string) (models.View, error)
	// GrantsOfCatalogRole gives the grants with where their objects are now, in order of scope, place and privilege;
	// those on dropped tables are left out.
	GrantsOfCatalogRole(ctx context.Context, catalogRoleID string) ([]PlacedGrant, error)
	// GrantsOnDropped gives the role's grants on tables that can be undropped, with where they were; without Within,
	// because their namespaces may be gone.
	GrantsOnDropped(ctx context.Context, catalogRoleID string) ([]PlacedGrant, error)
	AddGrant(ctx context.Context, g models.Grant, event models.AuditEvent) (changed bool, err error)
	// RevokeGrants removes the role's grants of the ids that are still there, each with its event, and tells how many.
	RevokeGrants(ctx context.Context, grants []RevokedGrant) (int, error)
}

// PlacedGrant is a grant with the names of what it is on.
type PlacedGrant struct {
	models.Grant
	Namespace models.NamespaceKey // of a namespace, or that a table or view is in; "" on a catalog
	Name      string              // of a table or view
	Within    []string            // ids of its namespaces, outermost first, itself left out
}

// RevokedGrant is a grant to remove, with its event.
type RevokedGrant struct {
	ID    string
	Event models.AuditEvent
}

// Locations says where files may lie.
type Locations interface {
	// Normalize gives the one spelling of a location; fault.Invalid for what is none.
	Normalize(location string) (string, error)
	// Within tells whether location is prefix or lies under it, by whole path segments. Both are normalised.
	Within(prefix, location string) bool
}

// Secrets makes and hashes what principals log in with; internal/access does.
type Secrets interface {
	NewClientID() string
	NewClientSecret() string
	// Hash gives what is stored of a secret.
	Hash(secret string) string
}

// Sealer encrypts what is kept at rest; internal/keyring does.
type Sealer interface {
	// Seal encrypts plain, which only the same associated data opens again.
	Seal(plain, associated []byte) ([]byte, error)
}

// StorageValidator tries what is needed of a catalog's object store.
type StorageValidator interface {
	Validate(ctx context.Context, cat models.Catalog) ([]models.StorageStep, error)
}
