package policy

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Caller is who asks, with the rights they hold. internal/access makes it, once a request.
type Caller struct {
	PrincipalID string
	Principal   string
	TokenID     string
	EngineToken bool                  // its commits are external whatever the principal holds
	ReadOnly    bool                  // a token without canWrite: every mutation is refused
	CanGovern   bool                  // may change governance where its principal may; false for a job's token
	CatalogID   string                // the only catalog the token opens; "" for all
	Roles       []string              // ids of the only principal roles the token acts with; nil: all of its principal's
	ExpiresAt   *time.Time            // of the token; nil never
	Clearance   models.Classification // the most sensitive data its principal may see
	// MustRotate: the principal's first credentials, which are good for nothing but their own rotation.
	MustRotate bool
	RoleNames  []string // names of the principal roles that it acts with, in order
	Held       *Held    // the grants of the principal's roles, as far as the token acts with them; nil holds nothing
	Origin     Origin
	// AsOf is the version of all rights that the caller was found under, which counts changes of catalogs' storage too.
	AsOf int64
}

// asOfKey is the context key of the version.
type asOfKey struct{}

// WithAsOf lets what a request does further on know the version that its caller was found under, so that it need not be
// read again.
func WithAsOf(ctx context.Context, version int64) context.Context {
	return context.WithValue(ctx, asOfKey{}, version)
}

// AsOf gives that version; false where there is none, as in a workflow.
func AsOf(ctx context.Context) (version int64, known bool) {
	version, known = ctx.Value(asOfKey{}).(int64)
	return version, known
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

// HasWithin tells whether the caller holds the privilege, or one that implies it, on something that lies in the object
// of the id, a catalog or a namespace: enough to know that the object is there.
func (c Caller) HasWithin(p models.Privilege, id string) bool {
	return c.Held != nil && c.Held.HasWithin(p, id)
}
