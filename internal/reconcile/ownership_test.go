package reconcile_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// pathID is the field id of the path in position delete files.
const pathID = 2147483546

// ownedLake is a table of four files: two of an engine, and two that the platform upserted, with the deletes of the rows that it
// replaced.
type ownedLake struct {
	*lake
	doc              *metadata.Document
	parent           metadata.Snapshot
	engine, platform iceberg.ManifestFile // data: a and b, p and q
	deletes          iceberg.ManifestFile // of rows of a, the platform's
	ownedErr         error
	askedFor         []int64
}

func newOwnedLake(t *testing.T, version int) *ownedLake {
	t.Helper()
	l := &ownedLake{lake: newLake(t, version)}
	tl := &tableLake{lake: l.lake}
	tl.describe(`{"spec-id": 0, "fields": [{"field-id": 1000, "source-id": 2, "name": "city", "transform": "identity"}]},
		{"spec-id": 1, "fields": []}, {"spec-id": 2, "fields": [{"field-id": 1000, "source-id": 2, "name": "city", "transform": "void"}]}`,
		`{"id": 1, "name": "id", "required": true, "type": "long"}, {"id": 2, "name": "city", "required": false, "type": "string"}`)
	l.doc = tl.doc
	first := l.snapshot(1, nil, l.manifest("m1.avro", 1, l.a(), l.b()))
	l.parent = l.snapshot(2, &first, append(l.listed(first), l.manifest("m2.avro", 2, l.p(), l.q()), l.manifest("d2.avro", 2, l.deleteOfA()))...)
	listed := l.listed(l.parent)
	l.engine, l.platform, l.deletes = listed[0], listed[1], listed[2]
	return l
}

func (l *ownedLake) a() row { return row{status: added, path: "a.parquet", records: 10, city: "Bern"} }
func (l *ownedLake) b() row { return row{status: added, path: "b.parquet", records: 20, city: "Genf"} }
func (l *ownedLake) p() row {
	return row{status: added, path: "p.parquet", records: 5, city: "Bern", upper: "Bern"}
}

func (l *ownedLake) q() row {
	return row{status: added, path: "q.parquet", records: 5, city: "Zug", upper: "Zug"}
}

func (l *ownedLake) deleteOfA() row {
	if l.version < 3 {
		return row{status: added, path: "pd.parquet", records: 1, city: "Bern", content: iceberg.EntryContentPosDeletes, change: named("a.parquet", l)}
	}
	return row{status: added, path: "dv.puffin", records: 1, city: "Bern", content: iceberg.EntryContentPosDeletes, format: iceberg.PuffinFile, refers: "a.parquet"}
}

// named has a position delete file name one data file by its bounds, as writers of v2 do.
func named(path string, l *ownedLake) func(*iceberg.DataFileBuilder) { return between(path, path, l) }

func between(lower, upper string, l *ownedLake) func(*iceberg.DataFileBuilder) {
	return func(b *iceberg.DataFileBuilder) {
		b.LowerBoundValues(map[int][]byte{pathID: []byte(l.path(lower))}).UpperBoundValues(map[int][]byte{pathID: []byte(l.path(upper))})
	}
}

// old is a row as a later manifest keeps it.
func old(r row, snapshot int64) row {
	r.status, r.snapshot, r.sequence, r.firstRow = existing, snapshot, snapshot, 0
	return r
}

// kept is what manifests of before become when they are written anew.
func (l *ownedLake) kept() []row {
	rows := []row{old(l.a(), 1), old(l.b(), 1), old(l.p(), 2), old(l.q(), 2)}
	for i, first := range []int64{1000, 1010, 2000, 2005} {
		rows[i].firstRow = first
	}
	return rows
}

// hurts inspects the next snapshot of the manifests, and gives the file of the platform that it hurts, without its folder.
func (l *ownedLake) hurts(t *testing.T, operation string, parent *metadata.Snapshot, manifests ...iceberg.ManifestFile) (string, error) {
	t.Helper()
	snap := l.snapshot(l.parent.ID+1, parent, manifests...)
	snap.Operation = operation
	in := l.inspection(snap, parent)
	in.Ownership = &catalog.Ownership{Document: l.doc, Before: l.parent, Owned: func(_ context.Context, ids []int64) ([]int64, error) {
		l.askedFor = append(l.askedFor, ids...)
		return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id != 2 }), l.ownedErr
	}}
	facts, err := inspector().Inspect(t.Context(), in)
	if facts.OwnershipHurts == "" {
		return "", err
	}
	require.Contains(t, facts.OwnershipHurts, l.root+"/")
	return facts.OwnershipHurts[len(l.root)+1:], err
}

