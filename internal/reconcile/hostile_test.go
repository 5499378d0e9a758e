package reconcile_test

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// Java finds fields by id and this verifier by name: a list in which the two disagree says two things.
func TestFieldsUnderOtherNames(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	fresh := l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4})
	snap := l.snapshot(3, &parent, append(carried, fresh)...)
	for _, file := range []struct{ path, from, to string }{
		{snap.ManifestList, `"field-id":504`, `"field-id":506`},
		{snap.ManifestList, `"field-id":500`, `"field-id":599`},
		{fresh.FilePath(), `"field-id":100`, `"field-id":101`},
		{fresh.FilePath(), `"field-id":134`, `"field-id":199`},
		{fresh.FilePath(), `"field-id":100`, `"FIELD-ID":100`}, // keys that only some readers take
		{fresh.FilePath(), `"name":"file_path"`, `"Name":"file_path"`},
		{snap.ManifestList, `"field-id":500`, `"field-ID":500`},
	} {
		raw, err := os.ReadFile(file.path)
		require.NoError(t, err)
		forged := bytes.Replace(raw, []byte(file.from), []byte(file.to), 1)
		require.NotEqual(t, raw, forged, file.from)
		require.NoError(t, os.WriteFile(file.path, forged, 0o600))
		_, err = inspector().Inspect(t.Context(), l.inspection(snap, &parent))
		require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
		require.NoError(t, os.WriteFile(file.path, raw, 0o600))
	}
	facts, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
	require.NoError(t, err)
	require.True(t, facts.Append)
}

// A megabyte that unpacks to a gigabyte must cost an error, not the memory.
func TestDecompressionBomb(t *testing.T) {
	l := newLake(t, 2)
	snap := l.snapshot(1, nil)
	var block bytes.Buffer
	w, err := flate.NewWriter(&block, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 32<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	raw, err := os.ReadFile(snap.ManifestList)
	require.NoError(t, err)
	mark := raw[len(raw)-16:]
	for range 10 {
		raw = binary.AppendVarint(raw, 1<<20)
		raw = binary.AppendVarint(raw, int64(block.Len()))
		raw = append(append(raw, block.Bytes()...), mark...)
	}
	require.NoError(t, os.WriteFile(snap.ManifestList, raw, 0o600))
	_, err = inspector().Inspect(t.Context(), l.inspection(snap, nil))
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
}

// memory is files by base name.
type memory map[string][]byte

func (m memory) ReadFile(_ context.Context, location string) ([]byte, error) {
	if raw, ok := m[filepath.Base(location)]; ok {
		return raw, nil
	}
	return nil, fault.New(fault.NotFound, "no such file")
}

// scene is an honest append with its files in memory.
func scene(t testing.TB, version int) (memory, catalog.Inspection) {
	l := newLake(t, version)
	parent, carried := l.parent()
	snap := l.snapshot(3, &parent, append(carried[:1:1], l.manifest("merged.avro", 3, l.kept()[2], row{status: added, path: "d", records: 4}))...)
	files := memory{}
	entries, err := os.ReadDir(l.root)
	require.NoError(t, err)
	for _, e := range entries {
		files[e.Name()], err = os.ReadFile(l.path(e.Name()))
		require.NoError(t, err)
	}
	return files, l.inspection(snap, &parent)
}

// FuzzInspect changes any of the files that an inspection reads. It must end in an answer or a public error, and never
// call an append what does not hold the parent's files.
func FuzzInspect(f *testing.F) {
	names := []string{"snap-3.avro", "merged.avro", "snap-2.avro", "m2.avro"}
	files, in := scene(f, 2)
	for n, name := range names {
		f.Add(n, files[name])
		f.Add(n, files[name][:len(files[name])/2])
	}
	f.Fuzz(func(t *testing.T, n int, raw []byte) {
		mutated := memory{names[uint(n)%uint(len(names))]: raw}
		for name, content := range files {
			if _, ok := mutated[name]; !ok {
				mutated[name] = content
			}
		}
		_, err := reconcile.NewInspector(mutated, within).Inspect(t.Context(), in)
		if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.TooLarge) {
			t.Fatalf("not the client's error: %v", err)
		}
	})
}

// A damaged byte anywhere in the new list and manifest ends in an answer, in every version.
func TestDamagedBytes(t *testing.T) {
	for version := 1; version <= 3; version++ {
		files, in := scene(t, version)
		for _, name := range []string{"snap-3.avro", "merged.avro"} {
			good := files[name]
			for at := version; at < len(good); at += 7 {
				bad := bytes.Clone(good)
				bad[at] ^= byte(1 + at%255)
				files[name] = bad
				_, err := reconcile.NewInspector(files, within).Inspect(t.Context(), in)
				if err != nil {
					require.Equal(t, fault.Invalid, fault.CodeOf(err), "v%d %s byte %d: %v", version, name, at, err)
				}
			}
			files[name] = good
		}
	}
}

// BenchmarkInspect is the common case: one new manifest on a table with so many, the parent's list cached.
func BenchmarkInspect(b *testing.B) {
	for _, manifests := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("manifests=%d", manifests), func(b *testing.B) {
			l := newLake(b, 2)
			list := make([]iceberg.ManifestFile, 0, manifests)
			for n := range manifests {
				list = append(list, l.manifest(fmt.Sprintf("m%d.avro", n), 1, row{status: added, path: fmt.Sprintf("f%d", n), records: 1}))
			}
			parent := l.snapshot(1, nil, list...)
			rows := make([]row, 4)
			for n := range rows {
				rows[n] = row{status: added, path: fmt.Sprintf("n%d", n), records: 1}
			}
			snap := l.snapshot(2, &parent, append(l.listed(parent), l.manifest("new.avro", 2, rows...))...)
			files := memory{}
			for _, path := range []string{parent.ManifestList, snap.ManifestList, l.path("new.avro")} {
				raw, err := os.ReadFile(path)
				require.NoError(b, err)
				files[filepath.Base(path)] = raw
			}
			i, in := reconcile.NewInspector(files, within), l.inspection(snap, &parent)
			b.ReportAllocs()
			for b.Loop() {
				facts, err := i.Inspect(context.Background(), in)
				if err != nil || !facts.Append {
					b.Fatal(facts, err)
				}
			}
		})
	}
}
