package reconcile

import (
	"context"

	"github.com/sluice-data/sluice/internal/cache"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// source reads manifests from files.
type source struct {
	files   Files
	schemas *schemaCache
	budget  *budget
	meter   *meter // of one commit, or nil
}

func newSource(files Files) source {
	return source{files: files, schemas: &schemaCache{}, budget: newBudget()}
}

// manifestsOf reads a snapshot's manifests: its manifest list, or the paths that old v1 snapshots hold themselves. size
// estimates the bytes that the result holds.
func (s source) manifestsOf(ctx context.Context, snap metadata.Snapshot) (manifests []manifest, size int, err error) {
	if snap.ManifestList == "" {
		if snap.Manifests == nil {
			return nil, 0, fault.New(fault.Invalid, "Snapshot %d has no manifest list. Add one and commit again.", snap.ID)
		}
		return inlineManifests(snap), 0, nil
	}
	raw, release, err := s.read(ctx, "manifest list", snap.ManifestList, 0)
	if err != nil {
		return nil, 0, err
	}
	defer release()
	manifests, size, err = s.schemas.decodeList(raw)
	if err != nil {
		return nil, 0, malformed(err, "manifest list", snap.ManifestList)
	}
	return manifests, size, nil
}

// inlineManifests makes list entries of bare paths; their counts are unknown.
func inlineManifests(snap metadata.Snapshot) []manifest {
	out := make([]manifest, len(snap.Manifests))
	for i, path := range snap.Manifests {
		out[i] = manifest{version: 1, path: path, snapshot: snap.ID, files: noCounts(), rows: noCounts(), firstRow: unknown, bare: true}
	}
	return out
}

// listCache keeps the manifest lists of recent snapshots, which are immutable once committed: the next commit's parent
// is most often among them.
type listCache = cache.Cache[string, []manifest]

func newListCache(bytes int) *listCache { return cache.New[string, []manifest](int64(bytes)) }
