package management

import "time"

// Deps is what the use cases need.
type Deps struct {
	Store         Store
	Locations     Locations
	Secrets       Secrets
	Warehouses    []string      // normalised roots inside which catalogs may lie
	SecretOverlap time.Duration // how long the client secret before a rotation stays good, 0 for not at all
	// OtherStorage lets catalogs lie outside the warehouses, in object stores that are reached by keys or a role of their own.
	OtherStorage bool
	Sealer       Sealer           // of storage secrets, which it seals with the catalog's id
	Validator    StorageValidator // nil: storage is not validated
	Now          func() time.Time
}

// Service is the use cases. It keeps nothing between calls and may be used by many at once.
type Service struct {
	store      Store
	locations  Locations
	secrets    Secrets
	warehouses []string
	overlap    time.Duration
	other      bool
	sealer     Sealer
	validator  StorageValidator
	now        func() time.Time
}

// New makes a Service.
func New(d Deps) *Service {
	return &Service{
		store: d.Store, locations: d.Locations, secrets: d.Secrets,
		warehouses: d.Warehouses, overlap: d.SecretOverlap, now: d.Now,
		other: d.OtherStorage, sealer: d.Sealer, validator: d.Validator,
	}
}
