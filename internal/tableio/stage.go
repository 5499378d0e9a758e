package tableio

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// Staged is a snapshot that is written and not committed.
type Staged struct {
	SnapshotID int64
	Input      catalog.CommitInput

	io   *IO
	made []string // by Stage
	adds []*Written
}

// Undo removes all files of a commit that ended with this error, data files too, unless it may have happened. Files of
// manifests that were written elsewhere stay: see Remove.
func (s *Staged) Undo(ctx context.Context, err error) {
	if !undone(err) {
		return
	}
	s.Discard(ctx)
	for _, w := range s.adds {
		w.Remove(ctx)
	}
}

// Discard removes what Stage wrote for a commit that did not happen, and leaves the data files for another.
func (s *Staged) Discard(ctx context.Context) { s.io.remove(ctx, s.made) }

// staging is a snapshot being written.
type staging struct {
	*IO
	ctx    context.Context // of one call of Stage
	d      Delta
	layout *layout
	id     int64
	head   *metadata.Snapshot
	made   []string
	number int // of the next manifest
	counts counts
}

// Stage writes the snapshot that makes a change of the table after the head of its base: manifests, delete files and the
// manifest list. On an error what it wrote is removed, and the data files stay. fault.Invalid: rows cannot be removed from
// a table of v1. fault.Conflict: the base does not fit what is to be committed. Commit it by its Input, whose requirements
// make it a fault.Conflict when the table has another head by then.
func (o *IO) Stage(ctx context.Context, d Delta) (*Staged, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	l, err := layoutOf(d.Base)
	if err != nil {
		return nil, err
	}
	s := &staging{IO: o, ctx: ctx, d: d, layout: l, id: rand.Int64N(1<<62) + 1} //nolint:gosec // no secret
	if id, ok := d.Base.CurrentSnapshotID(); ok {
		head, known := d.Base.Snapshot(id)
		if !known {
			return nil, fault.New(fault.Internal, "The table's metadata does not have its current snapshot %d.", id)
		}
		s.head = &head
	}
	input, err := s.write()
	if err != nil {
		o.remove(ctx, s.made)
		return nil, err
	}
	return &Staged{SnapshotID: s.id, Input: input, io: o, made: s.made, adds: d.Adds}, nil
}

func (s *staging) write() (catalog.CommitInput, error) {
	kept, err := s.kept()
	if err != nil {
		return catalog.CommitInput{}, err
	}
	added, err := s.added()
	if err != nil {
		return catalog.CommitInput{}, err
	}
	removed, kept, err := s.removed(kept)
	if err != nil {
		return catalog.CommitInput{}, err
	}
	if kept, err = s.merged(kept); err != nil {
		return catalog.CommitInput{}, err
	}
	return s.commit(append(append(added, removed...), kept...))
}

// kept gives the manifests of the head that have live files.
func (s *staging) kept() ([]iceberg.ManifestFile, error) {
	if s.head == nil {
		return nil, nil
	}
	all, err := s.manifestsOf(s.ctx, *s.head)
	if err != nil {
		return nil, err
	}
	out := make([]iceberg.ManifestFile, 0, len(all))
	for _, m := range all {
		if m.HasAddedFiles() || m.HasExistingFiles() {
			out = append(out, m)
		}
	}
	return out, nil
}

