package objects

import (
	"context"
	"errors"
	"sync"

	"github.com/sluice-data/sluice/internal/fault"
)

// stores are those that were opened by a profile.
type stores struct {
	mu     sync.Mutex
	opener *opener
	closed bool
}

// open gives the store of a profile's location.
func (p *Profiles) open(ctx context.Context, of *profile, loc Location) (Store, error) {
	if of.wrong != nil {
		return nil, of.wrong
	}
	of.stores.mu.Lock()
	defer of.stores.mu.Unlock()
	if of.stores.closed {
		return nil, fault.New(fault.Unavailable, "The storage of catalog %s was changed meanwhile. Try again.", of.name)
	}
	if of.stores.opener == nil {
		secrets, err := of.secrets(p.deps.Sealer)
		if err != nil {
			return nil, err
		}
		config := Config{S3: of.s3(p.deps.Installation, secrets), Clouds: map[string]OpenFunc{}}
		for scheme, cloud := range p.deps.Clouds {
			config.Clouds[scheme] = cloud(of.config, secrets)
		}
		of.stores.opener = &opener{config: config, stores: map[string]Store{}}
	}
	return of.stores.opener.open(context.WithoutCancel(ctx), loc)
}

func (s *stores) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opener != nil
}

// close closes the stores that hold something open.
func (s *stores) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.opener == nil {
		return nil
	}
	var errs []error
	for _, store := range s.opener.stores {
		if c, ok := store.(interface{ Close() error }); ok {
			errs = append(errs, c.Close())
		}
	}
	s.opener = nil
	return errors.Join(errs...)
}