func TestOwnership(t *testing.T) {
	fresh := row{status: added, path: "new.parquet", records: 4, city: "Bern"}
	change := func(n int, change func(*row)) func(*ownedLake) []iceberg.ManifestFile {
		return func(l *ownedLake) []iceberg.ManifestFile {
			rows := l.kept()
			change(&rows[n])
			return []iceberg.ManifestFile{l.manifest("m3.avro", 3, rows...), l.deletes}
		}
	}
	all := func(l *ownedLake) []iceberg.ManifestFile {
		return []iceberg.ManifestFile{l.engine, l.platform, l.deletes}
	}
	adds := func(r row) func(*ownedLake) []iceberg.ManifestFile {
		return func(l *ownedLake) []iceberg.ManifestFile { return append(all(l), l.manifest("m3.avro", 3, r)) }
	}
	for _, c := range []struct {
		name      string
		manifests func(*ownedLake) []iceberg.ManifestFile
		hurts     string
	}{
		{"append", adds(fresh), ""},
		{"overwrite of all", func(l *ownedLake) []iceberg.ManifestFile {
			return []iceberg.ManifestFile{l.manifest("m3.avro", 3, fresh)}
		}, "p.parquet"},
		{"overwrite of an engine's file, with the deletes of it", func(l *ownedLake) []iceberg.ManifestFile {
			rows := append(l.kept()[1:2], fresh, row{status: deleted, path: "a.parquet", records: 10, city: "Bern", snapshot: 3, sequence: 1})
			return []iceberg.ManifestFile{l.manifest("m3.avro", 3, rows...), l.platform}
		}, ""},
		{"overwrite of an engine's file", func(l *ownedLake) []iceberg.ManifestFile {
			return []iceberg.ManifestFile{l.manifest("m3.avro", 3, append(l.kept()[1:2], fresh)...), l.platform, l.deletes}
		}, ""},
		{"a file of the platform is left out", func(l *ownedLake) []iceberg.ManifestFile {
			rows := append(l.kept()[3:], row{status: deleted, path: "p.parquet", records: 5, city: "Bern", snapshot: 3, sequence: 2})
			return []iceberg.ManifestFile{l.engine, l.deletes, l.manifest("m3.avro", 3, rows...)}
		}, "p.parquet"},
		{"its manifest is left out", func(l *ownedLake) []iceberg.ManifestFile { return []iceberg.ManifestFile{l.engine, l.deletes} }, "p.parquet"},
		{"a file is written anew under its name", change(2, func(r *row) { r.status, r.snapshot, r.sequence, r.firstRow = added, 0, 0, 0 }), "p.parquet"},
		{"manifests are written anew", change(0, func(*row) {}), ""},
		{"an engine's file gets other numbers", change(0, func(r *row) { r.sequence = 2 }), ""},
		{"under another snapshot", change(2, func(r *row) { r.snapshot = 1 }), "p.parquet"},
		{"under another sequence number", change(3, func(r *row) { r.sequence = 1 }), "q.parquet"},
		{"with other bounds, so that readers skip it", change(3, func(r *row) { r.upper = "A" }), "q.parquet"},
		{"its manifest is said to be empty", func(l *ownedLake) []iceberg.ManifestFile {
			m := l.platform
			forged := iceberg.NewManifestFile(l.version, m.FilePath(), m.Length(), 0, 2).SequenceNum(2, 2).AddedFiles(0).ExistingFiles(0).DeletedFiles(0).Build()
			return []iceberg.ManifestFile{l.engine, forged, l.deletes}
		}, "p.parquet"},
		{"equality delete in another partition", adds(row{status: added, path: "e", records: 1, city: "Genf", content: iceberg.EntryContentEqDeletes}), ""},
		{"equality delete in its partition", adds(row{status: added, path: "e", records: 1, city: "Zug", content: iceberg.EntryContentEqDeletes}), "q.parquet"},
		{"an equality delete that is said to be old", adds(row{status: existing, snapshot: 1, sequence: 1, path: "e", records: 1, city: "Zug", content: iceberg.EntryContentEqDeletes}), "q.parquet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for version := 2; version <= 3; version++ {
				l := newOwnedLake(t, version)
				got, err := l.hurts(t, "overwrite", &l.parent, c.manifests(l)...)
				require.NoError(t, err)
				require.Equal(t, c.hurts, got, "v%d", version)
			}
		})
	}
}

