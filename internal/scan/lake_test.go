package scan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
)

// lake is a table whose files are in memory: real manifests by iceberg-go, and metadata that names them.
type lake struct {
	t       *testing.T
	version int
	mu      sync.Mutex
	files   map[string][]byte
	reads   map[string]int
	schemas []*iceberg.Schema
	specs   []iceberg.PartitionSpec
	snaps   []map[string]any
	head    []iceberg.ManifestFile
	next    int64 // row id
	keeping *scan.Planner
}

const location = "s3://lake/db/t"

func newLake(t *testing.T, version int, schema *iceberg.Schema, specs ...iceberg.PartitionSpec) *lake {
	if len(specs) == 0 {
		specs = []iceberg.PartitionSpec{*iceberg.UnpartitionedSpec}
	}
	return &lake{
		t: t, version: version, files: map[string][]byte{}, reads: map[string]int{},
		schemas: []*iceberg.Schema{schema}, specs: specs,
	}
}

func (l *lake) ReadFile(_ context.Context, location string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads[location]++
	raw, ok := l.files[location]
	if !ok {
		return nil, fault.About(fault.NotFound, fault.File, "no %s", location)
	}
	return raw, nil
}

func (l *lake) schema() *iceberg.Schema { return l.schemas[len(l.schemas)-1] }

// file is a data or delete file to be put into a manifest.
type file struct {
	path      string
	content   iceberg.ManifestEntryContent
	format    iceberg.FileFormat
	partition map[int]any
	logical   map[int]string
	fixed     map[int]int
	rows      int64
	build     func(*iceberg.DataFileBuilder)
	status    iceberg.ManifestEntryStatus // added unless said
	sequence  *int64                      // of existing entries
	addedBy   int64                       // of existing entries
}

func data(path string, partition map[int]any, rows int64, build ...func(*iceberg.DataFileBuilder)) file {
	f := file{path: location + "/data/" + path, format: iceberg.ParquetFile, partition: partition, rows: rows, status: iceberg.EntryStatusADDED}
	f.build = func(b *iceberg.DataFileBuilder) {
		for _, more := range build {
			more(b)
		}
	}
	return f
}

// manifest writes a manifest of the files under the spec.
func (l *lake) manifest(spec int, snapshot int64, deletes bool, files ...file) iceberg.ManifestFile {
	l.t.Helper()
	content := iceberg.ManifestContentData
	if deletes {
		content = iceberg.ManifestContentDeletes
	}
	var buf bytes.Buffer
	w, err := iceberg.NewManifestWriter(l.version, &buf, l.specs[spec], l.schema(), snapshot, iceberg.WithManifestWriterContent(content))
	require.NoError(l.t, err)
	for _, f := range files {
		b, err := iceberg.NewDataFileBuilder(l.specs[spec], f.content, f.path, f.format, f.partition, f.logical, f.fixed, f.rows, 1000+f.rows)
		require.NoError(l.t, err)
		if f.build != nil {
			f.build(b)
		}
		switch f.status {
		case iceberg.EntryStatusADDED:
			require.NoError(l.t, w.Add(iceberg.NewManifestEntry(f.status, &snapshot, nil, nil, b.Build())))
		case iceberg.EntryStatusEXISTING:
			require.NoError(l.t, w.Existing(iceberg.NewManifestEntry(f.status, &f.addedBy, f.sequence, f.sequence, b.Build())))
		default:
			require.NoError(l.t, w.Delete(iceberg.NewManifestEntry(f.status, &snapshot, f.sequence, f.sequence, b.Build())))
		}
	}
	require.NoError(l.t, w.Close())
	path := fmt.Sprintf("%s/metadata/m%d.avro", location, len(l.files))
	m, err := w.ToManifestFile(path, int64(buf.Len()), iceberg.WithManifestFileContent(content))
	require.NoError(l.t, err)
	l.files[path] = buf.Bytes()
	return m
}

// commit makes a snapshot of the manifests before and the new ones; ids are 1, 2, 3 and so are sequence numbers.
func (l *lake) commit(operation string, added ...iceberg.ManifestFile) int64 {
	return l.replace(operation, append(added, l.head...)...)
}

func (l *lake) id() int64 { return int64(len(l.snaps) + 1) }

