package tableread_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/tableread"
)

// twoLevelList writes the lists [1,2], NULL, [] and [3] as older writers did.
func twoLevelList(t testing.TB) []byte {
	element, err := schema.NewPrimitiveNode("array", parquet.Repetitions.Repeated, parquet.Types.Int32, 2, -1)
	require.NoError(t, err)
	list, err := schema.NewGroupNodeConverted("l", parquet.Repetitions.Optional, schema.FieldList{element}, schema.ConvertedTypes.List, 1)
	require.NoError(t, err)
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{list}, -1)
	require.NoError(t, err)
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	group, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	column, err := group.NextColumn()
	require.NoError(t, err)
	_, err = column.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{1, 2, 3}, []int16{2, 2, 0, 1, 2}, []int16{0, 1, 0, 0, 0})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func longs(t testing.TB, from, to int) arrow.RecordBatch {
	var rows []string
	for n := from; n < to; n++ {
		rows = append(rows, fmt.Sprintf(`{"id": %d, "text": "row %d"}`, n, n%50))
	}
	return batchOf(t, arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64)), col(2, "text", arrow.BinaryTypes.String)}, nil), rows...)
}

func longLake(t testing.TB) *lake { return newLake(t, 2, idField+","+optional("2", "text", "string")) }

// What cannot be read is told by its name, and whose fault it is.
func TestFilesThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   fault.Code
		damage func(l *lake, e *entry)
	}{
		{"missing", fault.Internal, func(l *lake, e *entry) { require.NoError(t, os.Remove(filepath.Join(l.root, e.path))) }},
		{"empty", fault.Internal, func(l *lake, e *entry) { l.write(e.path, nil) }},
		{"cut", fault.Internal, func(l *lake, e *entry) {
			raw, _ := os.ReadFile(filepath.Join(l.root, e.path))
			l.write(e.path, raw[:len(raw)/2])
		}},
		{"of more rows than its manifest says", fault.Internal, func(_ *lake, e *entry) { e.records++ }},
		{"encrypted", fault.Unsupported, func(_ *lake, e *entry) {
			e.change = func(b *iceberg.DataFileBuilder) { b.KeyMetadata([]byte{1}) }
		}},
		{"ORC", fault.Unsupported, func(_ *lake, e *entry) { e.format = iceberg.OrcFile }},
		{"with an encrypted footer", fault.Unsupported, func(l *lake, e *entry) {
			raw, _ := os.ReadFile(filepath.Join(l.root, e.path))
			copy(raw[len(raw)-4:], "PARE")
			l.write(e.path, raw)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := longLake(t)
			require.NoError(t, os.Mkdir(filepath.Join(l.root, "text=secret"), 0o700))
			e := l.data("text=secret/a.parquet", longs(t, 0, 100))
			c.damage(l, &e)
			l.commit(e)
			err := l.fails(l.scan())
			require.Equal(t, c.code, fault.CodeOf(err), err)
			require.Contains(t, fault.PublicMessage(err), "a.parquet")
			require.NotContains(t, fault.PublicMessage(err), "=", "folders are named after values")
			_, err = l.reader(tableread.Options{}).Page(t.Context(), l.scan(), []int{1}, nil, 5)
			require.Equal(t, c.code, fault.CodeOf(err), err)
		})
	}
}

// brokenStore fails after some reads.
type brokenStore struct {
	*objects.FileStore
	left atomic.Int64
}

type brokenFile struct {
	objects.File
	store *brokenStore
}

func (s *brokenStore) OpenFile(ctx context.Context, location string) (objects.File, error) {
	f, err := s.FileStore.OpenFile(ctx, location)
	return brokenFile{f, s}, err
}

func (f brokenFile) ReadAt(p []byte, off int64) (int, error) {
	if f.store.left.Add(-1) < 0 {
		return 0, errors.New("connection refused")
	}
	return f.File.ReadAt(p, off)
}

func TestStoreThatFails(t *testing.T) {
	l := longLake(t)
	l.commit(l.data("a.parquet", longs(t, 0, 1000)))
	failed := 0
	for reads := range int64(4) {
		store := &brokenStore{FileStore: l.store}
		store.left.Store(reads)
		r := tableread.New(store, scan.New(l.store), tableread.Options{})
		if _, err := r.Scan(t.Context(), l.scan(), func(arrow.RecordBatch) error { return nil }); err != nil {
			require.True(t, fault.Is(err, fault.Unavailable), err)
			failed++
		}
	}
	require.Positive(t, failed)
}

