package cases

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
)

// idFile writes a Parquet file of ids at a location, and gives its size.
func (tb *table) idFile(location string, ids ...int64) int64 {
	tb.t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{
		Name: "id", Type: arrow.PrimitiveTypes.Int64, Metadata: arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{"1"}),
	}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(ids, nil)
	record := b.NewRecordBatch()
	defer record.Release()
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &buf, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	require.NoError(tb.t, err)
	require.NoError(tb.t, w.Write(record))
	require.NoError(tb.t, w.Close())
	path := icebergtest.LocalPath(location)
	require.NoError(tb.t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(tb.t, os.WriteFile(path, buf.Bytes(), 0o600))
	return int64(buf.Len())
}

// content is a file of ids as a manifest names it.
type content struct {
	kind iceberg.ManifestEntryContent
	ids  []int64
}

// ids commits files of ids: data files and equality deletes, as an upsert stream of Flink does.
func (tb *table) ids(operation string, files ...content) string {
	tb.t.Helper()
	t := tb.load()
	made := icebergtest.Commit{SnapshotID: rand.Int64N(1<<62) + 1}
	manifests, err := tb.writer.Manifests(t.HeadList)
	require.NoError(tb.t, err)
	for _, f := range files {
		if f.kind == iceberg.EntryContentData {
			made.Rows += int64(len(f.ids))
		}
		manifests = append(manifests, tb.idManifest(t, made.SnapshotID, f))
	}
	made, err = tb.writer.Finish(t, made, operation, manifests)
	require.NoError(tb.t, err)
	update := decoded(tb.t, made.Updates[0])
	summary, _ := at(update, "snapshot", "summary").(map[string]any)
	delete(summary, "added-data-files") // it counts none of these
	made.Updates[0] = []byte(encoded(tb.t, update))
	tb.ask("POST", tb.url(), string(made.Body()), http.StatusOK)
	return fmt.Sprint(made.SnapshotID)
}

func (tb *table) idManifest(t icebergtest.Table, snapshotID int64, f content) iceberg.ManifestFile {
	tb.t.Helper()
	path := fmt.Sprintf("%s/data/%s.parquet", t.Location, uuid.NewString())
	size := tb.idFile(path, f.ids...)
	file, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, f.kind, path, iceberg.ParquetFile, nil, nil, nil, int64(len(f.ids)), size)
	require.NoError(tb.t, err)
	holds := iceberg.ManifestContentData
	if f.kind != iceberg.EntryContentData {
		holds = iceberg.ManifestContentDeletes
		file = file.EqualityFieldIDs([]int{1})
	}
	var buf bytes.Buffer
	w, err := iceberg.NewManifestWriter(t.FormatVersion, &buf, *iceberg.UnpartitionedSpec, t.Schema, snapshotID, iceberg.WithManifestWriterContent(holds))
	require.NoError(tb.t, err)
	require.NoError(tb.t, w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshotID, nil, nil, file.Build())))
	require.NoError(tb.t, w.Close())
	location := fmt.Sprintf("%s/metadata/%s-m0.avro", t.Location, uuid.NewString())
	manifest, err := w.ToManifestFile(location, int64(buf.Len()), iceberg.WithManifestFileContent(holds))
	require.NoError(tb.t, err)
	require.NoError(tb.t, tb.writer.Put(location, buf.Bytes()))
	return manifest
}
