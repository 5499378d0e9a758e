package tableio_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/tableio"
)

// noise makes rows that do not compress: n of them with a text of so many characters.
func (s *site) noise(n, size int, from int64) arrow.RecordBatch {
	s.t.Helper()
	schema, err := tableio.Schema(s.doc)
	require.NoError(s.t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	random := rand.New(rand.NewPCG(uint64(from), 1))
	text := make([]byte, size)
	for i := range n {
		for c := range text {
			text[c] = byte(' ' + random.IntN(90))
		}
		b.Field(0).(*array.Int64Builder).Append(from + int64(i))
		b.Field(1).(*array.StringBuilder).Append(string(text))
	}
	return b.NewRecordBatch()
}

func TestFilesAreOfTheTargetSize(t *testing.T) {
	for name, o := range map[string]tableio.FileOptions{
		"of the options": {Name: "w", TargetBytes: 200 << 10},
		"of the table":   {Name: "w"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, 2, simpleFields, "")
			s.set("write.parquet.row-group-size-bytes", "50000")
			if o.TargetBytes == 0 {
				s.set("write.target-file-size-bytes", fmt.Sprint(200<<10))
			}
			w, err := s.io().NewFileWriter(t.Context(), s.doc, o)
			require.NoError(t, err)
			for i := range int64(100) {
				require.NoError(t, w.Write(s.noise(100, 100, 100*i)))
			}
			written, err := w.Close()
			require.NoError(t, err)
			require.EqualValues(t, 10_000, written.Rows)
			require.Greater(t, len(written.DataFiles), 3)
			bytes := int64(0)
			for i, f := range written.DataFiles {
				bytes += f.FileSizeBytes()
				require.Less(t, f.FileSizeBytes(), int64(300<<10))
				if i < len(written.DataFiles)-1 {
					require.GreaterOrEqual(t, f.FileSizeBytes(), int64(200<<10))
					require.Greater(t, len(f.SplitOffsets()), 2, "row groups are of the size that the table says")
				}
				require.Equal(t, fmt.Sprintf("%s/t/data/w-%05d.parquet", "file://"+s.folder, i), f.FilePath())
			}
			require.Equal(t, bytes, written.Bytes)
			s.commit(tableio.Delta{Adds: []*tableio.Written{written}})
			require.Len(t, s.read(), 10_000)
		})
	}
}

// A batch of all partitions at a time, and more partitions than there is memory for.
func TestMemoryIsBounded(t *testing.T) {
	s := newSite(t, 2, simpleFields, `{"source-id":1,"field-id":1000,"name":"b","transform":"bucket[50]"}`)
	written := s.write(tableio.FileOptions{MemoryBytes: 300 << 10}, func() (all []arrow.RecordBatch) {
		for i := range int64(20) {
			all = append(all, s.noise(1000, 100, 1000*i))
		}
		return all
	}()...)
	require.EqualValues(t, 20_000, written.Rows)
	require.Greater(t, len(written.DataFiles), 50, "files are closed to make room")
	s.commit(tableio.Delta{Adds: []*tableio.Written{written}})
	rows := s.read()
	require.Len(t, rows, 20_000)
	seen := map[string]bool{}
	for _, r := range rows {
		id, _, _ := strings.Cut(r, " ")
		require.False(t, seen[id])
		seen[id] = true
	}
}

// What others do with their batch afterwards changes nothing.
func TestBatchesMayBeReleased(t *testing.T) {
	s := newSite(t, 2, simpleFields, `{"source-id":2,"field-id":1000,"name":"p","transform":"truncate[1]"}`)
	allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
	schema, err := tableio.Schema(s.doc)
	require.NoError(t, err)
	w, err := s.io().NewFileWriter(t.Context(), s.doc, tableio.FileOptions{})
	require.NoError(t, err)
	b := array.NewRecordBuilder(allocator, schema)
	for i := range 1000 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprint(i % 3))
		if i%100 == 99 {
			rows := b.NewRecordBatch()
			require.NoError(t, w.Write(rows))
			rows.Release()
		}
	}
	b.Release()
	written, err := w.Close()
	require.NoError(t, err)
	allocator.AssertSize(t, 0)
	require.Len(t, written.DataFiles, 3)
}

