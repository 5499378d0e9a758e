package reconcile_test

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// allocated gives the bytes that f allocates, freed ones too.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if testing.Short() { // the race detector, which -short runs with, allocates for itself
		return 0
	}
	return after.TotalAlloc - before.TotalAlloc
}

// deflatedZeros packs zeros a thousandfold.
func deflatedZeros(t testing.TB, size int) []byte {
	t.Helper()
	return deflated(t, make([]byte, 1<<20), size>>20)
}

// deflated packs content, n times.
func deflated(t testing.TB, content []byte, n int) []byte {
	t.Helper()
	var block bytes.Buffer
	w, err := flate.NewWriter(&block, flate.BestCompression)
	require.NoError(t, err)
	for range n {
		_, err = w.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return block.Bytes()
}

// withBlock gives an Avro file with one more block of so many records.
func withBlock(raw []byte, count int64, block []byte) []byte {
	mark := bytes.Clone(raw[len(raw)-16:])
	raw = binary.AppendVarint(bytes.Clone(raw), count)
	raw = binary.AppendVarint(raw, int64(len(block)))
	return append(append(raw, block...), mark...)
}

// A few small manifests that unpack to gigabytes cost an error: neither memory nor much time.
func TestManifestBombs(t *testing.T) {
	for name, block := range map[string]func(raw []byte) (int64, []byte){
		"nonsense": func([]byte) (int64, []byte) { return 1, deflatedZeros(t, 250<<20) },
		"one entry over and over": func(raw []byte) (int64, []byte) {
			_, entry := blockOf(t, raw)
			n := 100 << 20 / len(entry)
			return int64(n), deflated(t, entry, n)
		},
	} {
		t.Run(name, func(t *testing.T) { inspectBombs(t, block) })
	}
}

func inspectBombs(t *testing.T, block func(raw []byte) (count int64, packed []byte)) {
	l := newLake(t, 2)
	files, manifests := memory{}, []iceberg.ManifestFile{}
	var count int64
	var packed []byte
	for n := range 8 {
		m := l.manifest(fmt.Sprintf("m%d.avro", n), 1, row{status: added, path: "a.parquet", records: 1})
		raw, err := os.ReadFile(m.FilePath())
		require.NoError(t, err)
		if packed == nil {
			count, packed = block(raw)
		}
		files[filepath.Base(m.FilePath())] = withBlock(raw, count, packed)
		manifests = append(manifests, m)
	}
	snap := l.snapshot(1, nil, manifests...)
	list, err := os.ReadFile(snap.ManifestList)
	require.NoError(t, err)
	files[filepath.Base(snap.ManifestList)] = list
	used := allocated(func() {
		_, err = reconcile.NewInspector(files, within).Inspect(t.Context(), l.inspection(snap, nil))
		require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
		_, err = reconcile.NewCounter(files).Count(t.Context(), nil, snap)
		require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
	})
	require.Less(t, used, uint64(600<<20), "its paths, one at a time, until it is too much")
}

// Whatever the codec, and wherever the file is read.
func TestBombsOfEveryCodec(t *testing.T) {
	packer, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	for codec, block := range map[string][]byte{
		"deflate":   deflatedZeros(t, 64<<20),
		"zstandard": packer.EncodeAll(make([]byte, 64<<20), nil),
		"snappy":    append(binary.AppendUvarint(nil, 1<<31), make([]byte, 1000)...),
		"bzip2":     {1},
	} {
		t.Run(codec, func(t *testing.T) {
			l := newLake(t, 2)
			parent, carried := l.parent()
			snap := l.snapshot(3, &parent, carried[0], l.manifest("merged.avro", 3, l.kept()[2]))
			for _, name := range []string{"merged.avro", "m2.avro", "snap-3.avro"} {
				good, err := os.ReadFile(l.path(name))
				require.NoError(t, err)
				recode(t, l.path(name), codec, func([]byte) []byte { return block })
				used := allocated(func() {
					facts, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
					if name == "m2.avro" { // the parent's: its repair must stay possible
						require.NoError(t, err)
						require.Contains(t, facts.NotAppend, "cannot be read")
						return
					}
					require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
				})
				require.Less(t, used, uint64(64<<20), name)
				require.NoError(t, os.WriteFile(l.path(name), good, 0o600))
			}
		})
	}
}

// A manifest of the usual kind is read through a small window.
func TestLargeManifestsAreStreamed(t *testing.T) {
	l := newLake(t, 2)
	rows := make([]row, 20_000)
	for n := range rows {
		rows[n] = row{status: added, path: fmt.Sprintf("data/%d-%s.parquet", n, strings.Repeat("x", 400)), records: 1}
	}
	m := l.manifest("m.avro", 1, rows...)
	snap := l.snapshot(1, nil, m)
	files := memory{}
	for _, path := range []string{m.FilePath(), snap.ManifestList} {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		files[filepath.Base(path)] = raw
	}
	paths := uint64(len(rows) * (450 + len(l.root)))
	used := allocated(func() {
		counts, err := reconcile.NewCounter(files).Count(t.Context(), nil, snap)
		require.NoError(t, err)
		require.Equal(t, int64(len(rows)), counts.TotalRows)
	})
	require.Less(t, used, 3*paths, "the paths, one at a time, and little else")
}

// Lists cannot be made to hold more than they may either.
func TestListBombs(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	snap := l.snapshot(3, &parent, carried...)
	raw, err := os.ReadFile(snap.ManifestList)
	require.NoError(t, err)
	head := raw[:bytes.Index(raw, raw[len(raw)-16:])+16]
	count, record := blockOf(t, raw)
	const copies = 200_000
	packed := deflated(t, record, copies)
	require.NoError(t, os.WriteFile(snap.ManifestList, withBlock(head, count*copies, packed), 0o600))
	used := allocated(func() {
		_, err = inspector().Inspect(t.Context(), l.inspection(snap, &parent))
		require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
	})
	require.Less(t, used, uint64(512<<20))
}

// blockOf gives the records of a deflated file of one block.
func blockOf(t *testing.T, raw []byte) (count int64, plain []byte) {
	t.Helper()
	mark := raw[len(raw)-16:]
	block := raw[bytes.Index(raw, mark)+16 : len(raw)-16]
	count, n := binary.Varint(block)
	_, m := binary.Varint(block[n:])
	var out bytes.Buffer
	_, err := out.ReadFrom(flate.NewReader(bytes.NewReader(block[n+m:])))
	require.NoError(t, err)
	return count, out.Bytes()
}

// bounded is files that tell a size before they are read, and how much was read at a time.
type bounded struct {
	memory
	release chan struct{} // reads wait for it; nil: they do not
	started chan struct{}
}

func (b *bounded) ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	raw, err := b.ReadFile(ctx, location)
	if err == nil && int64(len(raw)) > limit {
		return nil, fault.New(fault.TooLarge, "too large")
	}
	if b.release != nil && strings.HasPrefix(filepath.Base(location), "m") {
		b.started <- struct{}{}
		<-b.release
	}
	return raw, err
}

