package objects

import (
	"errors"
	"time"
)

// Credential opens the locations that start with Prefix to an engine.
type Credential struct {
	Prefix  string            // in the normal form of Location.String
	Config  map[string]string // properties of Iceberg's clients; secret
	Expires time.Time
}

// VendOptions says how keys are handed out.
type VendOptions struct {
	Lifetime        time.Duration // wanted; stores have bounds of their own
	RefreshEndpoint string        // where clients ask for the next ones: a URL, or a path at the catalog; "" for nowhere
}

// ErrNoScopedKeys says that a store has no keys that open one table's files and nothing else. Engines then get none.
var ErrNoScopedKeys = errors.New("objects: the store cannot make keys for one table alone")
