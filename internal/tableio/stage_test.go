package tableio_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/puffin"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/tableio"
)

// adds appends rows, JSON, in one file for each partition.
func (s *site) adds(rows string) []*tableio.Written {
	s.t.Helper()
	return []*tableio.Written{s.write(tableio.FileOptions{}, s.batch(rows))}
}

// removal is live rows of the data file that has a row of that text, by their positions.
func (s *site) removal(row string, positions ...int64) tableio.Removal {
	s.t.Helper()
	files, err := scan.New(s).Files(s.t.Context(), s.doc, nil, s.doc.CurrentSchemaID(), nil)
	require.NoError(s.t, err)
	all := s.files()
	for _, f := range files {
		rows, table := []string{}, s.parquet(f.Path)
		for _, chunk := range table.Column(1).Data().Chunks() {
			for i := range chunk.Len() {
				rows = append(rows, chunk.ValueStr(i))
			}
		}
		if !slices.Contains(rows, row) {
			continue
		}
		r := tableio.Removal{File: f, Positions: positions, Deleted: dv.NewRoaringPositionBitmap()}
		entry := slices.IndexFunc(all.data, func(e iceberg.ManifestEntry) bool { return e.DataFile().FilePath() == f.Path })
		for p := range s.deleted(all, all.data[entry]) {
			r.Deleted.Set(uint64(p)) //nolint:gosec // not negative
		}
		return r
	}
	require.Fail(s.t, "no file has the row "+row)
	return tableio.Removal{}
}

func TestRowsAreNotRemovedFromV1(t *testing.T) {
	s := newSite(t, 1, simpleFields, "")
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a"}]`)})
	before := s.paths()
	_, err := s.io().Stage(t.Context(), tableio.Delta{Table: s.ident(), Base: s.doc, Removes: []tableio.Removal{s.removal("a", 0)}})
	require.True(t, fault.Is(err, fault.Invalid), "%v", err)
	require.ErrorContains(t, err, "Upgrade it to version 2")
	require.Equal(t, before, s.paths())
}

func TestTheOperationSaysWhatASnapshotDoes(t *testing.T) {
	for version := 2; version <= 3; version++ {
		s := newSite(t, version, simpleFields, "")
		s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]`)})
		require.Equal(t, "append", s.head().Operation)
		s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("a", 0)}})
		require.Equal(t, "delete", s.head().Operation)
		s.commit(tableio.Delta{Adds: s.adds(`[{"id":2,"name":"B"}]`), Removes: []tableio.Removal{s.removal("b", 1)}, Summary: map[string]string{"sluice.write-mode": "upsert"}})
		require.Equal(t, "overwrite", s.head().Operation)
		require.Equal(t, "upsert", s.head().Summary["sluice.write-mode"])
		require.Equal(t, []string{"2 B", "3 c"}, s.read())
		_, err := s.io().Stage(t.Context(), tableio.Delta{Table: s.ident(), Base: s.doc, Removes: []tableio.Removal{{}}})
		require.Error(t, err, "there is nothing to commit")
	}
}

// One file for each partition, of the data file's own spec, whose bounds tell readers which data files it is for.
func TestPositionDeleteFiles(t *testing.T) {
	s := newSite(t, 2, simpleFields, `{"source-id":2,"field-id":1000,"name":"n","transform":"truncate[1]"}`)
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a1"},{"id":2,"name":"a2"},{"id":3,"name":"b1"}]`)})
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":4,"name":"a3"}]`)})
	s.apply(`{"action":"add-spec","spec":{"fields":[]}}`, `{"action":"set-default-spec","spec-id":-1}`)
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":5,"name":"a4"}]`)})
	s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("a3", 0), s.removal("a1", 0, 1), s.removal("b1", 0), s.removal("a4", 0)}})
	require.Empty(t, s.read())

	got := map[string]int64{}
	for _, e := range s.files().deletes {
		f := e.DataFile()
		require.Equal(t, iceberg.EntryContentPosDeletes, f.ContentType())
		got[fmt.Sprintf("%d %v", f.SpecID(), f.Partition()[1000])] += f.Count()
		table := s.parquet(f.FilePath())
		id, _ := table.Schema().Field(0).Metadata.GetValue("PARQUET:field_id")
		require.Equal(t, "2147483546", id)
		id, _ = table.Schema().Field(1).Metadata.GetValue("PARQUET:field_id")
		require.Equal(t, "2147483545", id)
		paths, last := table.Column(0).Data(), table.NumRows()-1
		require.Equal(t, paths.Chunk(0).ValueStr(0), string(f.LowerBoundValues()[2147483546]))
		require.Equal(t, paths.Chunk(0).ValueStr(int(last)), string(f.UpperBoundValues()[2147483546]))
		require.LessOrEqual(t, paths.Chunk(0).ValueStr(0), paths.Chunk(0).ValueStr(int(last)))
	}
	require.Equal(t, map[string]int64{"0 a": 3, "0 b": 1, "1 <nil>": 1}, got)
	require.Equal(t, "3", s.head().Summary["added-position-delete-files"])
	require.Equal(t, "5", s.head().Summary["added-position-deletes"])
}