// No damage to a file's bytes panics, hangs or is passed off as an answer with other rows than it has.
func TestDamagedFiles(t *testing.T) {
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		l := longLake(t)
		e := l.data("a.parquet", longs(t, 0, 300), parquet.WithDataPageSize(400), parquet.WithMaxRowGroupLength(120), parquet.WithDataPageVersion(version), parquet.WithBatchSize(32))
		l.commit(e)
		whole, err := os.ReadFile(filepath.Join(l.root, "a.parquet"))
		require.NoError(t, err)
		g := rand.New(rand.NewPCG(7, uint64(version)))
		for range 250 {
			raw := bytes.Clone(whole)
			for range g.IntN(3) + 1 {
				at := g.IntN(len(raw))
				if g.IntN(2) == 0 {
					at = len(raw) - 1 - g.IntN(min(900, len(raw)))
				}
				raw[at] = byte(g.IntN(256))
			}
			l.write("a.parquet", raw)
			rows := int64(0)
			_, err := l.reader(tableread.Options{}).Scan(t.Context(), l.scan(), func(b arrow.RecordBatch) error {
				rows += b.NumRows()
				return nil
			})
			if err == nil {
				require.Equal(t, e.records, rows)
				continue
			}
			require.NotEmpty(t, fault.PublicMessage(err))
			_, err = l.reader(tableread.Options{}).Page(t.Context(), l.scan("text"), []int{1}, &tableread.Position{Key: []byte{1, 0x80, 0, 0, 0, 0, 0, 0, 50}}, 20)
			_ = err
		}
	}
}

// sameTexts is a table of one file, which has a long text once for all of its rows.
func sameTexts(t *testing.T, rows, length int) *lake {
	v, err := schema.NewPrimitiveNodeLogical("v", parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, 1)
	require.NoError(t, err)
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{v}, -1)
	require.NoError(t, err)
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryPageSizeLimit(64<<20), parquet.WithStats(false))))
	group, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	column, err := group.NextColumn()
	require.NoError(t, err)
	values := slices.Repeat([]parquet.ByteArray{bytes.Repeat([]byte("x"), length)}, rows)
	_, err = column.(*file.ByteArrayColumnChunkWriter).WriteBatch(values, nil, nil)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Less(t, out.Len(), 1<<20)

	l := newLake(t, 2, optional("1", "v", "string"))
	l.write("a.parquet", out.Bytes())
	l.commit(entry{path: "a.parquet", records: int64(len(values))})
	return l
}

// Few bytes that stand for large values over and over are read in batches of the usual size.
func TestLargeValuesOverAndOver(t *testing.T) {
	const rows, length = 2000, 100_000
	l := sameTexts(t, rows, length)
	for _, where := range []string{"", "v <> 'x'"} {
		left := int64(rows)
		_, err := l.reader(tableread.Options{}).Scan(t.Context(), l.where(l.scan(), where), func(b arrow.RecordBatch) error {
			left -= b.NumRows()
			require.Less(t, b.NumRows()*length, int64(32<<20))
			return nil
		})
		require.NoError(t, err)
		require.Zero(t, left)
	}
}

// A page whose rows take more memory than there is for pages is shorter, and all rows are on some page.
func TestPagesThatAreTooLarge(t *testing.T) {
	const rows, length, memory = 2000, 100_000, 64 << 20
	l := sameTexts(t, rows, length)
	r := l.reader(tableread.Options{Memory: memory})
	var after *tableread.Position
	for left := int64(rows); left > 0; {
		page, err := r.Page(t.Context(), l.scan(), nil, after, rows)
		require.NoError(t, err)
		n := page.Rows.NumRows()
		require.Less(t, n*length, int64(memory/8))
		require.GreaterOrEqual(t, r.Held(), n*length)
		left -= n
		require.Equal(t, left > 0, page.More)
		after = &page.Last
		page.Release()
		require.Zero(t, r.Held())
	}
}

// A page has one row at least, however large that is.
func TestPagesOfOneLargeRow(t *testing.T) {
	l := sameTexts(t, 3, 5<<20)
	page, err := l.reader(tableread.Options{Memory: 8 << 20}).Page(t.Context(), l.scan(), nil, nil, 3)
	require.NoError(t, err)
	defer page.Release()
	require.EqualValues(t, 1, page.Rows.NumRows())
	require.True(t, page.More)
}

// What a page remembers of the rows on it is bounded too.
func TestOrdersThatAreTooLarge(t *testing.T) {
	l := sameTexts(t, 300, 100_000)
	_, err := l.reader(tableread.Options{Memory: 8 << 20}).Page(t.Context(), l.scan(), []int{1}, nil, 200)
	require.True(t, fault.Is(err, fault.TooLarge), "%v", err)
	page, err := l.reader(tableread.Options{Memory: 8 << 20}).Page(t.Context(), l.scan(), []int{1}, nil, 9)
	require.NoError(t, err)
	defer page.Release()
	require.EqualValues(t, 9, page.Rows.NumRows())
}