// added writes the manifests of the data files that come, one for each spec and schema.
func (s *staging) added() ([]iceberg.ManifestFile, error) {
	var out []iceberg.ManifestFile
	type key struct{ spec, schema int }
	of := func(w *Written) key { return key{w.layout.spec.ID(), w.layout.schema.ID} }
	groups := map[key][]iceberg.DataFile{}
	for _, w := range s.d.Adds {
		groups[of(w)] = append(groups[of(w)], w.DataFiles...)
		s.counts.addData(len(w.DataFiles), w.Rows, w.Bytes)
	}
	for _, w := range s.d.Adds {
		files := groups[of(w)]
		delete(groups, of(w))
		if len(files) == 0 {
			continue
		}
		m, err := s.dataManifest(w.layout.spec, w.layout.schema, files)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	for _, ref := range s.d.Manifests {
		if ref.Files == 0 {
			continue
		}
		m, err := s.adopted(ref)
		if err != nil {
			return nil, err
		}
		s.counts.addData(ref.Files, ref.Rows, ref.Bytes)
		out = append(out, m)
	}
	return out, nil
}

func (s *staging) dataManifest(spec iceberg.PartitionSpec, schema *iceberg.Schema, files []iceberg.DataFile) (iceberg.ManifestFile, error) {
	if _, err := specOf(s.d.Base, spec.ID()); err != nil {
		return nil, err
	}
	return s.manifest(spec, schema, iceberg.ManifestContentData, addAll(s.id, files))
}

// adopted gives a manifest that was written elsewhere. Entries of v1 name their snapshot, so that it is written anew.
func (s *staging) adopted(ref ManifestRef) (iceberg.ManifestFile, error) {
	if ref.Version > 1 {
		_, err := specOf(s.d.Base, ref.SpecID)
		return ref.file(s.id), err
	}
	content, err := s.readManifest(s.ctx, ref.file(s.id))
	if err != nil {
		return nil, err
	}
	files := make([]iceberg.DataFile, len(content.entries))
	for i, e := range content.entries {
		files[i] = e.DataFile()
	}
	return s.dataManifest(content.spec, content.schema, files)
}

func addAll(snapshot int64, files []iceberg.DataFile) func(*iceberg.ManifestWriter) error {
	return func(w *iceberg.ManifestWriter) error {
		for _, f := range files {
			if err := w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshot, nil, nil, f)); err != nil {
				return err
			}
		}
		return nil
	}
}

// manifest writes one of the snapshot's.
func (s *staging) manifest(spec iceberg.PartitionSpec, schema *iceberg.Schema, content iceberg.ManifestContent, fill func(*iceberg.ManifestWriter) error) (iceberg.ManifestFile, error) {
	location := s.layout.metadataFile(fmt.Sprintf("%s-m%d.avro", uuid.NewString(), s.number))
	s.number++
	raw, file, err := encodeManifest(s.layout.version, spec, schema, s.id, content, location, fill)
	if err != nil {
		return nil, err
	}
	return file, s.create(location, raw)
}

// create stores a file of the snapshot.
func (s *staging) create(location string, data []byte) error {
	err := s.files.CreateFile(s.ctx, location, data)
	if !fault.Is(err, fault.AlreadyExists) { // one whose storing failed may be there all the same
		s.made = append(s.made, location)
	}
	return err
}

// list writes the manifest list and gives its place, and how many row ids the snapshot takes.
func (s *staging) list(manifests []iceberg.ManifestFile) (location string, rowIDs int64, err error) {
	sequence, parent := s.d.Base.LastSequenceNumber()+1, (*int64)(nil)
	if s.head != nil {
		parent = &s.head.ID
	}
	next, _ := s.d.Base.NextRowID()
	var buf bytes.Buffer
	err = guarded(func() error {
		var w *iceberg.ManifestListWriter
		var err error
		switch s.layout.version {
		case 1:
			w, err = iceberg.NewManifestListWriterV1(&buf, s.id, parent)
		case 2:
			w, err = iceberg.NewManifestListWriterV2(&buf, s.id, sequence, parent)
		default:
			w, err = iceberg.NewManifestListWriterV3(&buf, s.id, sequence, next, parent)
		}
		if err != nil {
			return err
		}
		if err := w.AddManifests(manifests); err != nil {
			return err
		}
		if after := w.NextRowID(); after != nil {
			rowIDs = *after - next
		}
		return w.Close()
	})
	if err != nil {
		return "", 0, fault.Wrap(err, fault.Internal, "The manifest list of the commit could not be written.")
	}
	location = s.layout.metadataFile(fmt.Sprintf("snap-%d-1-%s.avro", s.id, uuid.NewString()))
	return location, rowIDs, s.create(location, buf.Bytes())
}
