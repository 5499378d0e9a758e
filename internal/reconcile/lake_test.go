package reconcile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// folder reads files by their path and counts the reads.
type folder struct {
	mu     sync.Mutex
	reads  map[string]int
	broken bool // the store is down
}

func (f *folder) ReadFile(_ context.Context, location string) ([]byte, error) {
	if f.broken {
		return nil, errors.New("connection refused")
	}
	if f.reads != nil {
		f.mu.Lock()
		f.reads[filepath.Base(location)]++
		f.mu.Unlock()
	}
	raw, err := os.ReadFile(location)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.About(fault.NotFound, fault.File, "no such file")
	}
	return raw, err
}

func within(location, path string) bool {
	return !strings.Contains(path, "..") && strings.HasPrefix(path, location+"/")
}

// lake is a table in a folder whose manifests are written by iceberg-go.
type lake struct {
	t       testing.TB
	root    string
	version int
	spec    iceberg.PartitionSpec
	schema  *iceberg.Schema
}

func newLake(t testing.TB, version int) *lake {
	return newLakeOf(t, version, iceberg.PrimitiveTypes.String)
}

// newLakeOf makes a lake partitioned by a column of the type.
func newLakeOf(t testing.TB, version int, partition iceberg.Type) *lake {
	root := filepath.Join(t.TempDir(), "orders")
	require.NoError(t, os.MkdirAll(root, 0o755))
	schema := iceberg.NewSchema(0,
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true},
		iceberg.NestedField{ID: 2, Name: "city", Type: partition})
	spec := iceberg.NewPartitionSpec(iceberg.PartitionField{
		SourceIDs: []int{2}, FieldID: 1000, Name: "city", Transform: iceberg.IdentityTransform{},
	})
	return &lake{t: t, root: root, version: version, spec: spec, schema: schema}
}

func (l *lake) path(name string) string { return filepath.Join(l.root, name) }

// row is one manifest entry to write.
type row struct {
	status   iceberg.ManifestEntryStatus
	path     string // in the lake, unless absolute
	records  int64
	city     string
	snapshot int64
	sequence int64 // 0: inherited
	content  iceberg.ManifestEntryContent
	upper    string // upper bound of the column city, for metrics
	refers   string // data file of a deletion vector
	format   iceberg.FileFormat
	firstRow int64 // 0: inherited
	value    any   // of the partition, instead of city
	logical  string
	change   func(*iceberg.DataFileBuilder) // what else the file has
}

// missing is the partition value null.
const missing = "\x00null"

const (
	added    = iceberg.EntryStatusADDED
	existing = iceberg.EntryStatusEXISTING
	deleted  = iceberg.EntryStatusDELETED
)

func (l *lake) entry(r row) iceberg.ManifestEntry {
	path := r.path
	if !filepath.IsAbs(path) {
		path = l.path(path)
	}
	if r.format == "" {
		r.format = iceberg.ParquetFile
	}
	if r.city == "" {
		r.city = "Bern"
	}
	var partition any = r.city
	if r.value != nil {
		partition = r.value
	}
	if r.value == missing {
		partition = nil
	}
	logical := map[int]string{}
	if r.logical != "" {
		logical[1000] = r.logical
	}
	builder, err := iceberg.NewDataFileBuilder(l.spec, r.content, path, r.format,
		map[int]any{1000: partition}, logical, map[int]int{1000: 16}, r.records, 100*max(r.records, 1))
	require.NoError(l.t, err)
	if r.upper != "" {
		builder.UpperBoundValues(map[int][]byte{2: []byte(r.upper)})
	}
	if r.refers != "" {
		builder.ReferencedDataFile(l.path(r.refers)).ContentOffset(4).ContentSizeInBytes(40)
	}
	if r.firstRow != 0 && l.version == 3 {
		builder.FirstRowID(r.firstRow)
	}
	if r.content == iceberg.EntryContentEqDeletes {
		builder.EqualityFieldIDs([]int{1})
	}
	if r.change != nil {
		r.change(builder)
	}
	entry := iceberg.NewManifestEntryBuilder(r.status, &r.snapshot, builder.Build())
	if r.sequence != 0 {
		entry.SequenceNum(r.sequence).FileSequenceNum(r.sequence)
	}
	return entry.Build()
}

