package reconcile

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
)

// Inspector says what an added snapshot truly does, by reading its manifests. It is safe for concurrent use.
type Inspector struct {
	source source
	within func(location, path string) bool
	lists  *listCache
	limits limits
	seed   maphash.Seed
	merges chan struct{} // a place for each commit whose carried over files are compared
}

// limits bound the work of one inspection.
type limits struct {
	newManifests    int // that a snapshot may add; more is fault.TooLarge, because files could hide in what is not read
	mergedManifests int // of the parent that may be compared with merged ones; more is not an append
	readers         int // manifests read at a time
}

// Option changes an Inspector.
type Option func(*Inspector)

// WithListCache sets how many bytes of decoded manifest lists are kept; the default is 32 MB.
func WithListCache(bytes int) Option {
	return func(i *Inspector) { i.lists = newListCache(bytes) }
}

// WithLimits sets how many new manifests a snapshot may have, and how many of its parent's it may merge and still be
// verified as an append. The defaults are 5,000 and 500.
func WithLimits(newManifests, mergedManifests int) Option {
	return func(i *Inspector) { i.limits.newManifests, i.limits.mergedManifests = newManifests, mergedManifests }
}

// NewInspector makes an Inspector. within tells whether a path lies in a location, by the rules of the object stores.
func NewInspector(files Files, within func(location, path string) bool, options ...Option) *Inspector {
	i := &Inspector{
		source: newSource(files), within: within, lists: newListCache(32 << 20), seed: maphash.MakeSeed(),
		limits: limits{newManifests: 5000, mergedManifests: 500, readers: 8}, merges: make(chan struct{}, mergesAtOnce),
	}
	for _, option := range options {
		option(i)
	}
	return i
}

var _ catalog.Inspector = (*Inspector)(nil)

// Inspect reads the snapshot's manifest list, its parent's (most often cached) and every new manifest. No file outside
// the table's location is opened. Errors are fault.Invalid for a file that is missing or malformed, fault.TooLarge
// beyond the limits, fault.Unavailable when the store fails; then nothing is known and nothing was changed.
func (i *Inspector) Inspect(ctx context.Context, in catalog.Inspection) (policy.SnapshotFacts, error) {
	metered := *i
	metered.source.meter = newMeter()
	facts := policy.SnapshotFacts{ID: in.Snapshot.ID, Operation: in.Snapshot.Operation}
	if path := in.Snapshot.ManifestList; path != "" && !i.within(in.Location, path) {
		facts.OutsideFile, facts.NotAppend = path, "its manifest list lies outside the table's location"
		if in.Ownership == nil || !in.Ownership.AnyLocation {
			return facts, nil
		}
	}
	now, size, err := i.source.manifestsOf(ctx, in.Snapshot)
	if err == nil && facts.OutsideFile == "" {
		facts, err = metered.inspect(ctx, in, facts, now, size)
	}
	if err == nil {
		facts.OwnershipHurts, err = metered.ownership(ctx, in, facts, now)
	}
	return facts, err
}

// inspect says what a snapshot of these manifests does to its parent.
func (i *Inspector) inspect(ctx context.Context, in catalog.Inspection, facts policy.SnapshotFacts, now []manifest, size int) (policy.SnapshotFacts, error) {
	before, unknown, err := i.parentManifests(ctx, in)
	if err != nil {
		return facts, err
	}
	step := compareLists(before, now)
	leave, err := i.enter(ctx, in, step)
	if err != nil {
		return facts, err
	}
	defer leave()
	found, outside, err := i.readFresh(ctx, in, step)
	if err != nil {
		return facts, err
	}
	if unknown == "" && outside == "" {
		unknown, err = i.whyNotAppend(ctx, in, step, found)
	}
	if err == nil && unknown != "" && outside == "" {
		outside, err = i.unprovenStray(ctx, step, found)
	}
	if err != nil {
		return facts, err
	}
	if facts.OutsideFile = outside; outside != "" {
		unknown = "it refers to a file outside the table's location"
	}
	facts.NotAppend, facts.Append = unknown, unknown == ""
	if in.Snapshot.ManifestList != "" {
		i.lists.Put(in.Snapshot.ManifestList, now, int64(size+len(in.Snapshot.ManifestList)))
	}
	return facts, nil
}

// enter refuses more new manifests than can be checked, and waits for a place when the snapshot may carry over files of
// its parent: these are held in memory.
func (i *Inspector) enter(ctx context.Context, in catalog.Inspection, step listStep) (leave func(), err error) {
	if len(step.fresh) > i.limits.newManifests {
		return nil, fault.New(fault.TooLarge, "Snapshot %d adds %d manifests; at most %d can be checked. Commit the work in smaller steps.",
			in.Snapshot.ID, len(step.fresh), i.limits.newManifests)
	}
	if len(step.dropped) == 0 || len(step.fresh) == 0 {
		return func() {}, nil
	}
	select {
	case i.merges <- struct{}{}:
		return func() { <-i.merges }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// parentManifests gives the parent's manifests, from the cache where possible: they are committed, hence immutable. A
// snapshot's own list is always read, since its writer may have replaced the file since a first attempt. unknown says
// why there is nothing to compare with: a table whose parent is broken must still take the overwrite that repairs it.
func (i *Inspector) parentManifests(ctx context.Context, in catalog.Inspection) (m []manifest, unknown string, err error) {
	if in.Parent == nil {
		if in.Snapshot.ParentID != nil {
			return nil, fmt.Sprintf("its parent, snapshot %d, is not in the table", *in.Snapshot.ParentID), nil
		}
		return nil, "", nil
	}
	if in.Snapshot.ParentID == nil || *in.Snapshot.ParentID != in.Parent.ID {
		return nil, fmt.Sprintf("it does not name snapshot %d as its parent", in.Parent.ID), nil
	}
	if cached, ok := i.lists.Get(in.Parent.ManifestList); ok && in.Parent.ManifestList != "" {
		return cached, "", nil
	}
	m, size, err := i.source.manifestsOf(ctx, *in.Parent)
	if fault.Is(err, fault.Invalid) {
		return nil, "the manifest list of its parent cannot be read", nil
	}
	if err == nil && in.Parent.ManifestList != "" {
		i.lists.Put(in.Parent.ManifestList, m, int64(size+len(in.Parent.ManifestList)))
	}
	return m, "", err
}

// whyNotAppend gives the first reason why the snapshot is no append of its parent, "" if it is one.
func (i *Inspector) whyNotAppend(ctx context.Context, in catalog.Inspection, step listStep, found []contents) (string, error) {
	if step.wrong != "" {
		return step.wrong, nil
	}
	for n := range step.fresh {
		if why := found[n].wrong(&step.fresh[n], in); why != "" {
			return why, nil
		}
	}
	if in.FormatVersion > 2 {
		if why := misnumbered(in.Snapshot, step, found); why != "" {
			return why, nil
		}
	}
	if len(step.dropped) == 0 {
		return keptBesides(step, found), nil
	}
	return i.compareMerged(ctx, in.Snapshot.Operation, step, found)
}
