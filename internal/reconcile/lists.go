package reconcile

import (
	"container/list"
	"context"
	"sync"

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
// is most often among them. It is bounded by the bytes it holds, least recently used first out.
type listCache struct {
	mu     sync.Mutex
	budget int
	used   int
	order  *list.List // of *cachedList, newest first
	byKey  map[string]*list.Element
}

type cachedList struct {
	location  string
	manifests []manifest
	size      int
}

func newListCache(budget int) *listCache {
	return &listCache{budget: budget, order: list.New(), byKey: make(map[string]*list.Element)}
}

func (c *listCache) get(location string) ([]manifest, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[location]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cachedList).manifests, true
}

func (c *listCache) put(location string, manifests []manifest, size int) {
	entry := &cachedList{location, manifests, size + len(location)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.byKey[location]; ok {
		c.remove(old)
	}
	if entry.size > c.budget {
		return
	}
	c.byKey[location] = c.order.PushFront(entry)
	for c.used += entry.size; c.used > c.budget; {
		c.remove(c.order.Back())
	}
}

func (c *listCache) remove(e *list.Element) {
	entry := c.order.Remove(e).(*cachedList)
	delete(c.byKey, entry.location)
	c.used -= entry.size
}