// Deletion vectors count among what a read holds.
func TestVectorsAreHeld(t *testing.T) {
	const rows = 20_000
	removed := make([]int64, 0, rows/2)
	for row := int64(0); row < rows; row += 2 {
		removed = append(removed, row)
	}
	var held []int64
	for _, has := range []bool{false, true} {
		l := newLake(t, 3, idField+","+optional("2", "text", "string"))
		entries, left := []entry{l.data("a.parquet", longs(t, 0, rows))}, rows
		if has {
			entries, left = append(entries, l.vector("v.puffin", "a.parquet", removed...)), rows/2
		}
		l.commit(entries...)
		r, most := l.reader(tableread.Options{Workers: 1}), int64(0)
		_, err := r.Scan(t.Context(), l.scan(), func(b arrow.RecordBatch) error {
			left -= int(b.NumRows())
			most = max(most, r.Held())
			return nil
		})
		require.NoError(t, err)
		require.Zero(t, left)
		require.Zero(t, r.Held())
		held = append(held, most)
	}
	require.GreaterOrEqual(t, held[1]-held[0], int64(rows/8), "a bit for each row")
}

// Values of which a few rows already take too much are refused.
func TestValuesThatAreTooLarge(t *testing.T) {
	l := sameTexts(t, 20, 40<<20)
	require.True(t, fault.Is(l.fails(l.scan()), fault.TooLarge))
}

// A read that is cancelled, or whose taker fails, ends at once and leaves nothing running.
func TestReadsThatEndEarly(t *testing.T) {
	l := longLake(t)
	for n := range 6 {
		l.commit(l.data(fmt.Sprintf("f%d.parquet", n), longs(t, n*2000, (n+1)*2000), parquet.WithMaxRowGroupLength(500)))
	}
	before := runtime.NumGoroutine()
	r := l.reader(tableread.Options{Workers: 3})
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := r.Scan(ctx, l.scan(), func(arrow.RecordBatch) error {
			cancel()
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		own := errors.New("the client is gone")
		_, err = r.Scan(t.Context(), l.scan(), func(arrow.RecordBatch) error { return own })
		require.Equal(t, own, err)
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, 5*time.Second, 10*time.Millisecond)
	stats, err := r.Scan(t.Context(), l.scan(), func(arrow.RecordBatch) error { return nil })
	require.NoError(t, err, "nothing is held of the reads before")
	require.Equal(t, int64(12000), stats.Rows)
}

// Row groups and files that cannot have rows are not read.
func TestWhatIsNotRead(t *testing.T) {
	l := longLake(t)
	for n := range 4 {
		l.commit(l.data(fmt.Sprintf("f%d.parquet", n), longs(t, n*1000, (n+1)*1000), parquet.WithMaxRowGroupLength(100)))
	}
	r := l.reader(tableread.Options{})
	stats, err := r.Scan(t.Context(), l.where(l.scan(), "id = 1234"), func(arrow.RecordBatch) error { return nil })
	require.NoError(t, err)
	require.Equal(t, int64(1), stats.Rows)
	require.Equal(t, int64(1), stats.RowGroups)
	require.Equal(t, int64(39), stats.RowGroupsPruned)

	page, err := r.Page(t.Context(), l.scan("id"), []int{1}, nil, 10)
	require.NoError(t, err)
	first := page.Stats.RowGroups
	for range 150 {
		page, err = r.Page(t.Context(), l.scan("id"), []int{1}, &page.Last, 10)
		require.NoError(t, err)
		require.LessOrEqual(t, page.Stats.RowGroups, first+3, "a later page costs no more")
	}
	require.Equal(t, `{"id":1500}`, rowsOf(t, page.Rows)[0])
}

// FuzzDataFile reads files of any bytes: an answer or an error, and no panic.
func FuzzDataFile(f *testing.F) {
	made := longLake(f)
	e := made.data("a.parquet", longs(f, 0, 40), parquet.WithDataPageSize(100), parquet.WithMaxRowGroupLength(15))
	made.commit(e)
	whole, err := os.ReadFile(filepath.Join(made.root, "a.parquet"))
	require.NoError(f, err)
	f.Add(whole)
	f.Add(twoLevelList(f))
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, raw []byte) {
		l := *made
		l.t = t
		l.write("a.parquet", raw)
		r := l.reader(tableread.Options{Memory: 64 << 20})
		rows := int64(0)
		_, err := r.Scan(t.Context(), l.where(l.scan(), "id > 3 AND text IS NOT NULL"), func(b arrow.RecordBatch) error {
			rows += b.NumRows()
			return nil
		})
		if err == nil {
			require.LessOrEqual(t, rows, e.records)
		}
		_, _ = r.Page(t.Context(), l.scan("text"), []int{1}, nil, 7)
	})
}
