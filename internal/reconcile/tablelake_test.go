package reconcile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// tableLake is a lake whose files hold rows, and whose metadata says what they mean.
type tableLake struct {
	*lake
	doc       *metadata.Document
	head      *metadata.Snapshot
	manifests []iceberg.ManifestFile
	next      int64
	files     *folder
}

// newTableLake makes an unpartitioned table of the fields, as the metadata has them.
func newTableLake(t testing.TB, version int, fields string, older ...string) *tableLake {
	l := &tableLake{lake: newLake(t, version), next: 1, files: &folder{reads: map[string]int{}}}
	l.spec = *iceberg.UnpartitionedSpec
	l.describe(`{"spec-id": 0, "fields": []}`, append(older, fields)...)
	return l
}

// partitioned makes the table one that is partitioned by the identity of a text column.
func (l *tableLake) partitioned(column int, fields string) *tableLake {
	l.spec = iceberg.NewPartitionSpecID(1, iceberg.PartitionField{SourceIDs: []int{column}, FieldID: 1000, Name: "p", Transform: iceberg.IdentityTransform{}})
	l.schema = iceberg.NewSchema(0, iceberg.NestedField{ID: column, Name: "p", Type: iceberg.PrimitiveTypes.String})
	l.describe(fmt.Sprintf(`{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [{"field-id": 1000, "source-id": %d, "name": "p", "transform": "identity"}]}`, column), fields)
	return l
}

// describe writes the metadata: the last of the schemas is the current one.
func (l *tableLake) describe(specs string, fields ...string) {
	var schemas []string
	for id, f := range fields {
		schemas = append(schemas, fmt.Sprintf(`{"type": "struct", "schema-id": %d, "fields": [%s]}`, id, f))
	}
	raw := fmt.Sprintf(`{"format-version": %d, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": %q,
		"last-sequence-number": 0, "last-updated-ms": 1, "last-column-id": 100, "current-schema-id": %d, "schemas": [%s],
		"partition-specs": [%s], "default-spec-id": 0, "last-partition-id": 1000, "next-row-id": 0,
		"sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0, "properties": {}}`,
		max(l.version, 2), l.root, len(fields)-1, strings.Join(schemas, ","), specs)
	var err error
	l.doc, err = metadata.Parse([]byte(raw))
	require.NoError(l.t, err)
}

// columns are the Arrow fields of a file. A name may be given with its field id: "id:1".
func columns(fields ...arrow.Field) *arrow.Schema {
	for n, f := range fields {
		fields[n] = withID(f)
	}
	return arrow.NewSchema(fields, nil)
}

func withID(f arrow.Field) arrow.Field {
	name, id, ok := strings.Cut(f.Name, ":")
	f.Name = name
	if ok {
		f.Metadata = arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{id})
	}
	if s, ok := f.Type.(*arrow.StructType); ok {
		var inner []arrow.Field
		for _, field := range s.Fields() {
			inner = append(inner, withID(field))
		}
		f.Type = arrow.StructOf(inner...)
	}
	return f
}

func nullable(name string, typ arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: typ, Nullable: true}
}

// parquetOf writes rows, each a JSON object, as a Parquet file.
func parquetOf(t testing.TB, schema *arrow.Schema, rows []string, options ...parquet.WriterProperty) []byte {
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	require.NoError(t, err)
	defer record.Release()
	return parquetOfRecord(t, record, options...)
}

func parquetOfRecord(t testing.TB, record arrow.RecordBatch, options ...parquet.WriterProperty) []byte {
	return parquetOfRecordAs(t, record, pqarrow.DefaultWriterProps(), options...)
}

func parquetOfRecordAs(t testing.TB, record arrow.RecordBatch, as pqarrow.ArrowWriterProperties, options ...parquet.WriterProperty) []byte {
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(record.Schema(), &out, parquet.NewWriterProperties(options...), as)
	require.NoError(t, err)
	require.NoError(t, w.Write(record))
	require.NoError(t, w.Close())
	return out.Bytes()
}