// Position deletes name data files: by reference, by bounds, or in what they hold, which is not read.
func TestPositionDeletesOfOwnedFiles(t *testing.T) {
	for _, c := range []struct {
		name, city string
		change     func(*ownedLake) func(*iceberg.DataFileBuilder)
		hurts      string
	}{
		{"of an engine's file", "Bern", func(l *ownedLake) func(*iceberg.DataFileBuilder) { return named("a.parquet", l) }, ""},
		{"of the platform's", "Bern", func(l *ownedLake) func(*iceberg.DataFileBuilder) { return named("p.parquet", l) }, "p.parquet"},
		{"between", "Bern", func(l *ownedLake) func(*iceberg.DataFileBuilder) { return between("o.parquet", "q.parquet", l) }, "p.parquet"},
		{"between others", "Bern", func(l *ownedLake) func(*iceberg.DataFileBuilder) { return between("a.parquet", "o.parquet", l) }, ""},
		{"between in another partition", "Genf", func(l *ownedLake) func(*iceberg.DataFileBuilder) { return between("a.parquet", "z.parquet", l) }, ""},
		{"without bounds", "Zug", func(*ownedLake) func(*iceberg.DataFileBuilder) { return nil }, "q.parquet"},
		{"without bounds in another partition", "Genf", func(*ownedLake) func(*iceberg.DataFileBuilder) { return nil }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newOwnedLake(t, 2)
			remove := row{status: added, path: "x.parquet", records: 1, city: c.city, content: iceberg.EntryContentPosDeletes, change: c.change(l)}
			got, err := l.hurts(t, "delete", &l.parent, l.engine, l.platform, l.deletes, l.manifest("m3.avro", 3, remove))
			require.NoError(t, err)
			require.Equal(t, c.hurts, got)
		})
	}
}

// What refers to one data file is of it alone: deletion vectors, and position deletes of v3.
func TestReferencesToOwnedFiles(t *testing.T) {
	for _, format := range []iceberg.FileFormat{iceberg.PuffinFile, iceberg.ParquetFile} {
		for refers, hurts := range map[string]string{"p.parquet": "p.parquet", "b.parquet": "", "q.parquet": "q.parquet"} {
			l := newOwnedLake(t, 3)
			remove := row{status: added, path: "new.puffin", records: 1, city: "Bern", content: iceberg.EntryContentPosDeletes, format: format, refers: refers}
			got, err := l.hurts(t, "delete", &l.parent, l.engine, l.platform, l.deletes, l.manifest("m3.avro", 3, remove))
			require.NoError(t, err)
			require.Equal(t, hurts, got)
		}
	}
}

// Equality deletes in no partition reach every file, those of specs whose fields are all void too.
func TestGlobalEqualityDeletes(t *testing.T) {
	for id, spec := range map[int]iceberg.PartitionSpec{
		1: iceberg.NewPartitionSpecID(1),
		2: iceberg.NewPartitionSpecID(2, iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Name: "city", Transform: iceberg.VoidTransform{}}),
	} {
		l := newOwnedLake(t, 2)
		l.spec = spec
		everywhere := l.manifest("m3.avro", 3, row{status: added, path: "e", records: 1, value: missing, content: iceberg.EntryContentEqDeletes})
		got, err := l.hurts(t, "delete", &l.parent, l.engine, l.platform, l.deletes, everywhere)
		require.NoError(t, err)
		require.Equal(t, "p.parquet", got, "spec %d", id)
	}
}

// Without the deletes of an upsert the rows that it replaced are back beside those that replaced them.
func TestDeletesOfThePlatformStay(t *testing.T) {
	for version := 2; version <= 3; version++ {
		l := newOwnedLake(t, version)
		got, err := l.hurts(t, "overwrite", &l.parent, l.engine, l.platform)
		require.NoError(t, err)
		require.Equal(t, l.deleteOfA().path, got)

		merged := l.deleteOfA()
		merged.path, merged.records = "merged-"+merged.path, 2
		got, err = l.hurts(t, "delete", &l.parent, l.engine, l.platform, l.manifest("m3.avro", 3, merged))
		require.NoError(t, err)
		require.Empty(t, got, "an engine deletes more rows of its own file, and writes the deletes of it anew")

		got, err = l.hurts(t, "replace", &l.parent, l.engine, l.platform, l.manifest("m4.avro", 3, old(l.deleteOfA(), 2)))
		require.NoError(t, err)
		require.Empty(t, got, "manifests of deletes are written anew")

		older := old(l.deleteOfA(), 2)
		older.sequence = 1
		got, err = l.hurts(t, "replace", &l.parent, l.engine, l.platform, l.manifest("m5.avro", 3, older))
		require.NoError(t, err)
		require.Empty(t, got, "other numbers, but the deletes are there")
	}
}

