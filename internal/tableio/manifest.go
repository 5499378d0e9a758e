package tableio

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
)

// manifestsOf reads the manifest list of a snapshot.
func (o *IO) manifestsOf(ctx context.Context, snap metadata.Snapshot) ([]iceberg.ManifestFile, error) {
	if snap.ManifestList == "" {
		return nil, fault.New(fault.Unsupported, "Snapshot %d of the table has no manifest list to add to. Let an engine commit to it once: it writes one.", snap.ID)
	}
	raw, err := o.fetch(ctx, "manifest list", snap.ManifestList)
	if err != nil {
		return nil, err
	}
	var files []iceberg.ManifestFile
	err = guarded(func() error {
		files, err = iceberg.ReadManifestList(bytes.NewReader(raw))
		return err
	})
	if err != nil {
		return nil, damaged(err, "manifest list", snap.ManifestList)
	}
	return files, nil
}

// manifestContent is a manifest with the schema and the spec that its entries are written by.
type manifestContent struct {
	schema  *iceberg.Schema
	spec    iceberg.PartitionSpec
	entries []iceberg.ManifestEntry // live ones
}

func (o *IO) readManifest(ctx context.Context, m iceberg.ManifestFile) (manifestContent, error) {
	raw, err := o.fetch(ctx, "manifest", m.FilePath())
	if err != nil {
		return manifestContent{}, err
	}
	var out manifestContent
	if err := guarded(func() error { return out.decode(m, raw) }); err != nil {
		return manifestContent{}, damaged(err, "manifest", m.FilePath())
	}
	return out, nil
}

func (c *manifestContent) decode(m iceberg.ManifestFile, raw []byte) error {
	reader, err := iceberg.NewManifestReader(m, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it reads memory
	if c.schema, err = scan.ManifestSchema(raw); err != nil {
		return err
	}
	spec, err := reader.PartitionSpec()
	if err != nil {
		return err
	}
	c.spec = numbered(*spec)
	for {
		e, err := reader.ReadEntry()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Status() != iceberg.EntryStatusDELETED {
			c.entries = append(c.entries, e)
		}
	}
}

// fetch reads a file that the table's metadata names.
func (o *IO) fetch(ctx context.Context, what, location string) ([]byte, error) {
	raw, err := o.files.ReadFile(ctx, location)
	switch {
	case err == nil:
		return raw, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fault.Is(err, fault.Unavailable):
		return nil, fault.Wrap(err, fault.Unavailable, "The %s %s could not be read just now. Write again.", what, location)
	}
	return nil, fault.Wrap(err, fault.Internal, "The %s %s cannot be read, so that nothing can be written to the table. Restore the file, or roll the table back to a snapshot without it.", what, location)
}

func damaged(err error, what, location string) error {
	return fault.Wrap(err, fault.Internal, "The %s %s is damaged, so that nothing can be written to the table. Restore the file, or roll the table back to a snapshot without it.", what, location)
}

// encodeManifest writes a manifest of a commit; fill adds its entries.
func encodeManifest(version int, spec iceberg.PartitionSpec, schema *iceberg.Schema, snapshot int64, content iceberg.ManifestContent,
	location string, fill func(*iceberg.ManifestWriter) error,
) ([]byte, iceberg.ManifestFile, error) {
	var buf bytes.Buffer
	var file iceberg.ManifestFile
	err := guarded(func() error {
		w, err := iceberg.NewManifestWriter(version, &buf, spec, schema, snapshot, iceberg.WithManifestWriterContent(content))
		if err != nil {
			return err
		}
		if err := fill(w); err != nil {
			return errors.Join(err, w.Close())
		}
		if err := w.Close(); err != nil {
			return err
		}
		file, err = w.ToManifestFile(location, int64(buf.Len()))
		if err == nil {
			file = ranged(file)
		}
		return err
	})
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Internal, "The manifest of the commit could not be written.")
	}
	return buf.Bytes(), file, nil
}

// ranged gives a manifest whose ranges have their bounds where these are empty: iceberg-go gives the bytes of an empty text as
// nil and writes that as no bound, which says to engines that there are nulls alone.
func ranged(m iceberg.ManifestFile) iceberg.ManifestFile {
	ranges := m.Partitions()
	for _, r := range ranges {
		for _, bound := range []*[]byte{r.LowerBound, r.UpperBound} {
			if bound != nil && *bound == nil {
				*bound = []byte{}
			}
		}
	}
	return iceberg.NewManifestFile(m.Version(), m.FilePath(), m.Length(), m.PartitionSpecID(), m.SnapshotID()).
		SequenceNum(m.SequenceNum(), m.MinSequenceNum()).Content(m.ManifestContent()).
		AddedFiles(m.AddedDataFiles()).ExistingFiles(m.ExistingDataFiles()).DeletedFiles(m.DeletedDataFiles()).
		AddedRows(m.AddedRows()).ExistingRows(m.ExistingRows()).DeletedRows(m.DeletedRows()).
		Partitions(ranges).Build()
}
