package reconcile

import (
	"context"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/metadata"
)

// FileChange is a data or delete file that a snapshot brought or removed.
type FileChange struct {
	Path    string
	Bytes   int64 // as the manifest says
	Rows    int64 // as the manifest says
	Removed bool
}

// EachChange calls visit with every file that the snapshot itself brought or removed, as Counter counts them. A path may
// come more than once: deletion vectors share one. Errors are those of Manifests, and visit's.
func (r *Reader) EachChange(ctx context.Context, snap metadata.Snapshot, visit func(FileChange) error) error {
	manifests, err := r.Manifests(ctx, snap)
	if err != nil {
		return err
	}
	for n := range manifests {
		m := &manifests[n].manifest
		ours := m.snapshot == snap.ID && !m.bare
		if !ours && !m.bare && m.snapshot != unknown {
			continue // another snapshot wrote it
		}
		err := r.source.eachEntry(ctx, m, func(e entry) error {
			if e.status == iceberg.EntryStatusEXISTING || !ours && e.snapshot != snap.ID {
				return nil
			}
			return visit(FileChange{Path: e.path, Bytes: e.bytes, Rows: e.records, Removed: e.status == iceberg.EntryStatusDELETED})
		})
		if err != nil {
			return gone(err)
		}
	}
	return nil
}

// EachLive calls visit with the path of every file of a manifest that is live in it. Errors are those of Manifests, and
// visit's.
func (r *Reader) EachLive(ctx context.Context, m ManifestFile, visit func(path string) error) error {
	return gone(r.source.eachEntry(ctx, &m.manifest, func(e entry) error {
		if e.status == iceberg.EntryStatusDELETED {
			return nil
		}
		return visit(e.path)
	}))
}
