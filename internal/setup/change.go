package setup

import (
	"github.com/sluice-data/sluice/models"
)

// Action is what a change does to its object.
type Action string

// The actions, as a diff marks them.
const (
	Add    Action = "+"
	Modify Action = "~"
	Remove Action = "-"
)

// Kind is what a change is of.
type Kind string

// The kinds. Assignments and grants are only added and removed, a default write policy only modified.
const (
	OfPrincipalRole      Kind = "principal role"
	OfPrincipal          Kind = "principal"
	OfCatalog            Kind = "catalog"
	OfDefaultWritePolicy Kind = "default write policy"
	OfNamespace          Kind = "namespace"
	OfCatalogRole        Kind = "catalog role"
	OfGrant              Kind = "grant"
	OfCatalogAssignment  Kind = "assignment of a catalog role"
	OfAssignment         Kind = "assignment of a principal role"
)

// Change is one step of a diff. Of its members those count that its kind has.
type Change struct {
	Action Action
	Kind   Kind
	What   string // a phrase: what becomes of what

	Catalog       string // of catalogs and what is in them
	CatalogRole   string
	PrincipalRole string
	Principal     string

	// What the object is to be as a whole; Version is that of the object as it was read.
	RoleState      PrincipalRole // of a principal role; Properties and Version of a catalog role too
	PrincipalState Principal
	CatalogState   Catalog
	Namespace      Namespace
	Removed        []string // of the properties of a namespace
	Grant          Grant
	Policy         models.WritePolicy // of the Namespace, else of the Catalog
}

// SaysLocation tells whether a server may refuse the change for where it wants something to lie.
func (c Change) SaysLocation() bool {
	return c.Kind == OfCatalog && c.Action != Remove || c.Kind == OfNamespace && c.Namespace.Location != ""
}

// String gives the change as a line of a diff.
func (c Change) String() string { return string(c.Action) + " " + c.What }
