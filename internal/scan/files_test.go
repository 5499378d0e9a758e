package scan_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
)

// listed gives all files that a filter leaves of main's head.
func (l *lake) listed(raw string) []*scan.DataFile {
	l.t.Helper()
	doc := l.doc()
	files, err := scan.New(l).Files(l.t.Context(), doc, nil, l.schema().ID, bind(l.t, doc, raw))
	require.NoError(l.t, err)
	if l.keeping == nil {
		l.keeping = scan.New(l, scan.WithCache(1<<20))
	}
	for range 2 {
		kept, err := l.keeping.Files(l.t.Context(), doc, nil, l.schema().ID, bind(l.t, doc, raw))
		require.NoError(l.t, err)
		require.Equal(l.t, filePaths(files), filePaths(kept), "of manifests that are read, and of those that were")
		require.Equal(l.t, deletesOf(files), deletesOf(kept))
	}
	return files
}

func bind(t *testing.T, doc *metadata.Document, raw string) *expression.Filter {
	t.Helper()
	schema, err := doc.CurrentSchema()
	require.NoError(t, err)
	filter, err := expression.Parse(json.RawMessage(raw), schema, false)
	require.NoError(t, err)
	return filter
}

func name(path string) string { return path[len(location+"/data/"):] }

func filePaths(files []*scan.DataFile) []string {
	out := []string{}
	for _, f := range files {
		out = append(out, name(f.Path))
	}
	return out
}

// deletesOf gives the delete files of each data file.
func deletesOf(files []*scan.DataFile) map[string][]string {
	out := map[string][]string{}
	for _, f := range files {
		list := []string{}
		for _, d := range f.Deletes {
			list = append(list, name(d.Path))
		}
		slices.Sort(list)
		out[name(f.Path)] = list
	}
	return out
}

// TestFilesAreThoseOfAPlan: what Files lists at once is what all pages of a plan have, with the same deletes.
func TestFilesAreThoseOfAPlan(t *testing.T) {
	for trial := range uint64(10) {
		r := rand.New(rand.NewPCG(11, trial))
		w := newWorld(t, r)
		for range 10 {
			raw := randomExpr(r, 2, w.favourites).json()
			tasks, _ := w.everything(filter(raw), scan.WithPages(3, 2))
			want := paths(tasks)
			slices.Sort(want)
			assert.Equal(t, want, filePaths(w.listed(raw)), raw)
		}
	}
}

func TestFilesHaveTheirDeletes(t *testing.T) {
	l := partitioned(t, 3)
	a, b := map[int]any{1000: "a"}, map[int]any{1000: "b"}
	l.commit("append", l.manifest(0, l.id(), false, data("b1", b, 5), data("a1", a, 7)), l.manifest(1, l.id(), false, data("none1", nil, 5)))
	vector := deleting("vectors.puffin", iceberg.EntryContentPosDeletes, b, func(d *iceberg.DataFileBuilder) {
		d.ReferencedDataFile(location + "/data/b1").ContentOffset(4).ContentSizeInBytes(40)
	})
	vector.format = iceberg.PuffinFile
	l.commit("overwrite",
		l.manifest(0, l.id(), false, data("a2", a, 5)),
		l.manifest(0, l.id(), true, deleting("eq-a", iceberg.EntryContentEqDeletes, a, equality(1)), deleting("pos-a", iceberg.EntryContentPosDeletes, a, nil), vector),
		l.manifest(1, l.id(), true, deleting("eq-all", iceberg.EntryContentEqDeletes, nil, equality(1, 2))))
	l.commit("append", l.manifest(0, l.id(), false, data("a3", a, 5)))

	files := l.listed("")
	assert.Equal(t, []string{"a1", "a2", "a3", "b1", "none1"}, filePaths(files), "in order of path")
	assert.Equal(t, map[string][]string{
		"a1": {"eq-a", "eq-all", "pos-a"}, "a2": {"pos-a"}, "a3": {}, "b1": {"eq-all", "vectors.puffin"}, "none1": {"eq-all"},
	}, deletesOf(files), "equality deletes of no partition reach every older file")
	assert.Equal(t, map[string][]string{"b1": {"eq-all", "vectors.puffin"}, "none1": {"eq-all"}}, deletesOf(l.listed(`{"type":"eq","term":"kind","value":"b"}`)))

	first, last := files[0], files[4]
	assert.Equal(t, "parquet", first.Format)
	assert.Equal(t, map[int]any{1000: "a"}, first.Partition)
	assert.EqualValues(t, 7, first.Records)
	assert.EqualValues(t, 1007, first.Size)
	assert.EqualValues(t, 1, first.Sequence)
	assert.EqualValues(t, 5, *first.FirstRowID)
	assert.Equal(t, 1, last.SpecID)
	assert.Equal(t, files[1].PartitionKey, first.PartitionKey)
	assert.NotEqual(t, files[3].PartitionKey, first.PartitionKey)

	byName := map[string]*scan.DeleteFile{}
	for _, f := range files {
		for _, d := range f.Deletes {
			if known := byName[name(d.Path)]; known != nil {
				assert.Same(t, known, d, "a delete file is one, whatever it reaches")
			}
			byName[name(d.Path)] = d
		}
	}
	assert.Equal(t, []string{"eq-a", "eq-all", "pos-a", "vectors.puffin"}, slices.Sorted(maps.Keys(byName)))
	assert.Equal(t, scan.EqualityDeletes, byName["eq-all"].Content)
	assert.Equal(t, []int{1, 2}, byName["eq-all"].EqualityIDs)
	assert.EqualValues(t, 2, byName["eq-all"].Sequence)
	assert.Equal(t, scan.PositionDeletes, byName["pos-a"].Content)
	assert.Equal(t, first.PartitionKey, byName["pos-a"].PartitionKey)
	assert.Empty(t, byName["pos-a"].Referenced)
	v := byName["vectors.puffin"]
	assert.Equal(t, []any{scan.DeletionVector, "puffin", location + "/data/b1", int64(4), int64(40)}, []any{v.Content, v.Format, v.Referenced, v.Offset, v.Length})
}

