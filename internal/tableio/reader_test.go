package tableio_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/stretchr/testify/require"
)

// snapshotFiles is the head of a table as its manifests have it, read with nothing of what wrote it.
type snapshotFiles struct {
	manifests []iceberg.ManifestFile
	data      []iceberg.ManifestEntry
	deletes   []iceberg.ManifestEntry
}

func (s *site) files() snapshotFiles {
	s.t.Helper()
	var out snapshotFiles
	raw, err := s.ReadFile(s.t.Context(), s.head().ManifestList)
	require.NoError(s.t, err)
	out.manifests, err = iceberg.ReadManifestList(bytes.NewReader(raw))
	require.NoError(s.t, err)
	for _, m := range out.manifests {
		raw, err := s.ReadFile(s.t.Context(), m.FilePath())
		require.NoError(s.t, err)
		require.EqualValues(s.t, len(raw), m.Length())
		entries, err := iceberg.ReadManifest(m, bytes.NewReader(raw), true)
		require.NoError(s.t, err)
		require.Len(s.t, entries, int(m.AddedDataFiles()+m.ExistingDataFiles()))
		if m.ManifestContent() == iceberg.ManifestContentData {
			out.data = append(out.data, entries...)
		} else {
			out.deletes = append(out.deletes, entries...)
		}
	}
	return out
}

// parquet reads a Parquet file whole.
func (s *site) parquet(location string) arrow.Table {
	s.t.Helper()
	raw, err := s.ReadFile(s.t.Context(), location)
	require.NoError(s.t, err)
	reader, err := file.NewParquetReader(bytes.NewReader(raw))
	require.NoError(s.t, err)
	rows, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	require.NoError(s.t, err)
	table, err := rows.ReadTable(s.t.Context())
	require.NoError(s.t, err)
	return table
}

// codec is how the first column of a Parquet file is compressed.
func (s *site) codec(location string) string {
	s.t.Helper()
	raw, err := s.ReadFile(s.t.Context(), location)
	require.NoError(s.t, err)
	reader, err := file.NewParquetReader(bytes.NewReader(raw))
	require.NoError(s.t, err)
	chunk, err := reader.MetaData().RowGroup(0).ColumnChunk(0)
	require.NoError(s.t, err)
	return chunk.Compression().String()
}

// deleted gives the positions of a data file that deletes remove.
func (s *site) deleted(all snapshotFiles, e iceberg.ManifestEntry) map[int64]bool {
	s.t.Helper()
	path, out := e.DataFile().FilePath(), map[int64]bool{}
	vector := slices.IndexFunc(all.deletes, func(d iceberg.ManifestEntry) bool {
		return d.DataFile().FileFormat() == iceberg.PuffinFile && *d.DataFile().ReferencedDataFile() == path
	})
	if vector >= 0 {
		d := all.deletes[vector]
		require.GreaterOrEqual(s.t, d.SequenceNum(), e.SequenceNum())
		f := d.DataFile()
		raw, err := s.ReadFile(s.t.Context(), f.FilePath())
		require.NoError(s.t, err)
		require.EqualValues(s.t, len(raw), f.FileSizeBytes())
		bits, err := dv.DeserializeDV(raw[*f.ContentOffset():*f.ContentOffset()+*f.ContentSizeInBytes()], f.Count())
		require.NoError(s.t, err)
		for p := range bits.Positions() {
			out[int64(p)] = true //nolint:gosec // small
		}
		return out
	}
	for _, d := range all.deletes {
		f := d.DataFile()
		if f.FileFormat() == iceberg.PuffinFile || d.SequenceNum() < e.SequenceNum() || f.SpecID() != e.DataFile().SpecID() || fmt.Sprint(f.Partition()) != fmt.Sprint(e.DataFile().Partition()) {
			continue
		}
		eachRow(s.parquet(f.FilePath()), func(b arrow.RecordBatch, i int) {
			if b.Column(0).(*array.String).Value(i) == path {
				at := b.Column(1).(*array.Int64).Value(i)
				require.False(s.t, out[at], "a row is deleted twice")
				out[at] = true
			}
		})
	}
	return out
}

func eachRow(table arrow.Table, fn func(b arrow.RecordBatch, i int)) {
	batches := array.NewTableReader(table, 0)
	defer batches.Release()
	for batches.Next() {
		for i := range int(batches.RecordBatch().NumRows()) {
			fn(batches.RecordBatch(), i)
		}
	}
}

// text gives a row as its values, one after the other.
func text(b arrow.RecordBatch, i int) string {
	values := make([]string, b.NumCols())
	for c := range values {
		values[c] = b.Column(c).ValueStr(i)
		if b.Column(c).IsNull(i) {
			values[c] = "null"
		}
	}
	return strings.Join(values, " ")
}

// read gives the live rows of the table, sorted.
func (s *site) read() []string {
	s.t.Helper()
	all, out := s.files(), []string{}
	for _, e := range all.data {
		gone, at := s.deleted(all, e), int64(0)
		eachRow(s.parquet(e.DataFile().FilePath()), func(b arrow.RecordBatch, i int) {
			if !gone[at] {
				out = append(out, text(b, i))
			}
			at++
		})
		require.Equal(s.t, e.DataFile().Count(), at)
	}
	slices.Sort(out)
	return out
}
