package policy

import (
	"slices"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Caller is who asks, with the rights they hold. internal/access makes it, once a request.
type Caller struct {
	PrincipalID string
	Principal   string
	TokenID     string
	EngineToken bool       // its commits are external whatever the principal holds
	ReadOnly    bool       // a token without canWrite: every mutation is refused
	CanGovern   bool       // may change governance where its principal may; false for a job's token
	CatalogID   string     // the only catalog the token opens; "" for all
	ExpiresAt   *time.Time // of the token; nil never
	Held        *Held      // the principal's grants; nil holds nothing
	Origin      Origin
}

// Origin is where a request came from, for the ledger and the audit.
type Origin struct {
	RequestID string
	Address   string // of the client
	Client    string // X-Client-Version, else User-Agent
}

// Path names an object for a privilege check: the ids of its catalog, its namespaces from the outermost in, and
// of itself, a table or a view. Grants on any of them count.
type Path struct {
	CatalogID    string
	NamespaceIDs []string
	TableID      string
}

// Has tells whether the caller holds the privilege, or one that implies it, on the object or anything above it.
func (c Caller) Has(p models.Privilege, at Path) bool {
	return c.Held != nil && c.Held.Has(p, at)
}

// Held is the grants of one principal: privileges by the id of the object they are on. It is immutable.
type Held struct {
	service  []models.Privilege
	byObject map[string][]models.Privilege
}

// NewHeld indexes a principal's service privileges and grants.
func NewHeld(service []models.Privilege, grants []models.Grant) *Held {
	h := &Held{service: slices.Clone(service), byObject: make(map[string][]models.Privilege)}
	for _, g := range grants {
		h.byObject[g.ObjectID] = append(h.byObject[g.ObjectID], g.Privilege)
	}
	return h
}

// Has tells whether a held privilege implies p on the object of the path.
func (h *Held) Has(p models.Privilege, at Path) bool {
	if impliedByAny(h.service, p) || impliedByAny(h.byObject[at.CatalogID], p) {
		return true
	}
	for _, id := range at.NamespaceIDs {
		if impliedByAny(h.byObject[id], p) {
			return true
		}
	}
	return at.TableID != "" && impliedByAny(h.byObject[at.TableID], p)
}

func impliedByAny(held []models.Privilege, p models.Privilege) bool {
	return slices.ContainsFunc(held, func(h models.Privilege) bool { return Implies(h, p) })
}
