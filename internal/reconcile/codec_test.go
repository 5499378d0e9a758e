package reconcile_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
)

// recode rewrites a deflated Avro file of one block with another codec.
func recode(t testing.TB, path, codec string, pack func([]byte) []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, after, found := bytes.Cut(raw, []byte("avro.codec\x0edeflate"))
	require.True(t, found, "iceberg-go deflates")
	sync := raw[len(raw)-16:]
	header, block, found := bytes.Cut(after, sync)
	require.True(t, found)
	_, n := binary.Varint(block)
	count := block[:n]
	_, m := binary.Varint(block[n:])
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(block[n+m:])))
	require.NoError(t, err)
	packed := pack(plain)
	out := append(bytes.Clone(before), "avro.codec"...)
	out = append(binary.AppendVarint(out, int64(len(codec))), codec...)
	out = append(append(append(out, header...), sync...), count...)
	out = append(binary.AppendVarint(out, int64(len(packed))), packed...)
	require.NoError(t, os.WriteFile(path, append(out, sync...), 0o600))
}

// Writers choose the codec of their manifests.
func TestOtherCodecs(t *testing.T) {
	for codec, pack := range map[string]func([]byte) []byte{
		"null": func(b []byte) []byte { return b },
		"snappy": func(b []byte) []byte {
			return binary.BigEndian.AppendUint32(snappy.Encode(nil, b), crc32.ChecksumIEEE(b))
		},
		"zstandard": func(b []byte) []byte {
			w, err := zstd.NewWriter(nil)
			require.NoError(t, err)
			return w.EncodeAll(b, nil)
		},
	} {
		t.Run(codec, func(t *testing.T) {
			l := newLake(t, 2)
			parent, carried := l.parent()
			rows := append(l.kept()[2:], row{status: added, path: "d.parquet", records: 4})
			snap := l.snapshot(3, &parent, carried[0], l.manifest("merged.avro", 3, rows...))
			for _, path := range []string{snap.ManifestList, l.path("merged.avro"), l.path("m2.avro")} {
				recode(t, path, codec, pack)
			}
			facts, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
			require.NoError(t, err)
			require.True(t, facts.Append, facts.NotAppend)
			require.Equal(t, reconcile.Counts{
				AddedRows: 4, AddedFiles: 1, AddedBytes: 400, LiveRows: 64, LiveFiles: 4, TotalRows: 64, Exact: true,
				Partitions: []models.PartitionChange{{Partition: "city=Bern", AddedRows: 4, AddedFiles: 1}},
			}, count(t, snap))
		})
	}
}
