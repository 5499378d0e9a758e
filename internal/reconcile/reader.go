package reconcile

import (
	"context"
	"errors"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// Reader tells which files a snapshot refers to. It is safe for concurrent use.
type Reader struct{ source source }

// NewReader makes a Reader.
func NewReader(files Files) *Reader { return &Reader{source: newSource(files)} }

// ManifestFile is a manifest of a snapshot.
type ManifestFile struct{ manifest manifest }

// Path is where the manifest is.
func (m ManifestFile) Path() string { return m.manifest.path }

// Manifests gives a snapshot's manifests. Errors are fault.NotFound when its manifest list is gone, fault.Invalid when it
// cannot be read and fault.Unavailable when the store fails.
func (r *Reader) Manifests(ctx context.Context, snap metadata.Snapshot) ([]ManifestFile, error) {
	if snap.ManifestList == "" {
		return asFiles(inlineManifests(snap)), nil
	}
	manifests, _, err := r.source.manifestsOf(ctx, snap)
	return asFiles(manifests), gone(err)
}

func asFiles(manifests []manifest) []ManifestFile {
	out := make([]ManifestFile, len(manifests))
	for i := range manifests {
		out[i] = ManifestFile{manifests[i]}
	}
	return out
}

// EachFile calls visit with the path and the size in bytes of every data and delete file that a manifest has an entry
// for, deleted ones too. Errors are those of Manifests, and visit's.
func (r *Reader) EachFile(ctx context.Context, m ManifestFile, visit func(path string, bytes int64) error) error {
	return gone(r.source.eachEntry(ctx, &m.manifest, func(e entry) error { return visit(e.path, e.bytes) }))
}

// gone tells a missing file from one that cannot be read: to a commit both are the client's error, to a reader of what
// is committed they are not.
func gone(err error) error {
	for inner := err; inner != nil; {
		f, ok := errors.AsType[*fault.Error](inner)
		if !ok {
			break
		}
		if f.Code == fault.NotFound {
			return f
		}
		inner = f.Cause
	}
	return err
}
