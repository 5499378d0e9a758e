package reconcile

import (
	"context"
	"errors"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/metadata"
)

// AddedFiles gives the paths of the data files that a snapshot adds, most at the most. Errors are those of Inspect.
func (i *Inspector) AddedFiles(ctx context.Context, snap metadata.Snapshot, most int) ([]string, error) {
	manifests, _, err := i.source.manifestsOf(ctx, snap)
	if err != nil {
		return nil, err
	}
	metered := i.source
	metered.meter = newMeter()
	var paths []string
	for n := range manifests {
		m := &manifests[n]
		if m.content == deletesContent || !m.bare && m.snapshot != snap.ID && m.snapshot != unknown {
			continue // another snapshot wrote it
		}
		err := metered.eachEntry(ctx, m, func(e entry) error {
			if e.status != iceberg.EntryStatusADDED || e.snapshot != snap.ID && e.snapshot != unknown {
				return nil
			}
			if len(paths) == most {
				return errFound
			}
			paths = append(paths, e.path)
			return nil
		})
		if errors.Is(err, errFound) {
			return paths, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
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
