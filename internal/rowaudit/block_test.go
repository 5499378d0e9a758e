package rowaudit_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rowaudit"
	"github.com/sluice-data/sluice/models"
)

func records(n, kinds int) []rowaudit.Record {
	out := make([]rowaudit.Record, n)
	for i := range out {
		_, _ = rand.Read(out[i].Hash[:])
		out[i].Level = models.Internal
		if kind := i % kinds; kind > 0 {
			out[i].Level, out[i].Tags, out[i].Updated = models.Restricted, []string{"email", fmt.Sprint("tag", kind)}, kind%2 == 0
		}
	}
	return out
}

func TestPackAndUnpack(t *testing.T) {
	for _, c := range []struct{ rows, kinds int }{{1, 1}, {2, 2}, {rowaudit.MaxRecords, 3}, {rowaudit.MaxRecords + 1, 700}, {40_000, 40_000}} {
		all := records(c.rows, c.kinds)
		all[len(all)-1].Hash = all[0].Hash // two rows may have one identity
		want := slices.Clone(all)
		slices.SortStableFunc(want, func(a, b rowaudit.Record) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
		blocks := rowaudit.Pack(all)
		require.Len(t, blocks, (c.rows+rowaudit.MaxRecords-1)/rowaudit.MaxRecords)
		var got []rowaudit.Record
		for n, b := range blocks {
			require.Equal(t, n, b.Place)
			part, err := rowaudit.Unpack(b)
			require.NoError(t, err)
			require.EqualValues(t, len(part), b.RowCount)
			require.Equal(t, part[0].Hash[:], b.FirstHash)
			require.Equal(t, part[len(part)-1].Hash[:], b.LastHash)
			got = append(got, part...)
		}
		require.Equal(t, want, got)
		require.Equal(t, []rowaudit.Record{want[0]}, rowaudit.Find(got[:1], want[0].Hash))
	}
	require.Empty(t, rowaudit.Pack(nil))
}

func TestFind(t *testing.T) {
	all := records(100, 1)
	all[7].Hash = all[3].Hash
	twice, absent := all[3].Hash, [rowaudit.HashSize]byte{}
	got, err := rowaudit.Unpack(rowaudit.Pack(all)[0])
	require.NoError(t, err)
	require.Len(t, rowaudit.Find(got, twice), 2)
	require.Empty(t, rowaudit.Find(got, absent))
}

func TestDamagedBlocks(t *testing.T) {
	good := rowaudit.Pack(records(1000, 3))[0]
	for name, change := range map[string]func(*models.RowAuditBlock){
		"empty":         func(b *models.RowAuditBlock) { b.Content = nil },
		"other format":  func(b *models.RowAuditBlock) { b.Content[0]++ },
		"cut":           func(b *models.RowAuditBlock) { b.Content = b.Content[:len(b.Content)-1] },
		"a flipped bit": func(b *models.RowAuditBlock) { b.Content[len(b.Content)/2] ^= 1 },
		"fewer rows":    func(b *models.RowAuditBlock) { b.RowCount-- },
		"another first": func(b *models.RowAuditBlock) { b.FirstHash = make([]byte, rowaudit.HashSize) },
		"another last":  func(b *models.RowAuditBlock) { b.LastHash = b.FirstHash },
	} {
		t.Run(name, func(t *testing.T) {
			b := good
			b.Content = bytes.Clone(good.Content)
			change(&b)
			_, err := rowaudit.Unpack(b)
			require.Equal(t, fault.Internal, fault.CodeOf(err))
		})
	}
}

// Blocks come from the database, which others may have written to.
func FuzzUnpack(f *testing.F) {
	for _, kinds := range []int{1, 5} {
		f.Add(rowaudit.Pack(records(50, kinds))[0].Content)
	}
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, content []byte) {
		_, err := rowaudit.Unpack(models.RowAuditBlock{Content: content, RowCount: 50})
		require.Equal(t, fault.Internal, fault.CodeOf(err), "its hashes are not those of its row")
	})
}

// What can be read is what would be written.
func FuzzReadPlain(f *testing.F) {
	for _, kinds := range []int{1, 5} {
		sorted, err := rowaudit.Unpack(rowaudit.Pack(records(50, kinds))[0])
		require.NoError(f, err)
		f.Add(rowaudit.AppendPlain(nil, sorted))
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		got, err := rowaudit.ReadPlain(plain)
		if err != nil {
			return
		}
		again, err := rowaudit.ReadPlain(rowaudit.AppendPlain(nil, got))
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}

// A million rows: hashing, packing, and the size of what is kept.
func BenchmarkMillion(b *testing.B) {
	const rows = 1_000_000
	ids := column(arrow.PrimitiveTypes.Int64, func(to *array.Int64Builder) {
		for i := range rows {
			to.Append(int64(i))
		}
	})
	names := column(arrow.BinaryTypes.String, func(to *array.StringBuilder) {
		for i := range rows {
			to.Append(fmt.Sprint("customer-", i))
		}
	})
	batch := batchOf([]string{"id", "name"}, ids, names)
	h, err := rowaudit.NewHasher(key, []string{"id", "name"}, batch.Schema())
	require.NoError(b, err)
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			_, _ = h.Hash(batch)
		}
	})
	all := records(rows, 4)
	b.Run("pack", func(b *testing.B) {
		size := 0
		for b.Loop() {
			size = 0
			for _, block := range rowaudit.Pack(all) {
				size += len(block.Content)
			}
		}
		b.ReportMetric(float64(size)/rows, "bytes/row")
	})
	block := rowaudit.Pack(all)[0]
	b.Run("unpack a block", func(b *testing.B) {
		for b.Loop() {
			_, _ = rowaudit.Unpack(block)
		}
	})
}
