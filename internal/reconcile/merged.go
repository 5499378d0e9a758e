package reconcile

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/iceberg-go"
	"golang.org/x/sync/errgroup"

	"github.com/sluice-data/sluice/internal/fault"
)

// compareMerged proves that the live files of the dropped manifests are all in the new ones, unchanged, and that the
// new ones keep nothing else. It gives the first difference, "" if there is none. What the client does not call an
// append itself is not read for: a compaction would cost hundreds of reads for nothing.
func (i *Inspector) compareMerged(ctx context.Context, operation string, step listStep, found []contents) (string, error) {
	kept := make(map[fileKey]liveFile)
	for _, c := range found {
		for key, file := range c.kept {
			if _, ok := kept[key]; ok {
				return fmt.Sprintf("it lists the file %s twice", key.path), nil
			}
			kept[key] = file
		}
	}
	if len(kept) == 0 {
		if gone := firstLive(step.dropped); gone != "" {
			return fmt.Sprintf("it removes live files of its parent: it leaves out the manifest %s", gone), nil
		}
	}
	if op := operation; op != "" && op != "append" && len(step.dropped) > 0 {
		return fmt.Sprintf("its summary says operation %s", op), nil
	}
	if len(step.dropped) > i.limits.mergedManifests {
		return fmt.Sprintf("it merges %d manifests of its parent, too many to verify (at most %d): "+
			"set the writer's commit.manifest-merge.enabled to false", len(step.dropped), i.limits.mergedManifests), nil
	}
	why, err := i.matchDropped(ctx, step.dropped, kept)
	if why != "" || err != nil {
		return why, err
	}
	for key := range kept {
		return fmt.Sprintf("it lists the file %s as one of its parent's, which it is not", key.path), nil
	}
	return "", nil
}

// keptBesides gives why a snapshot that leaves out no manifest of its parent cannot keep files of it in new ones, "" if
// it keeps none.
func keptBesides(step listStep, found []contents) string {
	for n := range found {
		if found[n].existing > 0 {
			return fmt.Sprintf("it lists files of its parent in the manifest %s, and keeps the parent's manifests as well", step.fresh[n].path)
		}
	}
	return ""
}

// firstLive gives the path of the first manifest that is known to have live files, "" if there is none.
func firstLive(manifests []manifest) string {
	for n := range manifests {
		if m := &manifests[n]; m.files[0] > 0 || m.files[1] > 0 {
			return m.path
		}
	}
	return ""
}

// matchDropped takes every live file of the dropped manifests out of kept.
func (i *Inspector) matchDropped(ctx context.Context, dropped []manifest, kept map[fileKey]liveFile) (string, error) {
	var mu sync.Mutex
	var why string
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(i.limits.readers)
	for n := range dropped {
		m := &dropped[n]
		work.Go(func() error {
			err := i.source.eachWholeEntry(ctx, m, true, func(e iceberg.ManifestEntry) error {
				if e.Status() == iceberg.EntryStatusDELETED {
					return nil
				}
				file := liveFileOf(e, m, i.seed)
				mu.Lock()
				defer mu.Unlock()
				if what := take(kept, keyOf(e.DataFile()), file); what != "" && why == "" {
					why = what
				}
				return nil
			})
			if fault.Is(err, fault.Invalid) { // broken before: its repair by an overwrite must stay possible
				mu.Lock()
				defer mu.Unlock()
				why, err = fmt.Sprintf("the manifest %s of its parent cannot be read", m.path), nil
			}
			return err
		})
	}
	err := work.Wait()
	if why != "" {
		err = nil
	}
	return why, err
}

// take removes the file from kept and says what is wrong with how it was kept.
func take(kept map[fileKey]liveFile, key fileKey, was liveFile) string {
	now, ok := kept[key]
	if !ok {
		return fmt.Sprintf("it removes the live file %s of its parent", key.path)
	}
	delete(kept, key)
	if what := was.sameAs(now); what != "" {
		return fmt.Sprintf("it gives the live file %s of its parent %s", key.path, what)
	}
	return ""
}

// unprovenStray gives the first file outside the table's location that a new manifest lists as one of before and that
// the parent does not have, "" if there is none. A table that was registered with files elsewhere keeps them through
// rewrites; nobody else gets such a file in by calling it old.
func (i *Inspector) unprovenStray(ctx context.Context, step listStep, found []contents) (string, error) {
	strays := make(map[string]bool)
	for _, c := range found {
		for _, path := range c.strays {
			strays[path] = true
		}
	}
	for n := range step.dropped {
		if len(strays) == 0 || n >= i.limits.mergedManifests {
			break
		}
		err := i.source.eachEntry(ctx, &step.dropped[n], func(e entry) error {
			if e.status != iceberg.EntryStatusDELETED {
				delete(strays, e.path)
			}
			return nil
		})
		if err != nil && !fault.Is(err, fault.Invalid) {
			return "", err
		}
	}
	for path := range strays {
		return path, nil
	}
	return "", nil
}