// What one reader holds at a time is bounded; who waits for room gives up with its context.
func TestFilesInFlight(t *testing.T) {
	l := newLake(t, 2)
	files := &bounded{memory: memory{}, release: make(chan struct{}), started: make(chan struct{}, 100)}
	var manifests []iceberg.ManifestFile
	for n := range 8 {
		m := l.manifest(fmt.Sprintf("m%d.avro", n), 1, row{status: added, path: fmt.Sprintf("%d.parquet", n), records: 1})
		raw, err := os.ReadFile(m.FilePath())
		require.NoError(t, err)
		files.memory[filepath.Base(m.FilePath())] = raw
		manifests = append(manifests, iceberg.NewManifestFile(2, m.FilePath(), 50<<20, 0, 1).SequenceNum(1, 1).
			AddedFiles(1).AddedRows(1).ExistingFiles(0).DeletedFiles(0).Build())
	}
	snap := l.snapshot(1, nil, manifests...)
	list, err := os.ReadFile(snap.ManifestList)
	require.NoError(t, err)
	files.memory[filepath.Base(snap.ManifestList)] = list
	i := reconcile.NewInspector(files, within)
	done := make(chan error, 1)
	go func() {
		facts, err := i.Inspect(t.Context(), l.inspection(snap, nil))
		if err == nil && !facts.Append {
			err = errors.New(facts.NotAppend)
		}
		done <- err
	}()
	for range 2 {
		<-files.started
	}
	select {
	case <-files.started:
		t.Fatal("three files of 50 MB are in memory")
	case <-time.After(100 * time.Millisecond):
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = i.Inspect(ctx, l.inspection(snap, nil))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(files.release)
	require.NoError(t, <-done)
}

// A commit that carries over files of its parent beside the parent's own manifests is no append, and is not remembered.
func TestKeptBesideTheParentsManifests(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	ok, why := l.verdict(t, parent, append(carried, l.manifest("again.avro", 3, l.kept()...))...)
	require.False(t, ok)
	require.Contains(t, why, "keeps the parent's manifests as well")
}
