package reconcile

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/apache/iceberg-go"
	"golang.org/x/sync/errgroup"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// errFound ends a search.
var errFound = errors.New("found")

// OutsideFile gives the first manifest list, manifest or live file of whole snapshots that does not lie in the location,
// "" if all do: what a table brings with it that was not committed to it here. Each manifest is read once, and none
// outside. Errors are those of Inspect.
func (i *Inspector) OutsideFile(ctx context.Context, location string, snapshots []metadata.Snapshot) (string, error) {
	var all []manifest
	seen := make(map[string]bool)
	for _, snap := range snapshots {
		if snap.ManifestList != "" && !i.within(location, snap.ManifestList) {
			return snap.ManifestList, nil
		}
		manifests, _, err := i.source.manifestsOf(ctx, snap)
		if err != nil {
			return "", err
		}
		for n := range manifests {
			m := manifests[n]
			if !i.within(location, m.path) {
				return m.path, nil
			}
			if !seen[m.path] {
				seen[m.path], all = true, append(all, m)
			}
		}
		if len(all) > i.limits.newManifests {
			return "", fault.New(fault.TooLarge, "The table has more than %d manifests, too many to check where its files lie. Rewrite its manifests into fewer.", i.limits.newManifests)
		}
	}
	return i.outsideOf(ctx, location, all)
}

func (i *Inspector) outsideOf(ctx context.Context, location string, manifests []manifest) (string, error) {
	var first atomic.Pointer[string]
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(i.limits.readers)
	for n := range manifests {
		work.Go(func() error {
			if first.Load() != nil {
				return nil
			}
			err := i.source.eachEntry(ctx, &manifests[n], func(e entry) error {
				if e.status == iceberg.EntryStatusDELETED || i.within(location, e.path) {
					return nil
				}
				first.CompareAndSwap(nil, &e.path)
				return errFound
			})
			if errors.Is(err, errFound) {
				return nil
			}
			return err
		})
	}
	err := work.Wait()
	if path := first.Load(); path != nil {
		return *path, nil
	}
	return "", err
}
