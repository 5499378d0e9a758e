package objects

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// ProfilesDeps is what Profiles needs.
type ProfilesDeps struct {
	Installation Installation
	Catalogs     Catalogs
	// Version gives a number that grows whenever a catalog's locations, storage or secrets change, or one is made or deleted.
	// It is asked for each use of an object that is not in a local folder.
	Version func(ctx context.Context) (int64, error)
	Sealer  Opener
	// Clouds makes the openers of catalogs' own stores, by scheme ("abfss", "gs").
	Clouds map[string]CloudFunc
}

// reloadTime bounds one reading of the catalogs, which several requests may wait for.
const reloadTime = 30 * time.Second

// Profiles says by which keys each catalog's objects are reached: its own, else the installation's where its locations are
// in the configured roots. What a catalog's row says counts for the next request of every process. It may be used
// concurrently.
type Profiles struct {
	deps  ProfilesDeps
	roots []Location

	mu      sync.Mutex
	current *profileSet
	base    *S3Store // whose keys are the installation's; opened when they are first asked for
	retired []*profile
}

// profileSet is the profiles of all catalogs as of a version.
type profileSet struct {
	version int64
	read    time.Time
	byID    map[string]*profile
	places  []place // the innermost first
}

// place is a location and whose it is; nil is the installation's.
type place struct {
	at   Location
	with *profile
}

// NewProfiles makes it. Errors are fault.Invalid for a root that is no location.
func NewProfiles(d ProfilesDeps) (*Profiles, error) {
	p := &Profiles{deps: d}
	for _, root := range d.Installation.Roots {
		loc, err := Parse(root)
		if err != nil {
			return nil, err
		}
		p.roots = append(p.roots, loc)
	}
	return p, nil
}

// Router gives a router that reaches the objects of catalogs with storage of their own by these profiles, and all others
// as installed does.
func (p *Profiles) Router(installed *Router) *Router {
	return &Router{mounts: installed.mounts, own: p}
}

// Vending gives the profile that temporary keys of the catalog's store are had with.
func (p *Profiles) Vending(ctx context.Context, cat models.Catalog) (Profile, error) {
	of, out, err := p.resolve(ctx, cat)
	if err != nil || of.own && len(of.sealed) > 0 {
		return out, err
	}
	// A role is taken on with the installation's keys.
	return p.withInstalledKeys(out)
}

// Signing gives the profile that requests to the catalog's store are signed with.
func (p *Profiles) Signing(ctx context.Context, cat models.Catalog) (Profile, error) {
	of, out, err := p.resolve(ctx, cat)
	if err != nil || of.own && len(of.sealed) > 0 {
		return out, err
	}
	if !of.own {
		return p.withInstalledKeys(out)
	}
	root, err := Parse(cat.BaseLocation)
	if err != nil {
		return out, err
	}
	store, err := p.open(ctx, of, root)
	if err != nil {
		return out, err
	}
	if s3, ok := store.(*S3Store); ok {
		return out.with(s3)
	}
	return out, nil
}

// resolve gives a catalog's profile, with its secrets where it has any.
func (p *Profiles) resolve(ctx context.Context, cat models.Catalog) (*profile, Profile, error) {
	set, err := p.upToDate(ctx)
	if err != nil {
		return nil, Profile{}, err
	}
	of, found := set.byID[cat.ID]
	if !found {
		return nil, Profile{}, fault.About(fault.NotFound, fault.Catalog, "Catalog does not exist: %s", cat.Name)
	}
	if of.wrong != nil {
		return nil, Profile{}, of.wrong
	}
	secrets, err := of.secrets(p.deps.Sealer)
	if err != nil {
		return nil, Profile{}, err
	}
	out := Profile{Catalog: of.name, Config: of.config, Secrets: secrets, Own: of.own}
	if len(of.sealed) == 0 {
		out.Config, out.MinLifetime = of.installed(p.deps.Installation), p.deps.Installation.MinLifetime
	}
	return of, out, nil
}

// withInstalledKeys adds the installation's S3 keys, those of the surroundings where none are configured.
func (p *Profiles) withInstalledKeys(out Profile) (Profile, error) {
	if out.Config.Type != models.S3Storage {
		return out, nil
	}
	p.mu.Lock()
	if p.base == nil {
		var err error
		if p.base, err = NewS3Store(p.deps.Installation.S3); err != nil {
			p.mu.Unlock()
			return out, err
		}
	}
	base := p.base
	p.mu.Unlock()
	return out.with(base)
}

