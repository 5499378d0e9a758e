package tableio

import (
	"bytes"
	"context"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
)

// ManifestRef is a manifest of data files that no snapshot has yet, to be handed to whoever commits it. The zero value
// has no files.
type ManifestRef struct {
	Path       string             `json:"path"`
	Length     int64              `json:"length"`
	Version    int                `json:"version"` // the format version
	SpecID     int                `json:"specId"`
	Files      int                `json:"files"`
	Rows       int64              `json:"rows"`
	Bytes      int64              `json:"bytes"` // of the data files
	Partitions []PartitionSummary `json:"partitions"`
}

// PartitionSummary is what a manifest list says of one partition field.
type PartitionSummary struct {
	HasNull bool   `json:"hasNull"`
	HasNaN  *bool  `json:"hasNaN,omitempty"`
	Lower   []byte `json:"lower,omitempty"` // nil for none
	Upper   []byte `json:"upper,omitempty"`
	Some    bool   `json:"some"` // there are bounds
}

// Manifest writes the manifest of the files, which belongs to no snapshot yet. Without files there is none.
func (w *Written) Manifest(ctx context.Context) (ManifestRef, error) {
	if len(w.DataFiles) == 0 {
		return ManifestRef{}, nil
	}
	entries := make([]iceberg.ManifestEntry, len(w.DataFiles))
	for i, f := range w.DataFiles {
		entries[i] = iceberg.NewManifestEntry(iceberg.EntryStatusADDED, nil, nil, nil, f)
	}
	location := w.layout.metadataFile(uuid.NewString() + "-m0.avro")
	var buf bytes.Buffer
	var file iceberg.ManifestFile
	err := guarded(func() error {
		var err error
		file, err = iceberg.WriteManifest(location, &buf, w.layout.version, w.layout.spec, w.layout.schema, 0, entries)
		return err
	})
	if err != nil {
		return ManifestRef{}, fault.Wrap(err, fault.Internal, "The manifest of the written files could not be written.")
	}
	if err := w.io.files.CreateFile(ctx, location, buf.Bytes()); err != nil {
		return ManifestRef{}, err
	}
	ref := ManifestRef{
		Path: location, Length: int64(buf.Len()), Version: w.layout.version, SpecID: w.layout.spec.ID(), Files: len(entries), Rows: w.Rows, Bytes: w.Bytes,
	}
	for _, p := range file.Partitions() {
		ref.Partitions = append(ref.Partitions, summarised(p))
	}
	return ref, nil
}

func summarised(p iceberg.FieldSummary) PartitionSummary {
	out := PartitionSummary{HasNull: p.ContainsNull, HasNaN: p.ContainsNaN}
	if p.LowerBound != nil && p.UpperBound != nil {
		out.Lower, out.Upper, out.Some = *p.LowerBound, *p.UpperBound, true
	}
	return out
}

func (p PartitionSummary) summary() iceberg.FieldSummary {
	out := iceberg.FieldSummary{ContainsNull: p.HasNull, ContainsNaN: p.HasNaN}
	if p.Some {
		lower, upper := append([]byte{}, p.Lower...), append([]byte{}, p.Upper...)
		out.LowerBound, out.UpperBound = &lower, &upper
	}
	return out
}

// file is the manifest as a list of the snapshot has it.
func (r ManifestRef) file(snapshot int64) iceberg.ManifestFile {
	partitions := make([]iceberg.FieldSummary, len(r.Partitions))
	for i, p := range r.Partitions {
		partitions[i] = p.summary()
	}
	return iceberg.NewManifestFile(r.Version, r.Path, r.Length, int32(r.SpecID), snapshot). //nolint:gosec // spec ids are small
												AddedFiles(int32(r.Files)).AddedRows(r.Rows).Partitions(partitions).Build() //nolint:gosec // files of one write
}

// Remove deletes the files of manifests and the manifests, for a commit that did not happen.
func (o *IO) Remove(ctx context.Context, refs ...ManifestRef) {
	var locations []string
	for _, r := range refs {
		if r.Files == 0 {
			continue
		}
		if content, err := o.readManifest(context.WithoutCancel(ctx), r.file(0)); err == nil {
			for _, e := range content.entries {
				locations = append(locations, e.DataFile().FilePath())
			}
		}
		locations = append(locations, r.Path)
	}
	o.remove(ctx, locations)
}