// Compaction takes deletes along that reach nothing any more, whatever came after them.
func TestDeadDeletesMayGo(t *testing.T) {
	l := newOwnedLake(t, 2)
	ranged := l.deleteOfA()
	ranged.change = between("a.parquet", "z.parquet", l)
	l.deletes = l.manifest("d2.avro", 2, ranged)
	second := l.snapshot(2, nil, l.engine, l.platform, l.deletes)
	l.parent = l.snapshot(3, &second, append(l.listed(second), l.manifest("n.avro", 3, row{status: added, path: "n.parquet", records: 1, city: "Bern"}))...)
	carried := l.listed(l.parent)
	compacted := append(l.kept()[1:2], row{status: added, path: "a2.parquet", records: 9, city: "Bern"})
	got, err := l.hurts(t, "replace", &l.parent, l.manifest("m4.avro", 4, compacted...), carried[1], carried[3])
	require.NoError(t, err)
	require.Empty(t, got)
	got, err = l.hurts(t, "overwrite", &l.parent, carried[0], carried[1], carried[3])
	require.NoError(t, err)
	require.Equal(t, "pd.parquet", got)
}

// A file of the platform stays one in a manifest that an engine wrote anew.
func TestOwnedFilesInOtherManifests(t *testing.T) {
	l := newOwnedLake(t, 2)
	l.parent = l.snapshot(3, &l.parent, l.manifest("m3.avro", 3, l.kept()...), l.deletes)
	carried := l.listed(l.parent)
	remove := row{status: added, path: "e", records: 1, city: "Zug", content: iceberg.EntryContentEqDeletes}
	got, err := l.hurts(t, "delete", &l.parent, append(carried, l.manifest("m4.avro", 4, remove))...)
	require.NoError(t, err)
	require.Equal(t, "q.parquet", got)
}

// A table that is replaced has no parent in its new snapshot, and loses what was there before all the same.
func TestReplacedTablesLoseOwnedFiles(t *testing.T) {
	l := newOwnedLake(t, 2)
	got, err := l.hurts(t, "append", nil, l.manifest("m3.avro", 3, row{status: added, path: "new.parquet", records: 1}))
	require.NoError(t, err)
	require.Equal(t, "p.parquet", got)
}

func TestOwnershipOfBrokenTables(t *testing.T) {
	l := newOwnedLake(t, 2)
	require.NoError(t, os.Remove(l.platform.FilePath()))
	got, err := l.hurts(t, "overwrite", &l.parent, l.engine, l.deletes)
	require.NoError(t, err)
	require.Empty(t, got, "what nobody can read may be repaired")

	l = newOwnedLake(t, 2)
	broken := l.manifest("m3.avro", 3, l.kept()...)
	require.NoError(t, os.WriteFile(broken.FilePath(), []byte("Obj"), 0o600))
	_, err = l.hurts(t, "replace", &l.parent, broken, l.deletes)
	require.Equal(t, fault.Invalid, fault.CodeOf(err))

	l = newOwnedLake(t, 2)
	l.ownedErr = errors.New("the database is away")
	_, err = l.hurts(t, "overwrite", &l.parent, l.engine, l.deletes)
	require.ErrorIs(t, err, l.ownedErr)
}

// Who only appends pays nothing.
func TestAppendsAskForNoOwner(t *testing.T) {
	l := newOwnedLake(t, 2)
	_, err := l.hurts(t, "append", &l.parent, l.engine, l.platform, l.deletes, l.manifest("m3.avro", 3, row{status: added, path: "n.parquet", records: 1}))
	require.NoError(t, err)
	require.Empty(t, l.askedFor)
}

// Files that may lie elsewhere are read there, or a list that lies elsewhere would hide what it leaves out.
func TestOwnershipOfFilesElsewhere(t *testing.T) {
	for anyLocation, want := range map[bool]string{true: "p.parquet", false: ""} {
		l := newOwnedLake(t, 2)
		snap := l.snapshot(3, &l.parent, l.engine)
		in := l.inspection(snap, &l.parent)
		in.Location += "/elsewhere"
		in.Ownership = &catalog.Ownership{Document: l.doc, Before: l.parent, AnyLocation: anyLocation, Owned: func(context.Context, []int64) ([]int64, error) {
			return []int64{2}, nil
		}}
		files := &folder{reads: map[string]int{}}
		facts, err := reconcile.NewInspector(files, within).Inspect(t.Context(), in)
		require.NoError(t, err)
		require.NotEmpty(t, facts.OutsideFile)
		if want != "" {
			want = l.path(want)
		} else {
			require.Empty(t, files.reads)
		}
		require.Equal(t, want, facts.OwnershipHurts)
	}
}
