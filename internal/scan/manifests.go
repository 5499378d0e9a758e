package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// manifest is a manifest as its list describes it.
type manifest struct {
	iceberg.ManifestFile
	bare bool // a path in an old v1 snapshot: nothing else is known of it
}

func (m manifest) deletes() bool { return m.ManifestContent() == iceberg.ManifestContentDeletes }

// specID is the partition spec of the manifest's files.
func (m manifest) specID() int { return int(m.PartitionSpecID()) }

// entry is a live file of a manifest. spec is known for certain only once the manifest is read.
type entry struct {
	iceberg.ManifestEntry
	file iceberg.DataFile
}

// manifestsOf reads a snapshot's manifests.
func (p *Planner) manifestsOf(ctx context.Context, snap metadata.Snapshot) ([]manifest, error) {
	if snap.ManifestList == "" {
		out := make([]manifest, len(snap.Manifests))
		for i, path := range snap.Manifests {
			b := iceberg.NewManifestFile(1, path, 0, 0, snap.ID).AddedFiles(-1).ExistingFiles(-1)
			out[i] = manifest{b.Build(), true}
		}
		return out, nil
	}
	raw, err := p.fetch(ctx, "manifest list", snap.ManifestList)
	if err != nil {
		return nil, err
	}
	files, err := decodeList(raw)
	if err != nil {
		return nil, damaged(err, "manifest list", snap.ManifestList)
	}
	out := make([]manifest, 0, len(files))
	for _, f := range files {
		// Lists without counts, as of v1, may be of anything.
		if f.HasAddedFiles() || f.HasExistingFiles() {
			out = append(out, manifest{ManifestFile: f})
		}
	}
	return out, nil
}

func decodeList(raw []byte) (files []iceberg.ManifestFile, err error) {
	defer recovered(&err)
	if _, err := checkContainer(raw); err != nil {
		return nil, err
	}
	return iceberg.ReadManifestList(bytes.NewReader(raw))
}

// recovered turns a panic of the decoder on a malformed file into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("decoder panic: %v", p)
	}
}

// detail is how much of a manifest's entries is needed.
type detail int

const (
	noStats  detail = iota
	pruning         // bounds and counts
	allStats        // column sizes too
)

// entriesOf reads a manifest's live entries and its partition spec's id.
func (p *Planner) entriesOf(ctx context.Context, m manifest, d detail) ([]entry, int, error) {
	key := readKeyOf(m, d)
	if known, ok := p.read.Get(key); ok {
		return known.entries, known.specID, nil
	}
	raw, err := p.fetch(ctx, "manifest", m.FilePath())
	if err != nil {
		return nil, 0, err
	}
	entries, specID, err := decodeManifest(raw, m, d)
	if err != nil {
		return nil, 0, damaged(err, "manifest", m.FilePath())
	}
	read := readManifest{entries, specID}
	p.read.Put(key, read, read.size())
	return entries, specID, nil
}

func decodeManifest(raw []byte, m manifest, d detail) (out []entry, specID int, err error) {
	defer recovered(&err)
	header, err := checkContainer(raw)
	if err != nil {
		return nil, 0, err
	}
	specID = m.specID()
	if id, err := strconv.Atoi(string(header["partition-spec-id"])); err == nil && m.bare {
		specID = id
	}
	reader, err := openManifest(raw, m, d)
	if err != nil {
		return nil, 0, err
	}
	defer reader.Close() //nolint:errcheck // it reads memory
	for {
		e, err := reader.ReadEntry()
		if errors.Is(err, io.EOF) {
			return out, specID, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if e.Status() != iceberg.EntryStatusDELETED {
			out = append(out, entry{e, e.DataFile()})
		}
	}
}

func openManifest(raw []byte, m manifest, d detail) (*iceberg.ManifestReader, error) {
	if d == allStats {
		return iceberg.NewManifestReader(m.ManifestFile, bytes.NewReader(raw))
	}
	return iceberg.NewManifestReaderWithProjection(m.ManifestFile, bytes.NewReader(raw),
		iceberg.ManifestEntryProjection{IncludePruningStats: d == pruning})
}

// fetch reads a file that the table's metadata names.
func (p *Planner) fetch(ctx context.Context, what, location string) ([]byte, error) {
	raw, err := p.files.ReadFile(ctx, location)
	switch {
	case err == nil:
		return raw, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fault.Is(err, fault.Unavailable):
		return nil, fault.Wrap(err, fault.Unavailable, "The %s %s could not be read just now. Try again.", what, location)
	}
	return nil, fault.Wrap(err, fault.Internal, "The %s %s cannot be read, so the snapshot cannot be scanned. Restore the file, or roll the table back to a snapshot without it.", what, location)
}

func damaged(err error, what, location string) error {
	return fault.Wrap(err, fault.Internal, "The %s %s is damaged, so the snapshot cannot be scanned. Restore the file, or roll the table back to a snapshot without it.", what, location)
}