func (l *lake) replace(operation string, manifests ...iceberg.ManifestFile) int64 {
	l.t.Helper()
	id := l.id()
	sequence := id
	var parent *int64
	if id > 1 {
		before := id - 1
		parent = &before
	}
	var buf bytes.Buffer
	require.NoError(l.t, iceberg.WriteManifestList(l.version, &buf, id, parent, &sequence, l.next, manifests))
	path := fmt.Sprintf("%s/metadata/snap-%d.avro", location, id)
	l.files[path] = buf.Bytes()
	snap := map[string]any{
		"snapshot-id": id, "timestamp-ms": 1700000000000 + id, "manifest-list": path,
		"schema-id": l.schema().ID, "summary": map[string]string{"operation": operation},
	}
	if parent != nil {
		snap["parent-snapshot-id"] = *parent
	}
	if l.version >= 2 {
		snap["sequence-number"] = sequence
	}
	var rows int64
	for _, m := range manifests {
		rows += m.AddedRows()
	}
	if l.version >= 3 {
		snap["first-row-id"], snap["added-rows"] = l.next, rows
		l.next += rows
	}
	l.snaps = append(l.snaps, snap)
	read, err := iceberg.ReadManifestList(bytes.NewReader(buf.Bytes()))
	require.NoError(l.t, err)
	l.head = read
	return id
}

func (l *lake) json() []byte {
	l.t.Helper()
	lastColumn := 0
	for _, s := range l.schemas {
		lastColumn = max(lastColumn, s.HighestFieldID())
	}
	lastPartition := 999
	for _, s := range l.specs {
		for _, f := range s.Fields() {
			lastPartition = max(lastPartition, f.FieldID)
		}
	}
	doc := map[string]any{
		"format-version": l.version, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": location,
		"last-updated-ms": 1700000001000, "last-column-id": lastColumn, "schemas": l.schemas, "current-schema-id": l.schema().ID,
		"partition-specs": l.specs, "default-spec-id": l.specs[len(l.specs)-1].ID(), "last-partition-id": lastPartition,
		"sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}}, "default-sort-order-id": 0,
		"properties": map[string]string{}, "snapshots": l.snaps,
	}
	if l.version == 1 {
		doc["schema"], doc["partition-spec"] = l.schema(), []any{}
	} else {
		doc["last-sequence-number"] = len(l.snaps)
	}
	if l.version >= 3 {
		doc["next-row-id"] = l.next
	}
	if n := len(l.snaps); n > 0 {
		doc["current-snapshot-id"] = n
		doc["refs"] = map[string]any{"main": map[string]any{"snapshot-id": n, "type": "branch"}}
	}
	raw, err := json.Marshal(doc)
	require.NoError(l.t, err)
	return raw
}

func (l *lake) doc() *metadata.Document {
	l.t.Helper()
	doc, err := metadata.Parse(l.json())
	require.NoError(l.t, err)
	return doc
}

// meta is the same metadata as iceberg-go has it.
func (l *lake) meta() table.Metadata {
	l.t.Helper()
	m, err := table.ParseMetadataBytes(l.json())
	require.NoError(l.t, err)
	return m
}

func (l *lake) plan(req scan.Request, options ...scan.Option) scan.Plan {
	l.t.Helper()
	plan, err := scan.New(l, options...).Plan(l.t.Context(), l.doc(), req)
	require.NoError(l.t, err)
	return plan
}

// everything plans and fetches every plan task, each once.
func (l *lake) everything(req scan.Request, options ...scan.Option) (tasks []scan.Task, pages int) {
	l.t.Helper()
	p, doc := scan.New(l, options...), l.doc()
	plan, err := p.Plan(l.t.Context(), doc, req)
	require.NoError(l.t, err)
	tasks, pages = plan.Tasks, 1
	for queue := plan.PlanTasks; len(queue) > 0; queue = queue[1:] {
		page, err := p.Tasks(l.t.Context(), doc, queue[0])
		require.NoError(l.t, err)
		tasks, queue = append(tasks, page.Tasks...), append(queue, page.PlanTasks...)
		pages++
	}
	return tasks, pages
}

func filter(expr string) scan.Request { return scan.Request{Filter: json.RawMessage(expr)} }

func paths(tasks []scan.Task) []string {
	out := []string{}
	for _, t := range tasks {
		out = append(out, t.DataFile.FilePath[len(location+"/data/"):])
	}
	return out
}

func schemaOf(fields ...iceberg.NestedField) *iceberg.Schema { return iceberg.NewSchema(0, fields...) }

func field(id int, name string, typ iceberg.Type) iceberg.NestedField {
	return iceberg.NestedField{ID: id, Name: name, Type: typ}
}

func specOf(id int, fields ...iceberg.PartitionField) iceberg.PartitionSpec {
	return iceberg.NewPartitionSpecID(id, fields...)
}

func bin(t *testing.T, lit iceberg.Literal) []byte {
	t.Helper()
	raw, err := lit.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary()
	require.NoError(t, err)
	return raw
}

func parse(t *testing.T, raw string) *metadata.Document {
	t.Helper()
	doc, err := metadata.Parse([]byte(raw))
	require.NoError(t, err)
	return doc
}

func requireSubject(t *testing.T, err error, subject fault.Subject) {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.NotFound, f.Code)
	require.Equal(t, subject, f.Subject)
}