func TestDeletionVectors(t *testing.T) {
	s := newSite(t, 3, simpleFields, "")
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]`)})
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":4,"name":"d"}]`)})
	s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("a", 0), s.removal("d", 0)}})
	require.Len(t, s.files().deletes, 2)
	kept := s.files().deletes
	s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("b", 2)}})
	require.Equal(t, []string{"2 b"}, s.read())

	after := s.files().deletes
	require.Len(t, after, 2, "the vector of the first file is replaced, and that of the second stays")
	require.Equal(t, "1", s.head().Summary["added-dvs"])
	require.Equal(t, "1", s.head().Summary["removed-dvs"])
	require.Equal(t, "3", s.head().Summary["total-position-deletes"])
	stayed := slices.IndexFunc(after, func(e iceberg.ManifestEntry) bool { return e.DataFile().Count() == 1 })
	require.Equal(t, iceberg.EntryStatusEXISTING, after[stayed].Status())
	require.Equal(t, kept[0].SnapshotID(), after[stayed].SnapshotID())
	require.Equal(t, kept[0].SequenceNum(), after[stayed].SequenceNum())

	fresh := after[1-stayed].DataFile()
	raw, err := s.ReadFile(t.Context(), fresh.FilePath())
	require.NoError(t, err)
	file, err := puffin.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	blob := file.Blobs()[0]
	require.Equal(t, puffin.BlobTypeDeletionVector, blob.Type)
	require.Equal(t, map[string]string{"cardinality": "2", "referenced-data-file": *fresh.ReferencedDataFile()}, blob.Properties)
	require.Equal(t, *fresh.ContentOffset(), blob.Offset)
	require.Equal(t, *fresh.ContentSizeInBytes(), blob.Length)
}

// Position deletes of a table that was of v2 go into the vector; the file goes when it was for that data file alone.
func TestVectorsTakeOverPositionDeletes(t *testing.T) {
	for name, c := range map[string]struct {
		second bool
		files  int
	}{"of one data file": {false, 1}, "of several": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, 2, simpleFields, "")
			s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]`)})
			s.commit(tableio.Delta{Adds: s.adds(`[{"id":4,"name":"d"},{"id":5,"name":"e"}]`)})
			removes, want := []tableio.Removal{s.removal("a", 0)}, []string{"3 c", "4 d", "5 e"}
			if c.second {
				removes, want = append(removes, s.removal("d", 0)), []string{"3 c", "5 e"}
			}
			s.commit(tableio.Delta{Removes: removes})
			s.apply(`{"action":"upgrade-format-version","format-version":3}`)
			s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("a", 1)}})
			require.Equal(t, want, s.read())
			require.Len(t, s.files().deletes, c.files)
		})
	}
}

// Deletes that others committed after the rows were looked up are not lost.
func TestRemovalsOfAnOlderSnapshotAreAConflict(t *testing.T) {
	s := newSite(t, 3, simpleFields, "")
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]`)})
	first := s.removal("a", 0)
	s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("b", 1)}})
	second := s.removal("c", 2)
	for _, old := range []tableio.Removal{first, second} {
		if old.File == second.File {
			s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("a", 0)}})
		}
		before := s.paths()
		_, err := s.io().Stage(t.Context(), tableio.Delta{Table: s.ident(), Base: s.doc, Removes: []tableio.Removal{old}})
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
		require.Equal(t, before, s.paths())
	}
}

