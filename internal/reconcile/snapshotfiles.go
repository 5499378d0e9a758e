package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/metadata"
)

// AddedFiles gives the paths of the data files that a snapshot adds, most at the most; not of those that it takes out of the
// table at once, which it replaces. Errors are those of Inspect.
func (i *Inspector) AddedFiles(ctx context.Context, snap metadata.Snapshot, most int) ([]string, error) {
	manifests, _, err := i.source.manifestsOf(ctx, snap)
	if err != nil {
		return nil, err
	}
	metered := i.source
	metered.meter = newMeter()
	var paths []string
	removed := map[string]bool{}
	for n := range manifests {
		m := &manifests[n]
		if m.content == deletesContent || !m.bare && m.snapshot != snap.ID && m.snapshot != unknown {
			continue // another snapshot wrote it
		}
		err := metered.eachEntry(ctx, m, func(e entry) error {
			switch {
			case e.snapshot != snap.ID && e.snapshot != unknown:
			case e.status == iceberg.EntryStatusDELETED:
				removed[e.path] = true
			case e.status == iceberg.EntryStatusADDED && len(paths) == most:
				return errFound
			case e.status == iceberg.EntryStatusADDED:
				paths = append(paths, e.path)
			}
			return nil
		})
		if errors.Is(err, errFound) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return removed[path] }), nil
}

// Manifests gives the paths of a snapshot's manifests. Errors are those of Inspect.
func (i *Inspector) Manifests(ctx context.Context, snap metadata.Snapshot) ([]string, error) {
	manifests, _, err := i.source.manifestsOf(ctx, snap)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(manifests))
	for n := range manifests {
		paths[n] = manifests[n].path
	}
	return paths, nil
}
