package management

import "github.com/sluice-data/sluice/models"

// Credentials are a principal's client id and secret, as shown once.
type Credentials struct{ ClientID, ClientSecret string }

// NewPrincipal asks for a principal.
type NewPrincipal struct {
	Name             string
	Properties       map[string]string
	Clearance        models.Classification // "": internal
	RotationRequired bool                  // the credentials shown are good for nothing but their rotation
}

// PrincipalChange replaces a principal's properties, and its clearance where one is given.
type PrincipalChange struct {
	Version    int64 // as it was read
	Properties map[string]string
	Clearance  models.Classification // "": as it is
	Disabled   *bool                 // nil: as it is
}

// NewRole asks for a principal role or a catalog role.
type NewRole struct {
	Name       string
	Federated  bool // of principal roles
	Properties map[string]string
}

// RoleChange replaces a role's properties.
type RoleChange struct {
	Version    int64 // as it was read
	Properties map[string]string
	Federated  *bool // of principal roles; nil: as it is
}

// NewCatalog asks for a catalog.
type NewCatalog struct {
	Name             string
	BaseLocation     string
	AllowedLocations []string // besides the base location
	Properties       map[string]string
	Storage          models.StorageConfig
}

// CatalogChange replaces what it gives of a catalog; nil leaves as it is.
type CatalogChange struct {
	Version          int64 // as it was read
	Properties       map[string]string
	BaseLocation     string   // "": as it is
	AllowedLocations []string // nil: as they are
	Storage          *models.StorageConfig
}

// GrantInput names a privilege and the object that it is on.
type GrantInput struct {
	Scope     models.GrantScope
	Namespace []string // levels, but of a catalog
	Name      string   // of a table or a view
	Privilege models.Privilege
}

// Question asks whether a principal holds a privilege on an object.
type Question struct {
	Principal string
	Privilege models.Privilege
	// Object is catalog, catalog.namespace or catalog.namespace.table, levels joined by dots; "" for the service.
	Object string
}

// Explanation answers a Question: every way on which the principal has the privilege, or what is missing.
type Explanation struct {
	Allowed bool
	Object  string            // as it was understood
	Scope   models.GrantScope // kind of the object, "" for the service
	Ways    []Way
	// Roles are the principal's roles, and CatalogRoles what they hold in the object's catalog, when nothing allows it.
	Roles        []string
	CatalogRoles []string
	Advice       string // a sentence
}

// Way is one chain from a principal to a privilege.
type Way struct {
	PrincipalRole string
	CatalogRole   string // "" for service_admin's own right
	Grant         GrantInput
	On            string // the object that the grant is on, as in Question
	Implies       bool   // the grant is of another privilege, which implies the one that was asked for
}
