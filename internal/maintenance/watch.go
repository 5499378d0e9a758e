package maintenance

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/reconcile"
)

const (
	// parallelLooks is how many files are looked at at once.
	parallelLooks = 8
	// mostRemoved bounds what one snapshot is heard of that it removed; what is beyond is found gone later.
	mostRemoved = 50_000
)

// StatFiles is the object store of a Watcher. What is gone is fault.NotFound.
type StatFiles interface {
	ReadFile(ctx context.Context, location string) ([]byte, error)
	Stat(ctx context.Context, location string) (objects.Info, error)
}

// Watcher looks at the data and delete files that snapshots refer to. It only reads. It is safe for concurrent use.
type Watcher struct {
	files  StatFiles
	reader *reconcile.Reader
}

// NewWatcher makes a Watcher.
func NewWatcher(files StatFiles) *Watcher {
	return &Watcher{files: files, reader: reconcile.NewReader(files)}
}

// ChangedFiles is what a snapshot did to a table's files.
type ChangedFiles struct {
	Added   []AddedFile
	Left    int64 // added beyond the limit
	Removed []string
}

// AddedFile is a file as its manifest describes it.
type AddedFile struct {
	Path string
	Size int64 // bytes
	Rows int64
}

// Changes gives the files that the snapshot itself added, each once and at most limit, and those that it removed. Errors
// are fault.NotFound and fault.Invalid for manifests that are gone or malformed, fault.Unavailable when the store fails.
func (w *Watcher) Changes(ctx context.Context, snap metadata.Snapshot, limit int) (ChangedFiles, error) {
	var out ChangedFiles
	seen := map[string]struct{}{}
	err := w.reader.EachChange(ctx, snap, func(c reconcile.FileChange) error {
		if c.Removed {
			if len(out.Removed) < mostRemoved {
				out.Removed = append(out.Removed, c.Path)
			}
			return nil
		}
		if len(out.Added) >= limit {
			if _, again := seen[c.Path]; !again {
				out.Left++
			}
			return nil
		}
		if _, again := seen[c.Path]; !again {
			seen[c.Path] = struct{}{}
			out.Added = append(out.Added, AddedFile{Path: c.Path, Size: c.Bytes, Rows: c.Rows})
		}
		return nil
	})
	return out, err
}

// Sighting is how a file was found.
type Sighting struct {
	Found    bool
	Gone     bool // the store has no such file
	Size     int64
	ETag     string
	Modified time.Time
	Err      error // neither found nor gone: the store does not say, or may not be asked
}

// Look looks at files, several at a time and at most perSecond, 0 for no limit. An error is the end of ctx alone: what
// the store does not say of one file is in its sighting.
func (w *Watcher) Look(ctx context.Context, paths []string, perSecond int) ([]Sighting, error) {
	out := make([]Sighting, len(paths))
	var pace <-chan time.Time
	if perSecond > 0 {
		ticker := time.NewTicker(time.Second / time.Duration(perSecond))
		defer ticker.Stop()
		pace = ticker.C
	}
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(parallelLooks)
	for i, path := range paths {
		if pace != nil {
			select {
			case <-pace:
			case <-inner.Done():
			}
		}
		if inner.Err() != nil {
			break
		}
		work.Go(func() error {
			out[i] = w.look(inner, path)
			return inner.Err()
		})
	}
	err := work.Wait()
	return out, errors.Join(err, ctx.Err())
}

func (w *Watcher) look(ctx context.Context, path string) Sighting {
	info, err := w.files.Stat(ctx, path)
	switch {
	case fault.Is(err, fault.NotFound):
		return Sighting{Gone: true}
	case err != nil:
		return Sighting{Err: err}
	}
	return Sighting{Found: true, Size: info.Size, ETag: info.ETag, Modified: info.Modified}
}

// Live gives those of the paths that the head of a branch or tag refers to. Each manifest is read once. Errors are those
// of Changes.
func (w *Watcher) Live(ctx context.Context, doc *metadata.Document, paths map[string]struct{}) (map[string]struct{}, error) {
	live, read := map[string]struct{}{}, map[string]struct{}{}
	for _, snap := range heads(doc) {
		manifests, err := w.reader.Manifests(ctx, snap)
		if err != nil {
			return nil, err
		}
		for _, m := range manifests {
			if _, again := read[m.Path()]; again || len(live) == len(paths) {
				continue
			}
			read[m.Path()] = struct{}{}
			err := w.reader.EachLive(ctx, m, func(path string) error {
				if _, asked := paths[path]; asked {
					live[path] = struct{}{}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return live, nil
}

// heads gives the snapshots that branches and tags are at.
func heads(doc *metadata.Document) []metadata.Snapshot {
	var out []metadata.Snapshot
	seen := map[int64]struct{}{}
	add := func(id int64) {
		snap, ok := doc.Snapshot(id)
		if _, again := seen[id]; ok && !again {
			seen[id] = struct{}{}
			out = append(out, snap)
		}
	}
	if id, ok := doc.CurrentSnapshotID(); ok {
		add(id)
	}
	for _, ref := range doc.Refs() {
		add(ref.SnapshotID)
	}
	return out
}
