package setup

import (
	"slices"
	"strings"

	"github.com/sluice-data/sluice/models"
)

// State is what a file wants, or what an installation has. In a wanted state nil means that the file does not say, and
// then nothing is taken away: an empty list or map says that there is to be none.
type State struct {
	PrincipalRoles map[string]PrincipalRole
	Principals     map[string]Principal
	Catalogs       map[string]Catalog
}

// PrincipalRole is a role that principals have.
type PrincipalRole struct {
	Version    int64 // as it was read; 0 in a file
	Federated  *bool // nil: the file does not say
	Properties map[string]string
}

// Principal is an identity with its principal roles.
type Principal struct {
	Version    int64
	Clearance  models.Classification // "": the file does not say
	Disabled   *bool                 // nil: the file does not say
	Properties map[string]string
	Roles      []string
}

// Catalog is a catalog with what is in it, tables left out.
type Catalog struct {
	Version            int64
	BaseLocation       string
	AllowedLocations   []string
	Storage            Storage
	Properties         map[string]string
	DefaultWritePolicy models.WritePolicy // "": the file does not say
	Namespaces         []Namespace        // parents before what is in them
	Roles              map[string]CatalogRole
}

// Namespace is a namespace of a catalog.
type Namespace struct {
	Levels             []string
	Location           string // "": the catalog's own place for it
	Properties         map[string]string
	DefaultWritePolicy models.WritePolicy // "": the file does not say, or it has none of its own
}

// WithoutLocations gives the state without where catalogs and namespaces lie and how that storage is reached, for an
// installation whose catalogs lie elsewhere.
func (s State) WithoutLocations() State {
	catalogs := make(map[string]Catalog, len(s.Catalogs))
	for name, c := range s.Catalogs {
		c.BaseLocation, c.AllowedLocations, c.Storage = "", nil, Storage{}
		c.Namespaces = slices.Clone(c.Namespaces)
		for i := range c.Namespaces {
			c.Namespaces[i].Location = ""
		}
		catalogs[name] = c
	}
	s.Catalogs = catalogs
	return s
}

// CatalogRole groups grants, for the principal roles that it is assigned to.
type CatalogRole struct {
	Version    int64
	Properties map[string]string
	AssignTo   []string // principal roles
	Grants     []Grant
}

// Grant is a privilege on a catalog, or on something in it.
type Grant struct {
	Scope     models.GrantScope
	Namespace []string // levels, but of a catalog
	Name      string   // of a table or a view
	Privilege models.Privilege
}

// Object names what the grant is on, as users write it.
func (g Grant) Object(catalog string) string {
	parts := append([]string{catalog}, g.Namespace...)
	if g.Name != "" {
		parts = append(parts, g.Name)
	}
	return string(g.Scope) + " " + strings.Join(parts, ".")
}

// key tells grants of one role apart.
func (g Grant) key() string {
	return strings.Join([]string{string(g.Scope), namespaceKey(g.Namespace), g.Name, string(g.Privilege)}, "\x00")
}

// namespaceKey tells namespaces of one catalog apart.
func namespaceKey(levels []string) string { return strings.Join(levels, "\x1f") }

// Credentials are what a new principal authenticates with. The secret is shown once.
type Credentials struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
}