// Fields that are void leave a spec without partitions, so that its equality deletes reach every file too.
func TestEqualityDeletesOfAVoidSpecReachAll(t *testing.T) {
	schema := schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64), field(2, "kind", iceberg.PrimitiveTypes.String))
	l := newLake(t, 2, schema, specOf(0, iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Transform: identity, Name: "kind"}),
		specOf(1, iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1001, Transform: iceberg.VoidTransform{}, Name: "kind_gone"}))
	l.commit("append", l.manifest(0, l.id(), false, data("a", map[int]any{1000: "a"}, 1)), l.manifest(1, l.id(), false, data("plain", map[int]any{1001: nil}, 1)))
	l.commit("delete", l.manifest(1, l.id(), true, deleting("eq", iceberg.EntryContentEqDeletes, map[int]any{1001: nil}, equality(1))))
	assert.Equal(t, map[string][]string{"a": {"eq"}, "plain": {"eq"}}, deletesOf(l.listed("")))
	assert.Equal(t, map[string][]string{"a": {"eq"}, "plain": {"eq"}}, deletesOf(l.listed(`{"type":"eq","term":"kind","value":"a"}`)))
}

func TestFilesHaveStatistics(t *testing.T) {
	l := bounded(t, iceberg.PrimitiveTypes.Int64, func(b *iceberg.DataFileBuilder) {
		bounds(bin(t, iceberg.Int64Literal(1)), bin(t, iceberg.Int64Literal(9)))(b)
		b.KeyMetadata([]byte{1})
	})
	f := l.listed("")[0]
	assert.Equal(t, bin(t, iceberg.Int64Literal(1)), f.Lower[1])
	assert.Equal(t, bin(t, iceberg.Int64Literal(9)), f.Upper[1])
	assert.EqualValues(t, 10, f.Values[1])
	assert.Contains(t, f.Nulls, 1)
	assert.True(t, f.Encrypted)
}

func TestFilesOfWhatIsNotThere(t *testing.T) {
	l := events(t, 2)
	p, doc := scan.New(l), l.doc()
	gone, first := int64(77), int64(1)
	_, err := p.Files(t.Context(), doc, &gone, 0, nil)
	requireInvalid(t, err, "77")
	_, err = p.Files(t.Context(), doc, nil, 9, nil)
	requireInvalid(t, err, "schema 9")
	files, err := p.Files(t.Context(), doc, &first, 0, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"a1", "b1"}, filePaths(files), "of the snapshot, and all without a filter")
	files, err = p.Files(t.Context(), doc, nil, 0, expression.None())
	require.NoError(t, err)
	assert.Empty(t, files)

	clear(l.files)
	_, err = p.Files(t.Context(), doc, nil, 0, nil)
	assert.Equal(t, fault.Internal, fault.CodeOf(err))

	empty := newLake(t, 2, schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64)))
	assert.Empty(t, empty.listed(""))
}
