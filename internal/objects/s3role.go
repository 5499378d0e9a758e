package objects

import (
	"cmp"
	"sync"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/sluice-data/sluice/models"
)

// S3Role is a role that is taken on to reach an S3 store.
type S3Role struct {
	ARN         string
	ExternalID  string
	STSEndpoint string // "" for the store's own, or Amazon's of the region
}

// sessionSeconds is how long the keys of a role last that Sluice takes on itself; new ones are had before they end.
const sessionSeconds = 3600

// roleKeys gives the keys of a role, by those that it is taken on with.
type roleKeys struct {
	base   *credentials.Credentials
	config S3Config

	mu   sync.Mutex
	last credentials.STSAssumeRole
}

// RetrieveWithCredContext implements credentials.Provider.
func (r *roleKeys) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	by, err := r.base.GetWithContext(cc)
	if err != nil {
		return credentials.Value{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	region := cmp.Or(r.config.Region, defaultRegion)
	r.last = credentials.STSAssumeRole{
		STSEndpoint: r.endpoint(region),
		Options: credentials.STSAssumeRoleOptions{
			AccessKey: by.AccessKeyID, SecretKey: by.SecretAccessKey, SessionToken: by.SessionToken,
			RoleARN: r.config.Role.ARN, ExternalID: r.config.Role.ExternalID, RoleSessionName: "sluice",
			Location: region, DurationSeconds: sessionSeconds,
		},
	}
	v, err := r.last.RetrieveWithCredContext(cc)
	if err != nil {
		err = &roleError{role: r.config.Role.ARN, cause: err}
	}
	return v, err
}

// roleError is that a role could not be taken on.
type roleError struct {
	role  string
	cause error
}

// Error implements error.
func (e *roleError) Error() string { return "role " + e.role + ": " + e.cause.Error() }

// Unwrap gives what the token service or the network said.
func (e *roleError) Unwrap() error { return e.cause }

// endpoint gives the token service's address.
func (r *roleKeys) endpoint(region string) string {
	switch {
	case r.config.Role.STSEndpoint != "":
		return r.config.Role.STSEndpoint
	case r.config.Endpoint != "":
		return r.config.Endpoint
	}
	return "https://sts." + region + ".amazonaws.com"
}

// Retrieve implements credentials.Provider.
func (r *roleKeys) Retrieve() (credentials.Value, error) { return r.RetrieveWithCredContext(nil) }

// IsExpired implements credentials.Provider.
func (r *roleKeys) IsExpired() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.IsExpired()
}

// Keys gives the keys that the store is reached with now, with the session token of temporary ones. Without any they are
// empty.
func (s *S3Store) Keys() (models.StorageSecrets, error) {
	v, err := s.core.GetCreds()
	return models.StorageSecrets{AccessKey: v.AccessKeyID, SecretKey: v.SecretAccessKey, SessionToken: v.SessionToken}, err
}
