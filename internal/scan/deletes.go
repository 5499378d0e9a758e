package scan

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/apache/iceberg-go"
)

// pathColumn is the reserved field id of the path in position delete files.
const pathColumn = 2147483546

// deleteFile is a live delete file.
type deleteFile struct {
	candidate
	sequence     int64
	lower, upper *string // of the paths it deletes from; nil unknown
	referenced   string  // the only data file it is for, "" for any
}

// deleteIndex finds the delete files of a data file.
type deleteIndex struct {
	everywhere []*deleteFile            // equality deletes of an unpartitioned spec
	equality   map[string][]*deleteFile // by partition
	positions  map[string][]*deleteFile // by partition
	byPath     map[string][]*deleteFile // position deletes of one data file
	vectors    map[string]*deleteFile   // by data file
}

// indexDeletes reads the delete manifests whose partitions may match.
func (w *work) indexDeletes(ctx context.Context) (*deleteIndex, error) {
	index := &deleteIndex{
		equality: make(map[string][]*deleteFile), positions: make(map[string][]*deleteFile),
		byPath: make(map[string][]*deleteFile), vectors: make(map[string]*deleteFile),
	}
	specs := make([]spec, len(w.deletes))
	found := make([][]entry, len(w.deletes))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(w.planner.limits.readers)
	for i, m := range w.deletes {
		var err error
		if specs[i], err = w.specOf(m); err != nil {
			return nil, err
		}
		if !w.manifestMay(m, specs[i]) {
			continue
		}
		group.Go(func() (err error) {
			found[i], _, err = w.planner.entriesOf(inner, m, pruning)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, entries := range found {
		for _, e := range entries {
			c := candidate{entry: e, spec: specs[i], partition: partitionOf(e.file, specs[i])}
			if !w.tests || w.filter.MayIn(c.spec.fields, c.partitionSummary, nil) {
				index.add(c)
			}
		}
	}
	return index, nil
}

func (x *deleteIndex) add(c candidate) {
	d := &deleteFile{candidate: c, sequence: c.SequenceNum()}
	key := c.partitionKey()
	if c.file.ContentType() == iceberg.EntryContentEqDeletes {
		if c.spec.partitioned() {
			x.equality[key] = append(x.equality[key], d)
		} else {
			x.everywhere = append(x.everywhere, d)
		}
		return
	}
	d.readPaths()
	switch {
	case d.referenced != "" && c.file.FileFormat() == iceberg.PuffinFile:
		if old := x.vectors[d.referenced]; old == nil || old.sequence < d.sequence {
			x.vectors[d.referenced] = d
		}
	case d.referenced != "":
		x.byPath[d.referenced] = append(x.byPath[d.referenced], d)
	default:
		x.positions[key] = append(x.positions[key], d)
	}
}

// readPaths takes which data files position deletes are for: the one they name, or what the bounds of their paths say.
func (d *deleteFile) readPaths() {
	if path := d.file.ReferencedDataFile(); path != nil {
		d.referenced = *path
		return
	}
	d.lower, d.upper = textBound(d.file.LowerBoundValues()), textBound(d.file.UpperBoundValues())
	if d.lower != nil && d.upper != nil && *d.lower == *d.upper {
		d.referenced = *d.lower
	}
}

func textBound(bounds map[int][]byte) *string {
	raw, ok := bounds[pathColumn]
	if !ok || raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}

// of gives the delete files that apply to a data file: equality deletes that are newer, and the deletion vector or else
// the position deletes that are not older.
func (x *deleteIndex) of(c candidate) []*deleteFile {
	var out []*deleteFile
	key, sequence, path := c.partitionKey(), c.SequenceNum(), c.file.FilePath()
	for _, list := range [][]*deleteFile{x.everywhere, x.equality[key]} {
		for _, d := range list {
			if sequence < d.sequence {
				out = append(out, d)
			}
		}
	}
	if d := x.vectors[path]; d != nil && sequence <= d.sequence {
		return append(out, d)
	}
	for _, list := range [][]*deleteFile{x.byPath[path], x.positions[key]} {
		for _, d := range list {
			if sequence <= d.sequence && d.mayName(path) {
				out = append(out, d)
			}
		}
	}
	return out
}

func (d *deleteFile) mayName(path string) bool {
	return (d.lower == nil || *d.lower <= path) && (d.upper == nil || *d.upper >= path)
}