func TestAnAbortedWriteLeavesNothing(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	ctx, cancel := context.WithCancel(t.Context())
	w, err := s.io().NewFileWriter(ctx, s.doc, tableio.FileOptions{TargetBytes: 1, MemoryBytes: 10})
	require.NoError(t, err)
	require.NoError(t, w.Write(s.noise(10, 10, 0)))
	require.NoError(t, w.Write(s.noise(10, 10, 10)))
	require.Eventually(t, func() bool { return len(s.paths()) == 2 }, 10*time.Second, time.Millisecond)
	cancel()
	w.Abort()
	require.Empty(t, s.paths(), "though the request is over")
	require.Error(t, w.Write(s.noise(1, 1, 0)))

	w, err = s.io().NewFileWriter(t.Context(), s.doc, tableio.FileOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(s.noise(10, 10, 0)))
	written, err := w.Close()
	require.NoError(t, err)
	w.Abort()
	require.Len(t, s.paths(), 1, "after it was closed it is not aborted")
	written.Remove(t.Context())
	require.Empty(t, s.paths())
}

// What cannot be stored is told with a later call, and no more is taken.
func TestAWriteThatCannotBeStored(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	store := &full{s, 2}
	w, err := tableio.New(s, store, time.Now).NewFileWriter(t.Context(), s.doc, tableio.FileOptions{TargetBytes: 1, MemoryBytes: 10})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return fault.Is(w.Write(s.noise(1, 1, 0)), fault.Unavailable) }, 10*time.Second, time.Microsecond)
	_, err = w.Close()
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	w.Abort()
	require.Empty(t, s.paths())
}

// A file of another write of the same name stays.
func TestFilesAreNeverOverwritten(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	s.write(tableio.FileOptions{Name: "w"}, s.noise(1, 1, 0))
	w, err := s.io().NewFileWriter(t.Context(), s.doc, tableio.FileOptions{Name: "w"})
	require.NoError(t, err)
	require.NoError(t, w.Write(s.noise(1, 1, 0)))
	_, err = w.Close()
	require.True(t, fault.Is(err, fault.AlreadyExists), "%v", err)
	w.Abort()
	require.Equal(t, []string{"data/w-00000.parquet"}, s.paths())
}

func TestCompression(t *testing.T) {
	for codec, want := range map[string]string{"": "ZSTD", "gzip": "GZIP", "SNAPPY": "SNAPPY", "lz4": "LZ4_RAW", "uncompressed": "UNCOMPRESSED", "brotli": "BROTLI"} {
		s := newSite(t, 2, simpleFields, "")
		if codec != "" {
			s.set("write.parquet.compression-codec", codec)
		}
		written := s.write(tableio.FileOptions{}, s.noise(10, 10, 0))
		require.Equal(t, want, s.codec(written.Paths[0]))
	}
	s := newSite(t, 2, simpleFields, "")
	s.set("write.parquet.compression-codec", "lzo")
	_, err := s.io().NewFileWriter(t.Context(), s.doc, tableio.FileOptions{})
	require.True(t, fault.Is(err, fault.Invalid), "%v", err)
	require.ErrorContains(t, err, `"lzo"`)
}

func TestFilesThatAreSortedSaySo(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	s.apply(`{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}}`,
		`{"action":"set-default-sort-order","sort-order-id":-1}`)
	for sorted, order := range map[bool]int{true: 1, false: 0} {
		f := s.write(tableio.FileOptions{Sorted: sorted}, s.noise(1, 1, 0)).DataFiles[0]
		require.Equal(t, order, *f.SortOrderID())
	}
}

func BenchmarkWrite(b *testing.B) {
	for name, spec := range map[string]string{"whole": "", "bucketed": `{"source-id":1,"field-id":1000,"name":"b","transform":"bucket[16]"}`} {
		b.Run(name, func(b *testing.B) {
			s := newSite(b, 2, simpleFields, spec)
			rows := s.noise(64<<10, 40, 0)
			b.ReportAllocs()
			b.SetBytes(8 * 64 << 10 * 48)
			for b.Loop() {
				w, err := s.io().NewFileWriter(b.Context(), s.doc, tableio.FileOptions{})
				require.NoError(b, err)
				for range 8 {
					require.NoError(b, w.Write(rows))
				}
				written, err := w.Close()
				require.NoError(b, err)
				written.Remove(b.Context())
			}
		})
	}
}