// manifest writes a manifest of the snapshot under a name and gives its list entry.
func (l *lake) manifest(name string, snapshot int64, rows ...row) iceberg.ManifestFile {
	content := iceberg.ManifestContentData
	for _, r := range rows {
		if r.content != iceberg.EntryContentData {
			content = iceberg.ManifestContentDeletes
		}
	}
	var out bytes.Buffer
	w, err := iceberg.NewManifestWriter(l.version, &out, l.spec, l.schema, snapshot, iceberg.WithManifestWriterContent(content))
	require.NoError(l.t, err)
	for _, r := range rows {
		if r.snapshot == 0 {
			r.snapshot = snapshot
		}
		entry := l.entry(r)
		switch r.status {
		case added:
			err = w.Add(entry)
		case existing:
			err = w.Existing(entry)
		default:
			err = w.Delete(entry)
		}
		require.NoError(l.t, err)
	}
	require.NoError(l.t, w.Close())
	path := l.path(name)
	if filepath.IsAbs(name) {
		path = name
	}
	require.NoError(l.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(l.t, os.WriteFile(path, out.Bytes(), 0o600))
	m, err := w.ToManifestFile(path, int64(out.Len()), iceberg.WithManifestFileContent(content))
	require.NoError(l.t, err)
	return m
}

// rename gives the first entry of a manifest, an added one, the id of another snapshot: iceberg-go's writer would not.
func (l *lake) rename(path string, from, to int64) {
	recode(l.t, path, "null", func(plain []byte) []byte {
		start := binary.AppendVarint(nil, int64(added))
		if l.version > 1 {
			start = binary.AppendVarint(start, 1) // the branch of the union that is not null
		}
		forged := bytes.Replace(plain, binary.AppendVarint(bytes.Clone(start), from), binary.AppendVarint(bytes.Clone(start), to), 1)
		require.NotEqual(l.t, plain, forged)
		return forged
	})
}

// snapshot writes a manifest list and gives the snapshot of it. The sequence number is the id.
func (l *lake) snapshot(id int64, parent *metadata.Snapshot, manifests ...iceberg.ManifestFile) metadata.Snapshot {
	snap := metadata.Snapshot{ID: id, SequenceNumber: id, Operation: "append", ManifestList: l.path(fmt.Sprintf("snap-%d.avro", id))}
	if l.version == 1 {
		snap.SequenceNumber = 0
	}
	if parent != nil {
		snap.ParentID = &parent.ID
	}
	var out bytes.Buffer
	require.NoError(l.t, iceberg.WriteManifestList(l.version, &out, id, snap.ParentID, &id, id*1000, manifests))
	require.NoError(l.t, os.WriteFile(snap.ManifestList, out.Bytes(), 0o600))
	return snap
}

// listed reads a snapshot's list entries back, as a writer does to carry them over.
func (l *lake) listed(snap metadata.Snapshot) []iceberg.ManifestFile {
	raw, err := os.ReadFile(snap.ManifestList)
	require.NoError(l.t, err)
	manifests, err := iceberg.ReadManifestList(bytes.NewReader(raw))
	require.NoError(l.t, err)
	return manifests
}

func (l *lake) inspection(snap metadata.Snapshot, parent *metadata.Snapshot) catalog.Inspection {
	return catalog.Inspection{FormatVersion: l.version, Snapshot: snap, Parent: parent, Location: l.root}
}

func inspector(options ...reconcile.Option) *reconcile.Inspector {
	return reconcile.NewInspector(&folder{}, within, options...)
}

// parent is a table of two data manifests with three files.
func (l *lake) parent() (metadata.Snapshot, []iceberg.ManifestFile) {
	first := l.snapshot(1, nil, l.manifest("m1.avro", 1,
		row{status: added, path: "a.parquet", records: 10, city: "Bern", upper: "Bern"},
		row{status: added, path: "b.parquet", records: 20, city: "Genf", upper: "Genf"}))
	second := l.snapshot(2, &first, append(l.listed(first),
		l.manifest("m2.avro", 2, row{status: added, path: "c.parquet", records: 30, city: "Zug"}))...)
	return second, l.listed(second)
}

// kept are the parent's files as a merge writes them.
func (l *lake) kept() []row {
	sequence := func(n int64) int64 {
		if l.version == 1 {
			return 0
		}
		return n
	}
	return []row{
		{status: existing, path: "a.parquet", records: 10, city: "Bern", upper: "Bern", snapshot: 1, sequence: sequence(1), firstRow: 1000},
		{status: existing, path: "b.parquet", records: 20, city: "Genf", upper: "Genf", snapshot: 1, sequence: sequence(1), firstRow: 1010},
		{status: existing, path: "c.parquet", records: 30, city: "Zug", snapshot: 2, sequence: sequence(2), firstRow: 2000},
	}
}