func TestPositionsThatCannotBe(t *testing.T) {
	for version := 2; version <= 3; version++ {
		s := newSite(t, version, simpleFields, "")
		s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a"},{"id":2,"name":"b"}]`)})
		for _, positions := range [][]int64{{2}, {-1}, {1, 0}, {0, 0}} {
			_, err := s.io().Stage(t.Context(), tableio.Delta{Table: s.ident(), Base: s.doc, Removes: []tableio.Removal{s.removal("a", positions...)}})
			require.Error(t, err, "%v", positions)
		}
	}
}

func TestManifestsOfOthersAreCommitted(t *testing.T) {
	for version := 1; version <= 3; version++ {
		s := newSite(t, version, simpleFields, `{"source-id":2,"field-id":1000,"name":"n","transform":"identity"}`)
		var refs []tableio.ManifestRef
		for i := range 3 {
			ref, err := s.write(tableio.FileOptions{}, s.batch(fmt.Sprintf(`[{"id":%d,"name":"a"},{"id":%d}]`, 2*i, 2*i+1))).Manifest(t.Context())
			require.NoError(t, err)
			raw, err := json.Marshal(ref)
			require.NoError(t, err)
			var other tableio.ManifestRef
			require.NoError(t, json.Unmarshal(raw, &other))
			require.Equal(t, ref, other)
			refs = append(refs, other)
		}
		none, err := s.write(tableio.FileOptions{}).Manifest(t.Context())
		require.NoError(t, err)
		d := tableio.Delta{Table: s.ident(), Base: s.doc, Manifests: append(refs, none)}
		staged, err := s.io().Stage(t.Context(), d)
		require.NoError(t, err)
		staged.Discard(t.Context())
		s.commit(d)
		require.Len(t, s.read(), 6)
		require.Equal(t, "6", s.head().Summary["total-records"])
		require.Equal(t, "6", s.head().Summary["total-data-files"])
		for _, e := range s.files().data {
			require.Equal(t, s.head().ID, e.SnapshotID())
			require.Equal(t, s.head().SequenceNumber, e.SequenceNum())
		}
		for _, m := range s.files().manifests {
			require.True(t, m.Partitions()[0].ContainsNull)
			require.Equal(t, "a", string(*m.Partitions()[0].LowerBound))
		}
	}
}

func TestManifestsOfOthersAreRemoved(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	ref, err := s.write(tableio.FileOptions{TargetBytes: 1, MemoryBytes: 10}, s.batch(`[{"id":1}]`), s.batch(`[{"id":2}]`)).Manifest(t.Context())
	require.NoError(t, err)
	require.Len(t, s.paths(), 3)
	s.io().Remove(t.Context(), ref, tableio.ManifestRef{})
	require.Empty(t, s.paths())
}

// Files of a spec that is gone, as of a table that was replaced, are not committed.
func TestFilesOfAnotherSpecAreAConflict(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	s.apply(`{"action":"add-spec","spec":{"fields":[{"source-id":1,"transform":"bucket[2]","name":"b"}]}}`, `{"action":"set-default-spec","spec-id":-1}`)
	written := s.adds(`[{"id":1}]`)
	s.apply(`{"action":"set-default-spec","spec-id":0}`, `{"action":"remove-partition-specs","spec-ids":[1]}`)
	_, err := s.io().Stage(t.Context(), tableio.Delta{Table: s.ident(), Base: s.doc, Adds: written})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Len(t, s.paths(), 1)
}

func TestUndo(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		left int
	}{
		"it did not happen":   {fault.New(fault.Conflict, "Too late."), 0},
		"nobody knows":        {fault.New(fault.UnknownState, "Who knows."), 3},
		"it happened":         {nil, 3},
		"the request is over": {context.Canceled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, 2, simpleFields, "")
			staged, err := s.io().Stage(t.Context(), tableio.Delta{Table: s.ident(), Base: s.doc, Adds: s.adds(`[{"id":1}]`)})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			staged.Undo(ctx, c.err)
			require.Len(t, s.paths(), c.left)
		})
	}
}

// full is a store that takes so many files more.
type full struct {
	*site
	left int
}

func (f *full) CreateFile(ctx context.Context, location string, data []byte) error {
	if f.left--; f.left < 0 {
		return fault.New(fault.Unavailable, "The store is full.")
	}
	return f.Router.CreateFile(ctx, location, data)
}

