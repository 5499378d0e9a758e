package scan

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// What the content of a delete file is.
const (
	PositionDeletes = "position-deletes"
	EqualityDeletes = "equality-deletes"
	DeletionVector  = "deletion-vector"
)

// DataFile is a live data file of a snapshot, with the delete files that apply to it. It is not to be changed.
type DataFile struct {
	Path, Format string // the format in lower case
	SpecID       int
	Partition    map[int]any // by partition field id, as iceberg-go reads and writes values
	PartitionKey string      // what files of one spec and partition share
	Records      int64
	Size         int64  // bytes
	Sequence     int64  // the data sequence number
	FirstRowID   *int64 // of v3
	Encrypted    bool   // it has key metadata
	Lower, Upper map[int][]byte
	Nulls        map[int]int64
	NaNs         map[int]int64
	Values       map[int]int64
	Deletes      []*DeleteFile // shared with the other data files that each reaches
}

// DeleteFile is a live delete file.
type DeleteFile struct {
	Content        string
	Path, Format   string
	SpecID         int
	Partition      map[int]any
	PartitionKey   string
	Records        int64
	Size           int64
	Sequence       int64
	EqualityIDs    []int  // field ids
	Referenced     string // the only data file it is for, "" for any
	Offset, Length int64  // of a deletion vector in its file
	Encrypted      bool
}

// Files gives the data files of a snapshot that may hold rows that pass the filter, in the order of their paths: all at
// once, unlike Plan. No snapshot means main's head, and a table that has none has no files; a nil filter passes all rows.
// Errors are fault.Invalid for a snapshot or schema that the table does not have.
func (p *Planner) Files(ctx context.Context, doc *metadata.Document, snapshot *int64, schemaID int, filter *expression.Filter) ([]*DataFile, error) {
	if head, ok := doc.CurrentSnapshotID(); snapshot == nil && ok {
		snapshot = &head
	}
	pin := pinned{Snapshot: snapshot}
	if err := checkSnapshots(doc, pin); err != nil {
		return nil, err
	}
	schema, ok, err := doc.Schema(schemaID)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fault.New(fault.Invalid, "The table has no schema %d. Read it with one that it has.", schemaID)
	}
	if filter == nil {
		filter = expression.All()
	}
	if snapshot == nil || filter.IsNone() {
		return nil, nil
	}
	w := &work{planner: p, pin: pin, names: newCatalogue(doc, schema), plain: true}
	w.setFilter(filter)
	if err := w.addSnapshot(ctx, doc); err != nil {
		return nil, err
	}
	return w.files(ctx)
}

func (w *work) files(ctx context.Context) ([]*DataFile, error) {
	index, err := w.indexDeletes(ctx)
	if err != nil {
		return nil, err
	}
	found, err := w.readAll(ctx, w.data)
	if err != nil {
		return nil, err
	}
	var out []*DataFile
	deletes := make(map[*deleteFile]*DeleteFile)
	for _, candidates := range found {
		for _, c := range candidates {
			f := c.dataFile()
			for _, d := range index.of(c) {
				if deletes[d] == nil {
					deletes[d] = d.deleteFile()
				}
				f.Deletes = append(f.Deletes, deletes[d])
			}
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *DataFile) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

func (c *candidate) dataFile() *DataFile {
	f := c.file
	return &DataFile{
		Path: f.FilePath(), Format: strings.ToLower(string(f.FileFormat())), SpecID: c.spec.id, Partition: f.Partition(),
		PartitionKey: c.partitionKey(), Records: f.Count(), Size: f.FileSizeBytes(), Sequence: c.SequenceNum(),
		FirstRowID: f.FirstRowID(), Encrypted: len(f.KeyMetadata()) > 0, Lower: f.LowerBoundValues(), Upper: f.UpperBoundValues(),
		Nulls: f.NullValueCounts(), NaNs: f.NaNValueCounts(), Values: f.ValueCounts(),
	}
}

func (d *deleteFile) deleteFile() *DeleteFile {
	f := d.file
	out := &DeleteFile{
		Content: PositionDeletes, Path: f.FilePath(), Format: strings.ToLower(string(f.FileFormat())), SpecID: d.spec.id,
		Partition: f.Partition(), PartitionKey: d.partitionKey(), Records: f.Count(), Size: f.FileSizeBytes(), Sequence: d.sequence,
		EqualityIDs: f.EqualityFieldIDs(), Referenced: d.referenced, Encrypted: len(f.KeyMetadata()) > 0,
	}
	switch {
	case f.ContentType() == iceberg.EntryContentEqDeletes:
		out.Content = EqualityDeletes
	case f.FileFormat() == iceberg.PuffinFile:
		out.Content = DeletionVector
		if f.ContentOffset() != nil && f.ContentSizeInBytes() != nil {
			out.Offset, out.Length = *f.ContentOffset(), *f.ContentSizeInBytes()
		}
	}
	return out
}