func (p Profile) with(s *S3Store) (Profile, error) {
	var err error
	if p.Secrets, err = s.Keys(); err != nil {
		return p, fault.Wrap(err, fault.Unavailable, "Sluice has no keys for the object store of catalog %s at the moment. Ask the operators to validate the catalog's storage.", p.Catalog)
	}
	return p, nil
}

// storeAt gives the store of a location that lies in a catalog with storage of its own; nil for one that is the
// installation's to reach, or nobody's. Where catalogs lie within one another the innermost decides.
func (p *Profiles) storeAt(ctx context.Context, loc Location) (Store, error) {
	if loc.IsFile() { // is never anybody's own
		return nil, nil
	}
	set, err := p.upToDate(ctx)
	if err != nil {
		return nil, err
	}
	for _, place := range set.places {
		if !Within(place.at, loc) {
			continue
		}
		if place.with == nil || !place.with.own {
			return nil, nil
		}
		return p.open(ctx, place.with, loc)
	}
	return nil, nil
}

// upToDate gives the profiles as of now.
func (p *Profiles) upToDate(ctx context.Context) (*profileSet, error) {
	version, err := p.deps.Version(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil && p.current.serves(version) {
		return p.current, nil
	}
	// Read after the version was, so that they are no older.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadTime)
	defer cancel()
	rows, err := p.deps.Catalogs.Catalogs(bounded)
	if err != nil {
		return nil, err
	}
	next := p.newSet(rows)
	next.version, next.read = version, time.Now()
	p.replace(next)
	return next, nil
}

// newerFor is how long profiles serve those who ask for an older version, as requests do that began before a change. A
// database that was restored from a backup counts from further back: its version is not waited for any longer.
const newerFor = time.Minute

// serves tells whether the profiles are as new as the version.
func (s *profileSet) serves(version int64) bool {
	return s.version == version || s.version > version && time.Since(s.read) < newerFor
}

// newSet makes the profiles of rows, keeping those of which nothing is another.
func (p *Profiles) newSet(rows []models.Catalog) *profileSet {
	set := &profileSet{byID: make(map[string]*profile, len(rows))}
	for _, root := range p.roots {
		set.places = append(set.places, place{at: root})
	}
	for _, cat := range rows {
		places, inside := p.placesOf(cat)
		of := newProfile(cat, inside, p.deps.Installation)
		if p.current != nil {
			if old, ok := p.current.byID[cat.ID]; ok && old.print == of.print {
				of = old
			}
		}
		set.byID[cat.ID] = of
		for _, at := range places {
			set.places = append(set.places, place{at: at, with: of})
		}
	}
	slices.SortStableFunc(set.places, func(a, b place) int {
		// A catalog that is a whole root goes before the root.
		return cmp.Or(cmp.Compare(len(b.at.key), len(a.at.key)), cmp.Compare(rank(a), rank(b)))
	})
	return set
}

func rank(p place) int {
	if p.with == nil {
		return 1
	}
	return 0
}

// placesOf gives a catalog's locations, and whether all are in the installation's roots.
func (p *Profiles) placesOf(cat models.Catalog) (places []Location, inside bool) {
	inside = true
	for _, location := range append([]string{cat.BaseLocation}, cat.AllowedLocations.V...) {
		loc, err := Parse(location)
		if err != nil {
			continue // nothing can lie there
		}
		places = append(places, loc)
		inside = inside && slices.ContainsFunc(p.roots, func(root Location) bool { return Within(root, loc) })
	}
	return places, inside
}

// replace makes a set the current one. Stores of profiles that are no more stay open for those that use them.
func (p *Profiles) replace(next *profileSet) {
	if p.current != nil {
		for id, old := range p.current.byID {
			if next.byID[id] != old && old.stores.any() {
				p.retire(old)
			}
		}
	}
	p.current = next
}

// retireAfter is longer than any use of a store lasts.
const retireAfter = 15 * time.Minute

func (p *Profiles) retire(old *profile) {
	p.retired = append(p.retired, old)
	time.AfterFunc(retireAfter, func() {
		p.mu.Lock()
		p.retired = slices.DeleteFunc(p.retired, func(other *profile) bool { return other == old })
		p.mu.Unlock()
		_ = old.stores.close() // nobody is left who could be told
	})
}

// Close closes all stores that were opened.
func (p *Profiles) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, old := range p.retired {
		errs = append(errs, old.stores.close())
	}
	if p.current != nil {
		for _, of := range p.current.byID {
			errs = append(errs, of.stores.close())
		}
	}
	return errors.Join(errs...)
}
