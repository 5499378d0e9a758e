package vending

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// defaultLifetime and the bounds are those of keys. Amazon takes no less than minLifetime; of a role assumed with keys
	// that are themselves a role's, no more than maxChained.
	defaultLifetime = 15 * time.Minute
	minLifetime     = 15 * time.Minute
	maxLifetime     = 12 * time.Hour
	maxChained      = time.Hour

	// askTime bounds one AssumeRole, retries included.
	askTime = 15 * time.Second
)

// ErrNoSTS says that the store gives no temporary keys: nobody was asked. Requests can be signed instead.
var ErrNoSTS = errors.New("the object store has no token service")

// Profile is the object store that keys are given for.
type Profile struct {
	Config  models.StorageConfig
	Secrets models.StorageSecrets
	// SessionToken goes with Secrets that are themselves temporary.
	SessionToken string
	// MinLifetime is the shortest life that the store gives keys; 0 is 15 minutes, as Amazon has it.
	MinLifetime time.Duration
}

// Ask is a wish for keys.
type Ask struct {
	Access   models.StorageAccess
	Lifetime time.Duration // 0 is 15 minutes; longer or shorter than the store gives is made the nearest that it does
	Session  string        // who gets the keys, for the store's own log
	Caller   string        // the id of the token that asks; keys are shared with nobody else
	Fresh    bool          // the caller has keys that run out: give new ones, not those again
}

// S3 gives keys of S3-compatible stores. It may be used concurrently.
//
// Keys are given again to the same token, for the same rights on the same store, while at least half of their life is
// left. Rights are part of what they are remembered by, and whoever lost a right asks with others or not at all: so
// remembering keys never prolongs what a revocation ended.
type S3 struct {
	now    func() time.Time
	ask    assumeRole
	flight singleflight.Group
	kept   *cache
}

// NewS3 makes it by the clock.
func NewS3(now func() time.Time) *S3 {
	return &S3{now: now, ask: newAssumeRole(), kept: newCache(now)}
}

// Vend gives keys for the access. Errors are ErrNoSTS, before anything was asked; those of SessionPolicy; and
// fault.Unavailable where the store's token service fails or refuses.
func (s *S3) Vend(ctx context.Context, p Profile, ask Ask) (Credentials, error) {
	if !p.vends() {
		return Credentials{}, ErrNoSTS
	}
	policy, err := SessionPolicy(p.Config, ask.Access)
	if err != nil {
		return Credentials{}, err
	}
	want := order{profile: p, policy: policy, lifetime: p.lifetime(ask.Lifetime), session: sessionName(ask.Session), table: ask.Access.Table}
	key := want.key(ask.Caller)
	if !ask.Fresh {
		if c, ok := s.kept.get(key); ok {
			return c, nil
		}
	}
	// The call goes on when the first of those who wait for it goes away.
	asked := s.flight.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
		defer cancel()
		c, err := s.ask.assume(ctx, want)
		if err == nil {
			s.kept.put(key, c)
		}
		return c, err
	})
	select {
	case <-ctx.Done():
		return Credentials{}, fault.Wrap(ctx.Err(), fault.Unavailable, "The object store's token service did not answer in time. Try again.")
	case r := <-asked:
		c, _ := r.Val.(Credentials)
		return c, r.Err
	}
}

// vends tells whether the store gives temporary keys: it has a token service, Sluice has keys for it, and on Amazon a role.
func (p Profile) vends() bool {
	switch c := p.Config; {
	case c.Type != models.S3Storage, c.STSUnavailable, p.Secrets.AccessKey == "", p.Secrets.SecretKey == "":
		return false
	case amazon(c):
		return c.RoleARN != ""
	}
	return true
}

// lifetime gives the nearest life that the store gives keys.
func (p Profile) lifetime(want time.Duration) time.Duration {
	if want == 0 {
		want = defaultLifetime
	}
	least, most := p.MinLifetime, maxLifetime
	if least <= 0 {
		least = minLifetime
	}
	if p.SessionToken != "" {
		most = maxChained
	}
	return min(max(want, least), most).Truncate(time.Second)
}
