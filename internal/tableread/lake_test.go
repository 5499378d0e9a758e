package tableread_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/tableread"
)

// lake is a table in a folder: Parquet files with rows, and manifests that iceberg-go writes.
type lake struct {
	t       testing.TB
	root    string
	store   *objects.FileStore
	version int
	spec    iceberg.PartitionSpec
	part    *iceberg.Schema // of the partition's source column
	specs   string          // in the metadata
	schemas []string        // fields of each, the last is the current one
	props   map[string]string

	manifests []iceberg.ManifestFile
	next      int64
	doc       *metadata.Document
}

// newLake makes an unpartitioned table of the fields, as metadata has them; those of older schemas come first.
func newLake(t testing.TB, version int, schemas ...string) *lake {
	root := filepath.Join(t.TempDir(), "table")
	require.NoError(t, os.MkdirAll(root, 0o755))
	base, err := objects.Parse("file://" + root)
	require.NoError(t, err)
	store, err := objects.NewFileStore(t.Context(), base)
	require.NoError(t, err)
	l := &lake{
		t: t, root: root, store: store, version: version, schemas: schemas, props: map[string]string{}, next: 1,
		spec: *iceberg.UnpartitionedSpec, specs: `{"spec-id": 0, "fields": []}`,
		part: iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64}),
	}
	l.describe()
	return l
}

// partitioned makes the table one that is partitioned by the identity of a column.
func (l *lake) partitioned(column int, name string, typ iceberg.Type) *lake {
	l.spec = iceberg.NewPartitionSpecID(1, iceberg.PartitionField{SourceIDs: []int{column}, FieldID: 1000, Name: name, Transform: iceberg.IdentityTransform{}})
	l.part = iceberg.NewSchema(0, iceberg.NestedField{ID: column, Name: name, Type: typ})
	l.specs = fmt.Sprintf(`{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [{"field-id": 1000, "source-id": %d, "name": %q, "transform": "identity"}]}`, column, name)
	l.describe()
	return l
}

func (l *lake) at(name string) string { return "file://" + filepath.Join(l.root, name) }

func (l *lake) write(name string, raw []byte) {
	require.NoError(l.t, os.WriteFile(filepath.Join(l.root, name), raw, 0o600))
}

// describe writes the metadata as of the last commit.
func (l *lake) describe() {
	var schemas []string
	for id, f := range l.schemas {
		schemas = append(schemas, fmt.Sprintf(`{"type": "struct", "schema-id": %d, "fields": [%s]}`, id, f))
	}
	var props []string
	for k, v := range l.props {
		props = append(props, fmt.Sprintf("%q: %q", k, v))
	}
	snapshots, current := "", ""
	if head := l.next - 1; head > 0 {
		snapshots = fmt.Sprintf(`{"snapshot-id": %d, "sequence-number": %d, "timestamp-ms": 1, "manifest-list": %q, "summary": {"operation": "overwrite"}}`, head, head, l.at(fmt.Sprintf("list-%d.avro", head)))
		current = fmt.Sprintf(`"current-snapshot-id": %d,`, head)
	}
	raw := fmt.Sprintf(`{"format-version": %d, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": %q, %s
		"last-sequence-number": %d, "last-updated-ms": 1, "last-column-id": 100, "current-schema-id": %d, "schemas": [%s],
		"partition-specs": [%s], "default-spec-id": %d, "last-partition-id": 1000, "next-row-id": 0, "snapshots": [%s],
		"sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0, "properties": {%s}}`,
		l.version, l.at(""), current, l.next, len(l.schemas)-1, strings.Join(schemas, ","), l.specs, l.spec.ID(), snapshots, strings.Join(props, ","))
	var err error
	l.doc, err = metadata.Parse([]byte(raw))
	require.NoError(l.t, err)
}

// entry is a file to commit.
type entry struct {
	path      string
	records   int64
	content   iceberg.ManifestEntryContent
	format    iceberg.FileFormat
	partition any
	change    func(*iceberg.DataFileBuilder)
}

// commit adds files in one snapshot, each in a manifest of its own.
func (l *lake) commit(entries ...entry) {
	id := l.next
	for n, e := range entries {
		l.manifests = append(l.manifests, l.manifest(fmt.Sprintf("m%d-%d.avro", id, n), id, e))
	}
	var out bytes.Buffer
	sequence, first := id, int64(0)
	var parent *int64
	require.NoError(l.t, iceberg.WriteManifestList(l.version, &out, id, parent, &sequence, first, l.manifests))
	name := fmt.Sprintf("list-%d.avro", id)
	l.write(name, out.Bytes())
	listed, err := iceberg.ReadManifestList(bytes.NewReader(out.Bytes()))
	require.NoError(l.t, err)
	l.manifests = listed
	l.next++
	l.describe()
}

