package objects

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// Mount is a root that may be read and written, and the store that holds it.
type Mount struct {
	Root  Location
	Store Store
}

// Router is the Store of everything Sluice may touch: it passes each location to the mount whose root it lies in, the
// innermost one where roots nest, and refuses any other with fault.Forbidden. Where catalogs bring storage of their own,
// their locations are roots too (Profiles.Router).
type Router struct {
	mounts []Mount   // innermost first
	own    *Profiles // of catalogs with storage of their own, which goes before the mounts; nil for none
}

// NewRouter makes a router of the mounts.
func NewRouter(mounts ...Mount) *Router {
	sorted := slices.Clone(mounts)
	slices.SortStableFunc(sorted, func(a, b Mount) int { return cmp.Compare(len(b.Root.key), len(a.Root.key)) })
	return &Router{mounts: sorted}
}

// Roots gives the configured roots.
func (r *Router) Roots() []Location {
	roots := make([]Location, len(r.mounts))
	for i, m := range r.mounts {
		roots[i] = m.Root
	}
	return roots
}

// Allows tells whether the location is valid and lies in a root; the error says why not.
func (r *Router) Allows(ctx context.Context, location string) error {
	_, err := r.route(ctx, location)
	return err
}

// At gives the store of a location.
func (r *Router) At(ctx context.Context, location string) (Store, error) {
	return r.route(ctx, location)
}

func (r *Router) route(ctx context.Context, location string) (Store, error) {
	loc, err := Parse(location)
	if err != nil {
		return nil, err
	}
	if r.own != nil {
		if store, err := r.own.storeAt(ctx, loc); err != nil || store != nil {
			return store, err
		}
	}
	for _, m := range r.mounts {
		if Within(m.Root, loc) {
			return m.Store, nil
		}
	}
	return nil, r.outside(loc)
}

// outside names the roots, so that the reader of the message knows where to go.
func (r *Router) outside(loc Location) error {
	names := make([]string, len(r.mounts))
	for i, m := range r.mounts {
		names[i] = m.Root.String()
	}
	slices.Sort(names)
	if len(names) == 0 {
		return fault.New(fault.Forbidden, "Location %s may not be used: no storage root is configured.", loc)
	}
	return fault.New(fault.Forbidden, "Location %s is outside the allowed storage roots. Use a location below one of: %s.",
		loc, strings.Join(names, ", "))
}

// ReadFile implements Store.
func (r *Router) ReadFile(ctx context.Context, location string) ([]byte, error) {
	s, err := r.route(ctx, location)
	if err != nil {
		return nil, err
	}
	return s.ReadFile(ctx, location)
}

// ReadFileUpTo is ReadFile with a limit of its own, in bytes; a larger object is fault.TooLarge.
func (r *Router) ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	s, err := r.route(ctx, location)
	if err != nil {
		return nil, err
	}
	if bounded, ok := s.(boundedReader); ok {
		return bounded.ReadFileUpTo(ctx, location, min(limit, MaxReadFile))
	}
	data, err := s.ReadFile(ctx, location)
	if err == nil && int64(len(data)) > limit {
		loc, _ := Parse(location) // it was read
		return nil, TooLarge(loc, int64(len(data)), limit)
	}
	return data, err
}

// boundedReader is a Store that need not read an object to find it too large.
type boundedReader interface {
	ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error)
}

var (
	_ boundedReader = (*FileStore)(nil)
	_ boundedReader = (*S3Store)(nil)
)

// CreateFile implements Store.
func (r *Router) CreateFile(ctx context.Context, location string, data []byte) error {
	s, err := r.route(ctx, location)
	if err != nil {
		return err
	}
	return s.CreateFile(ctx, location, data)
}

// DeleteFile implements Store.
func (r *Router) DeleteFile(ctx context.Context, location string) error {
	s, err := r.route(ctx, location)
	if err != nil {
		return err
	}
	return s.DeleteFile(ctx, location)
}

// Stat implements Store.
func (r *Router) Stat(ctx context.Context, location string) (Info, error) {
	s, err := r.route(ctx, location)
	if err != nil {
		return Info{}, err
	}
	return s.Stat(ctx, location)
}

// List implements Store. It lists one mount: roots that nest in prefix are not descended into.
func (r *Router) List(ctx context.Context, prefix, after string, limit int) ([]Info, error) {
	s, err := r.route(ctx, prefix)
	if err != nil {
		return nil, err
	}
	return s.List(ctx, prefix, after, limit)
}

// OpenFile implements Store.
func (r *Router) OpenFile(ctx context.Context, location string) (File, error) {
	s, err := r.route(ctx, location)
	if err != nil {
		return nil, err
	}
	return s.OpenFile(ctx, location)
}

// EnsureFolder implements Store.
func (r *Router) EnsureFolder(ctx context.Context, location string) error {
	s, err := r.route(ctx, location)
	if err != nil {
		return err
	}
	return s.EnsureFolder(ctx, location)
}

// Close closes the stores that hold something open, such as the folder of a local store.
func (r *Router) Close() error {
	var errs []error
	if r.own != nil {
		errs = append(errs, r.own.Close())
	}
	for _, m := range r.mounts {
		if c, ok := m.Store.(interface{ Close() error }); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
