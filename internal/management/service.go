package management

import (
	"sync"
	"time"
)

// Deps is what the use cases need.
type Deps struct {
	Store         Store
	Locations     Locations
	Secrets       Secrets
	Warehouses    []string      // normalised roots inside which catalogs may lie
	SecretOverlap time.Duration // how long the client secret before a rotation stays good, 0 for not at all
	Now           func() time.Time
}

// Service is the use cases. It keeps nothing between calls and may be used by many at once.
type Service struct {
	store      Store
	locations  Locations
	secrets    Secrets
	warehouses []string
	overlap    time.Duration
	now        func() time.Time

	placing sync.Mutex // catalogs of one process get their locations one after the other, each seeing those before
}

// New makes a Service.
func New(d Deps) *Service {
	return &Service{
		store: d.Store, locations: d.Locations, secrets: d.Secrets,
		warehouses: d.Warehouses, overlap: d.SecretOverlap, now: d.Now,
	}
}