func TestAStageThatFailsLeavesTheDataFiles(t *testing.T) {
	for version := 2; version <= 3; version++ {
		s := newSite(t, version, simpleFields, "")
		s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a"},{"id":2,"name":"b"}]`)})
		s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("a", 0)}})
		adds, removal := s.adds(`[{"id":1}]`), s.removal("b", 1)
		before := s.paths()
		for left := 0; ; left++ {
			store := &full{s, left}
			_, err := tableio.New(s, store, time.Now).Stage(t.Context(), tableio.Delta{Table: s.ident(), Base: s.doc, Adds: adds, Removes: []tableio.Removal{removal}})
			if err == nil {
				require.Equal(t, map[int]int{2: 4, 3: 5}[version], left, "manifests of data and of deletes, the deletes and the list")
				break
			}
			require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
			require.Equal(t, before, s.paths())
		}
	}
}

// What engines wrote may be anything.
func TestDamagedMetadataFiles(t *testing.T) {
	s := newSite(t, 3, simpleFields, "")
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a"},{"id":2,"name":"b"}]`)})
	s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("a", 0)}})
	removal := s.removal("b", 1)
	deletes := s.files().manifests[slices.IndexFunc(s.files().manifests, func(m iceberg.ManifestFile) bool { return m.ManifestContent() == iceberg.ManifestContentDeletes })]
	for _, location := range []string{s.head().ManifestList, deletes.FilePath()} {
		path := strings.TrimPrefix(location, "file://")
		whole, err := os.ReadFile(path) //nolint:gosec // the test's own
		require.NoError(t, err)
		for _, raw := range slices.Collect(maps.Values(map[string][]byte{"empty": {}, "cut": whole[:len(whole)/2], "noise": bytes.Repeat([]byte{0xff}, 100), "header": whole[:40]})) {
			require.NoError(t, os.WriteFile(path, raw, 0o600))
			before := s.paths()
			_, err = s.io().Stage(t.Context(), tableio.Delta{Table: s.ident(), Base: s.doc, Removes: []tableio.Removal{removal}})
			require.ErrorContains(t, err, "is damaged")
			require.Equal(t, before, s.paths())
		}
		require.NoError(t, os.WriteFile(path, whole, 0o600))
	}
	require.NoError(t, os.Remove(strings.TrimPrefix(deletes.FilePath(), "file://")))
	_, err := s.io().Stage(t.Context(), tableio.Delta{Table: s.ident(), Base: s.doc, Removes: []tableio.Removal{removal}})
	require.ErrorContains(t, err, "cannot be read")
}

// Many manifests become one, and nothing changes for readers: neither what files hold nor when they came.
func TestSmallManifestsAreMerged(t *testing.T) {
	for version := 1; version <= 3; version++ {
		s := newSite(t, version, simpleFields, `{"source-id":2,"field-id":1000,"name":"n","transform":"identity"}`)
		s.set("commit.manifest.min-count-to-merge", "5")
		files := func() map[string]string {
			out := map[string]string{}
			for _, e := range s.files().data {
				row := int64(-1)
				if id := e.DataFile().FirstRowID(); id != nil {
					row = *id
				}
				out[e.DataFile().FilePath()] = fmt.Sprint(e.SnapshotID(), e.SequenceNum(), *e.FileSequenceNum(), row, e.DataFile().Partition(), e.DataFile().Count())
			}
			return out
		}
		want, most := map[string]string{}, 0
		for i := range 13 {
			s.commit(tableio.Delta{Adds: s.adds(fmt.Sprintf(`[{"id":%d,"name":"a"},{"id":%d}]`, 2*i, 2*i+1))})
			got := files()
			for path, file := range want {
				require.Equal(t, file, got[path])
			}
			want = got
			most = max(most, len(s.files().manifests))
			require.Equal(t, fmt.Sprint(2*i+2), s.head().Summary["total-data-files"])
		}
		require.Equal(t, 5, most)
		require.Len(t, s.read(), 26)

		s.set("commit.manifest-merge.enabled", "false")
		for i := range 6 {
			s.commit(tableio.Delta{Adds: s.adds(fmt.Sprintf(`[{"id":%d}]`, 100+i))})
		}
		require.Greater(t, len(s.files().manifests), 5)
	}
}
