package tableio

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/puffin"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/scan"
)

// vectors writes the deletion vectors of the data files into one Puffin file. Each has all rows that are deleted by
// position, those from before too: readers look at nothing else then.
func (s *staging) vectors(removes []Removal) ([]iceberg.DataFile, error) {
	location := s.layout.dataFile(uuid.NewString() + "-deletes.puffin")
	var buf bytes.Buffer
	var blobs []puffin.BlobMetadata
	err := guarded(func() error {
		w, err := puffin.NewWriter(&buf)
		if err != nil {
			return err
		}
		if err := w.SetCreatedBy("sluice"); err != nil {
			return err
		}
		for _, r := range removes {
			blob, err := addVector(w, r)
			if err != nil {
				return err
			}
			blobs = append(blobs, blob)
		}
		return w.Finish()
	})
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "The deletion vectors of the commit could not be written.")
	}
	out := make([]iceberg.DataFile, len(removes))
	for i, r := range removes {
		if out[i], err = s.vectorEntry(r, location, blobs[i], int64(buf.Len())); err != nil {
			return nil, err
		}
	}
	return out, s.create(location, buf.Bytes())
}

const (
	cardinalityProperty = "cardinality"
	referencedProperty  = "referenced-data-file"
)

func addVector(w *puffin.Writer, r Removal) (puffin.BlobMetadata, error) {
	all := dv.NewRoaringPositionBitmap()
	all.Or(r.Deleted)
	for _, p := range r.Positions {
		if all.Contains(uint64(p)) { //nolint:gosec // not negative
			return puffin.BlobMetadata{}, errors.New("a row to remove was removed before")
		}
		all.Set(uint64(p)) //nolint:gosec // not negative
	}
	raw, err := dv.SerializeDV(all)
	if err != nil {
		return puffin.BlobMetadata{}, err
	}
	return w.AddBlob(puffin.BlobMetadataInput{
		Type: puffin.BlobTypeDeletionVector, SnapshotID: -1, SequenceNumber: -1, Fields: []int32{},
		Properties: map[string]string{cardinalityProperty: strconv.FormatInt(all.Cardinality(), 10), referencedProperty: r.File.Path},
	}, raw)
}

func (s *staging) vectorEntry(r Removal, location string, blob puffin.BlobMetadata, size int64) (iceberg.DataFile, error) {
	spec, err := specOf(s.d.Base, r.File.SpecID)
	if err != nil {
		return nil, err
	}
	rows, err := strconv.ParseInt(blob.Properties[cardinalityProperty], 10, 64)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "The deletion vectors of the commit could not be written.")
	}
	b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentPosDeletes, location, iceberg.PuffinFile, r.File.Partition, nil, nil, rows, size)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "The deletion vectors of the commit could not be written.")
	}
	s.counts.addVector(rows, blob.Length)
	return b.ReferencedDataFile(r.File.Path).ContentOffset(blob.Offset).ContentSizeInBytes(blob.Length).Build(), nil
}

// place is a delete file, or a deletion vector in one.
type place struct {
	path   string
	offset int64
}

// replaceDeletes takes the deletes that new vectors contain out of the head's manifests: the vectors of the same data
// files, and position deletes that are for one of them alone. It gives the manifests that it wrote anew and the others.
func (s *staging) replaceDeletes(removes []Removal, kept []iceberg.ManifestFile) (made, rest []iceberg.ManifestFile, err error) {
	former, touched := map[place]bool{}, map[string]bool{}
	for _, r := range removes {
		touched[r.File.Path] = true
		for _, d := range r.File.Deletes {
			if d.Content == scan.DeletionVector || d.Content == scan.PositionDeletes && d.Referenced == r.File.Path {
				former[place{d.Path, d.Offset}] = true
			}
		}
	}
	for _, m := range kept {
		if m.ManifestContent() != iceberg.ManifestContentDeletes {
			rest = append(rest, m)
			continue
		}
		content, err := s.readManifest(s.ctx, m)
		if err != nil {
			return nil, nil, err
		}
		replaced, err := content.replaced(former, touched)
		if err != nil {
			return nil, nil, err
		}
		if len(replaced) == 0 {
			rest = append(rest, m)
			continue
		}
		file, err := s.without(content, replaced)
		if err != nil {
			return nil, nil, err
		}
		made = append(made, file)
	}
	if len(former) > 0 {
		return nil, nil, stale()
	}
	return made, rest, nil
}

// replaced gives the entries that are former deletes, and takes those off the list of what is still to be found. A vector
// of a touched data file that is not on the list came after the rows were looked up.
func (c manifestContent) replaced(former map[place]bool, touched map[string]bool) (map[int]bool, error) {
	out := map[int]bool{}
	for i, e := range c.entries {
		f := e.DataFile()
		at := place{path: f.FilePath()}
		if offset := f.ContentOffset(); offset != nil {
			at.offset = *offset
		}
		switch {
		case former[at]:
			delete(former, at)
			out[i] = true
		case f.FileFormat() == iceberg.PuffinFile && f.ReferencedDataFile() != nil && touched[*f.ReferencedDataFile()]:
			return nil, stale()
		}
	}
	return out, nil
}

// stale says that the rows to remove were looked up in another snapshot than the one that is committed to.
func stale() error {
	return fault.New(fault.Conflict, "Deletes of the table have changed since the rows to replace were looked up. Write again.")
}

// without writes a manifest anew in which some entries are deleted. The others stay as they are.
func (s *staging) without(content manifestContent, gone map[int]bool) (iceberg.ManifestFile, error) {
	return s.manifest(content.spec, content.schema, iceberg.ManifestContentDeletes, func(w *iceberg.ManifestWriter) error {
		for i, e := range content.entries {
			if !gone[i] {
				if err := w.Existing(e); err != nil {
					return err
				}
				continue
			}
			if e.SequenceNum() < 0 || e.FileSequenceNum() == nil {
				return fmt.Errorf("the entry of %s has no sequence number", e.DataFile().FilePath())
			}
			if err := w.Delete(e); err != nil {
				return err
			}
			s.counts.removeDelete(e.DataFile())
		}
		return nil
	})
}