func reader(s string) *strings.Reader { return strings.NewReader(s) }

func (l *tableLake) write(name string, raw []byte) {
	require.NoError(l.t, os.WriteFile(l.path(name), raw, 0o600))
}

// commit adds files in one snapshot, each in a manifest of its own.
func (l *tableLake) commit(rows ...row) metadata.Snapshot {
	id := l.next
	l.next++
	for n, r := range rows {
		l.manifests = append(l.manifests, l.manifest(fmt.Sprintf("m%d-%d.avro", id, n), id, r))
	}
	snap := l.snapshot(id, l.head, l.manifests...)
	l.manifests = l.listed(snap)
	l.head = &snap
	return snap
}

// data writes a data file of rows and gives its entry.
func (l *tableLake) data(name string, schema *arrow.Schema, rows ...string) row {
	l.write(name, parquetOf(l.t, schema, rows))
	return row{status: added, path: name, records: int64(len(rows))}
}

// equality writes an equality delete file and gives its entry.
func (l *tableLake) equality(name string, ids []int, schema *arrow.Schema, rows ...string) row {
	r := l.data(name, schema, rows...)
	r.content = iceberg.EntryContentEqDeletes
	r.change = func(b *iceberg.DataFileBuilder) { b.EqualityFieldIDs(ids) }
	return r
}

// positions writes a position delete file and gives its entry.
func (l *tableLake) positions(name string, paths []string, positions []int64) row {
	l.positionFile(name, paths, positions)
	return row{status: added, path: name, records: int64(len(paths)), content: iceberg.EntryContentPosDeletes}
}

// vector writes a deletion vector, with bytes before and after it, and gives its entry.
func (l *tableLake) vector(name, refers string, positions ...uint64) row {
	bitmap := dv.NewRoaringPositionBitmap()
	for _, p := range positions {
		bitmap.Set(p)
	}
	blob, err := dv.SerializeDV(bitmap)
	require.NoError(l.t, err)
	l.write(name, append(append([]byte("PFA1"), blob...), "the rest"...))
	return row{
		status: added, path: name, records: int64(len(positions)), content: iceberg.EntryContentPosDeletes, format: iceberg.PuffinFile, refers: refers,
		change: func(b *iceberg.DataFileBuilder) { b.ContentOffset(4).ContentSizeInBytes(int64(len(blob))) },
	}
}

func (l *tableLake) counter(options ...reconcile.CounterOption) *reconcile.Counter {
	return reconcile.NewCounter(l.files, options...)
}

// count counts a snapshot anew.
func (l *tableLake) count(snap metadata.Snapshot, options ...reconcile.CounterOption) reconcile.Counts {
	l.t.Helper()
	counts, err := l.counter(options...).Count(l.t.Context(), l.doc, snap)
	require.NoError(l.t, err)
	require.Equal(l.t, counts.Exact, counts.Why == "", counts.Why)
	return counts
}

// rowsLeft is the exact count of a snapshot.
func (l *tableLake) rowsLeft(snap metadata.Snapshot, options ...reconcile.CounterOption) int64 {
	l.t.Helper()
	counts := l.count(snap, options...)
	require.Empty(l.t, counts.Why)
	return counts.TotalRows
}

// object writes a row as JSON; values come as they are, strings too.
func object(members ...any) string {
	out := make(map[string]json.RawMessage)
	for n := 0; n < len(members); n += 2 {
		raw, err := json.Marshal(members[n+1])
		if err != nil {
			panic(err) // strings and numbers always marshal
		}
		out[members[n].(string)] = raw
	}
	raw, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func ids(from, to int) []string {
	var out []string
	for n := from; n < to; n++ {
		out = append(out, `{"id": `+strconv.Itoa(n)+`}`)
	}
	return out
}