func (l *lake) manifest(name string, snapshot int64, e entry) iceberg.ManifestFile {
	content := iceberg.ManifestContentData
	if e.content != iceberg.EntryContentData {
		content = iceberg.ManifestContentDeletes
	}
	if e.format == "" {
		e.format = iceberg.ParquetFile
	}
	partition := map[int]any{}
	if l.spec.ID() != 0 {
		partition[1000] = e.partition
	}
	builder, err := iceberg.NewDataFileBuilder(l.spec, e.content, l.at(e.path), e.format, partition, nil, nil, e.records, 1000)
	require.NoError(l.t, err)
	if e.change != nil {
		e.change(builder)
	}
	var out bytes.Buffer
	w, err := iceberg.NewManifestWriter(l.version, &out, l.spec, l.part, snapshot, iceberg.WithManifestWriterContent(content))
	require.NoError(l.t, err)
	require.NoError(l.t, w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshot, nil, nil, builder.Build())))
	require.NoError(l.t, w.Close())
	l.write(name, out.Bytes())
	m, err := w.ToManifestFile(l.at(name), int64(out.Len()), iceberg.WithManifestFileContent(content))
	require.NoError(l.t, err)
	return m
}

// col is an Arrow field with a field id, 0 for none.
func col(id int, name string, typ arrow.DataType) arrow.Field {
	f := arrow.Field{Name: name, Type: typ, Nullable: true}
	if id != 0 {
		f.Metadata = arrow.MetadataFrom(map[string]string{columnar.FieldIDKey: fmt.Sprint(id)})
	}
	return f
}

func required(f arrow.Field) arrow.Field {
	f.Nullable = false
	return f
}

// batchOf makes rows of JSON objects.
func batchOf(t testing.TB, schema *arrow.Schema, rows ...string) arrow.RecordBatch {
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	require.NoError(t, err, rows)
	return record
}

// data writes a data file.
func (l *lake) data(name string, batch arrow.RecordBatch, options ...parquet.WriterProperty) entry {
	l.write(name, parquetOf(l.t, batch, pqarrow.DefaultWriterProps(), options...))
	return entry{path: name, records: batch.NumRows()}
}

func parquetOf(t testing.TB, batch arrow.RecordBatch, as pqarrow.ArrowWriterProperties, options ...parquet.WriterProperty) []byte {
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(batch.Schema(), &out, parquet.NewWriterProperties(options...), as)
	require.NoError(t, err)
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())
	return out.Bytes()
}

// equality writes an equality delete file.
func (l *lake) equality(name string, ids []int, batch arrow.RecordBatch) entry {
	e := l.data(name, batch)
	e.content = iceberg.EntryContentEqDeletes
	e.change = func(b *iceberg.DataFileBuilder) { b.EqualityFieldIDs(ids) }
	return e
}

// positions writes a position delete file.
func (l *lake) positions(name string, paths []string, rows []int64) entry {
	schema := arrow.NewSchema([]arrow.Field{
		required(col(2147483546, "file_path", arrow.BinaryTypes.String)), required(col(2147483545, "pos", arrow.PrimitiveTypes.Int64)),
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i, p := range paths {
		b.Field(0).(*array.StringBuilder).Append(l.at(p))
		b.Field(1).(*array.Int64Builder).Append(rows[i])
	}
	e := l.data(name, b.NewRecordBatch())
	e.content = iceberg.EntryContentPosDeletes
	return e
}

// vector writes a deletion vector, with bytes before and after it.
func (l *lake) vector(name, refers string, rows ...int64) entry {
	bitmap := dv.NewRoaringPositionBitmap()
	for _, r := range rows {
		bitmap.Set(uint64(r))
	}
	blob, err := dv.SerializeDV(bitmap)
	require.NoError(l.t, err)
	l.write(name, append(append([]byte("PFA1"), blob...), "the rest"...))
	return entry{path: name, records: bitmap.Cardinality(), content: iceberg.EntryContentPosDeletes, format: iceberg.PuffinFile,
		change: func(b *iceberg.DataFileBuilder) {
			b.ReferencedDataFile(l.at(refers)).ContentOffset(4).ContentSizeInBytes(int64(len(blob)))
		}}
}

func (l *lake) reader(o tableread.Options) *tableread.Reader {
	r := tableread.New(l.store, scan.New(l.store), o)
	if _, timed := l.t.(*testing.B); !timed {
		r.Spoil()
	}
	return r
}

func (l *lake) scan(columns ...string) tableread.Scan {
	return tableread.Scan{Document: l.doc, SchemaID: len(l.schemas) - 1, Columns: columns}
}

// where adds a filter, as people write it.
func (l *lake) where(s tableread.Scan, text string) tableread.Scan {
	schema, err := l.doc.CurrentSchema()
	require.NoError(l.t, err)
	s.Filter, err = expression.ParseText(text, schema)
	require.NoError(l.t, err)
	return s
}

// rows gives what a scan gives, each row as JSON, in order of path and position.
func (l *lake) rows(s tableread.Scan) []string {
	l.t.Helper()
	var out []string
	_, err := l.reader(tableread.Options{Workers: 1}).Scan(l.t.Context(), s, func(b arrow.RecordBatch) error {
		out = append(out, rowsOf(l.t, b)...)
		return nil
	})
	require.NoError(l.t, err)
	return out
}

// fails gives the error of a scan.
func (l *lake) fails(s tableread.Scan) error {
	l.t.Helper()
	_, err := l.reader(tableread.Options{}).Scan(l.t.Context(), s, func(arrow.RecordBatch) error { return nil })
	require.Error(l.t, err)
	return err
}

func rowsOf(t testing.TB, b arrow.RecordBatch) []string {
	if b.NumRows() == 0 {
		return nil
	}
	var out bytes.Buffer
	require.NoError(t, array.RecordToJSON(b, &out))
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}
