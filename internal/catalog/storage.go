package catalog

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Delegation is a way to let an engine at files, as the header X-Iceberg-Access-Delegation names it.
type Delegation string

// The ways. With none an engine brings keys of its own.
const (
	NoDelegation Delegation = ""
	Vending      Delegation = "vended-credentials"
	Signing      Delegation = "remote-signing"
)

// StorageKeys opens tables' files in the object store for engines. internal/delegation does it.
type StorageKeys interface {
	// Choose says in which way engines are let at the files of a catalog's tables; asked is what they want, what they like
	// best first.
	Choose(ctx context.Context, cat models.Catalog, asked []Delegation) (StorageChoice, error)
	// Open gives what an engine needs to reach the files in the way that was chosen, or in another one where the store
	// cannot do that for this table.
	Open(ctx context.Context, use StorageUse, at StorageRoutes) (StorageOpening, error)
	// Renew gives new keys to who has some that run out; none where the catalog's store gives no keys.
	Renew(ctx context.Context, use StorageUse, at StorageRoutes) ([]StorageCredential, error)
	// Sign signs one request to the store. Errors are fault.Forbidden for what the use does not allow, fault.Invalid for what
	// is malformed, fault.Unsupported in a catalog that does not sign.
	Sign(ctx context.Context, use StorageUse, in SignInput) (SignedRequest, error)
	// Locate gives the location that a request to the catalog's store is about. Its errors are those of Sign.
	Locate(ctx context.Context, cat models.Catalog, in SignInput) (string, error)
}

// StorageChoice is the way that was chosen.
type StorageChoice struct {
	Mode  Delegation
	Able  bool          // the catalog lets engines at files in one way or another, if they ask
	Signs bool          // it signs requests; not said where Mode is Vending, the first that was asked for
	Life  time.Duration // of keys, where Mode is Vending
	Store string        // tells apart where the store is and what it is reached with, without saying it
}

// StorageUse says who wants to reach which table's files, in which way and with what rights. Without a mode nothing is given.
type StorageUse struct {
	Caller   policy.Caller
	Catalog  models.Catalog
	TableID  string // "" for a staged table
	Location string // of the table, as its metadata has it
	Access   models.StorageAccess
	Choice   StorageChoice
	epoch    int64 // which part of the life of keys it is
	made     bool  // the table was made by the request that asks
}

// StorageRoutes says where a client asks for more: paths below the URI of the catalog, without a query.
type StorageRoutes struct {
	URI         string // "" where clients are to take the URI that they use themselves
	Sign        string
	Credentials string
}

// StorageOpening is what an engine needs to reach a table's files. Config has all that is in the first of Credentials.
type StorageOpening struct {
	Mode        Delegation
	Config      map[string]string
	Credentials []StorageCredential
}

// StorageCredential opens the locations that start with Prefix.
type StorageCredential struct {
	Prefix string
	Config map[string]string
}

// SignInput is a request to the object store that is to be signed.
type SignInput struct {
	Provider   string
	Region     string
	Method     string
	URI        string
	Headers    map[string][]string
	Properties map[string]string
	Body       string // where it decides what the request does, as with S3's DeleteObjects
}

// SignedRequest is the request as it is to be sent.
type SignedRequest struct {
	URI     string
	Headers map[string][]string
	// Cacheable: the client may use the signature again for the same request. Whatever else it must ask for each time.
	Cacheable bool
}
