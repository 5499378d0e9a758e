package reconcile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
)

func eachVersion(t *testing.T, test func(t *testing.T, l *lake)) {
	for version := 1; version <= 3; version++ {
		t.Run("v"+strconv.Itoa(version), func(t *testing.T) { test(t, newLake(t, version)) })
	}
}

// verdict inspects snapshot 3 made of the manifests over the parent.
func (l *lake) verdict(t *testing.T, parent metadata.Snapshot, manifests ...iceberg.ManifestFile) (appended bool, why string) {
	t.Helper()
	snap := l.snapshot(3, &parent, manifests...)
	facts, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
	require.NoError(t, err)
	require.Equal(t, int64(3), facts.ID)
	require.Equal(t, facts.Append, facts.NotAppend == "", "an append has no reason against it, anything else has one")
	require.Empty(t, facts.OutsideFile)
	return facts.Append, facts.NotAppend
}

func TestFirstSnapshotAndFastAppend(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		first := l.snapshot(1, nil, l.manifest("m.avro", 1, row{status: added, path: "a.parquet", records: 1}))
		facts, err := inspector().Inspect(t.Context(), l.inspection(first, nil))
		require.NoError(t, err)
		require.True(t, facts.Append, facts.NotAppend)

		parent, carried := l.parent()
		ok, why := l.verdict(t, parent, append(carried, l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4}))...)
		require.True(t, ok, why)
	})
}

func TestEmptyAppend(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	ok, why := l.verdict(t, parent, carried...)
	require.True(t, ok, why)
}

func TestMergedAppend(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, _ := l.parent()
		ok, why := l.verdict(t, parent, l.manifest("merged.avro", 3, append(l.kept(), row{status: added, path: "d.parquet", records: 4})...))
		require.True(t, ok, why)
	})
}

func TestPartlyMergedAppend(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	ok, why := l.verdict(t, parent, carried[0], l.manifest("merged.avro", 3, l.kept()[2], row{status: added, path: "d.parquet", records: 4}))
	require.True(t, ok, why)
}

// A manifest with nothing but deleted entries may go: readers do not open it.
func TestDroppingADeadManifestIsAnAppend(t *testing.T) {
	l := newLake(t, 2)
	first := l.snapshot(1, nil, l.manifest("m1.avro", 1, row{status: added, path: "a.parquet", records: 1}))
	parent := l.snapshot(2, &first, l.manifest("gone.avro", 2, row{status: deleted, path: "a.parquet", records: 1, sequence: 1}))
	ok, why := l.verdict(t, parent, l.manifest("m3.avro", 3, row{status: added, path: "b.parquet", records: 1}))
	require.True(t, ok, why)
}

func TestDeleteManifestsMayCarryOver(t *testing.T) {
	l := newLake(t, 2)
	_, carried := l.parent()
	remove := l.manifest("deletes.avro", 2, row{status: added, path: "d1.parquet", records: 1, content: iceberg.EntryContentPosDeletes})
	parent := l.snapshot(2, nil, append(carried[:1:1], remove)...)
	fresh := l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4})

	ok, why := l.verdict(t, parent, append(l.listed(parent), fresh)...)
	require.True(t, ok, why)

	kept := row{status: existing, path: "d1.parquet", records: 1, content: iceberg.EntryContentPosDeletes, snapshot: 2, sequence: 2}
	ok, why = l.verdict(t, parent, l.listed(parent)[0], l.manifest("merged-deletes.avro", 3, kept), fresh)
	require.True(t, ok, why)

	ok, why = l.verdict(t, parent, l.listed(parent)[0], fresh)
	require.False(t, ok, "the deleted rows would be back")
	require.Contains(t, why, "deletes.avro")

	kept.sequence = 1
	ok, why = l.verdict(t, parent, l.listed(parent)[0], l.manifest("older-deletes.avro", 3, kept), fresh)
	require.False(t, ok, "the delete would apply to fewer files")
	require.Contains(t, why, "another sequence number")
}

func TestWhatIsNoAppend(t *testing.T) {
	fresh := row{status: added, path: "d.parquet", records: 4}
	change := func(n int, change func(*row)) func(*lake) []row {
		return func(l *lake) []row {
			rows := append(l.kept(), fresh)
			change(&rows[n])
			return rows
		}
	}
	for _, c := range []struct {
		name string
		rows func(l *lake) []row // of the only manifest
		says string
	}{
		{"drops all", func(*lake) []row { return []row{fresh} }, "leaves out the manifest"},
		{"merge without a file", func(l *lake) []row { return append(l.kept()[1:], fresh) }, "a.parquet"},
		{"status deleted", change(1, func(r *row) { r.status = deleted }), "removes the live file"},
		{"lowered sequence number", change(2, func(r *row) { r.sequence = 1 }), "another sequence number"},
		{"raised sequence number", change(0, func(r *row) { r.sequence = 2 }), "another sequence number"},
		{"readded under a new sequence number", change(0, func(r *row) { r.status, r.sequence, r.snapshot = added, 0, 3 }), "a.parquet"},
		{"other row count", change(0, func(r *row) { r.records = 1 }), "another size"},
		{"other partition", change(0, func(r *row) { r.city = "Aarau" }), "another partition"},
		{"forged column bounds", change(0, func(r *row) { r.upper = "A" }), "column metrics"},
		{"a file that never was", change(2, func(r *row) { r.path = "x.parquet" }), "parquet"},
		{"kept twice", func(l *lake) []row { return append(l.kept(), l.kept()[0]) }, "twice"},
		{"more rows than a file can have", change(3, func(r *row) { r.records = 1 << 62 }), "more rows than a file can have"},
		{"added under an old sequence number", change(3, func(r *row) { r.sequence = 1 }), "not its own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLake(t, 2)
			parent, _ := l.parent()
			ok, why := l.verdict(t, parent, l.manifest("merged.avro", 3, c.rows(l)...))
			require.False(t, ok)
			require.Contains(t, why, c.says)
		})
	}
}

// What is said to be of another snapshot hides from those who read by snapshot.
func TestAddedUnderAnotherSnapshot(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, carried := l.parent()
		for _, other := range []int64{1, 12345} {
			m := l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4})
			l.rename(m.FilePath(), 3, other)
			ok, why := l.verdict(t, parent, append(carried, m)...)
			require.False(t, ok)
			require.Contains(t, why, "adds the file "+l.path("d.parquet")+" under a snapshot id that is not its own")
		}
		m := l.manifest("m4.avro", 3, row{status: added, path: "d.parquet", records: 4})
		other := iceberg.NewManifestFile(l.version, m.FilePath(), m.Length(), 0, 12345).SequenceNum(3, 3).
			AddedFiles(1).AddedRows(4).ExistingFiles(0).ExistingRows(0).DeletedFiles(0).DeletedRows(0).Build()
		ok, why := l.verdict(t, parent, append(carried, other)...)
		require.False(t, ok)
		require.Contains(t, why, "adds the manifest "+l.path("m4.avro")+" under a snapshot id that is not its own")
	})
}

// A v3 snapshot takes the row ids of its new rows, no fewer, or two rows would share one, and no more, or they would run out.
func TestAddedRowsAreThoseOfTheManifests(t *testing.T) {
	l := newLake(t, 3)
	parent, carried := l.parent()
	fresh := l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4})
	merged := l.manifest("merged.avro", 3, append(l.kept(), row{status: added, path: "d.parquet", records: 4})...)
	for _, c := range []struct {
		rows      int64
		manifests []iceberg.ManifestFile
		ok        bool
	}{
		{4, append(carried, fresh), true},
		{3, append(carried, fresh), false},
		{5, append(carried, fresh), false},
		{1 << 47, append(carried, fresh), false},
		{4, []iceberg.ManifestFile{merged}, true},
		{64, []iceberg.ManifestFile{merged}, true}, // engines number a new manifest as a whole
		{65, []iceberg.ManifestFile{merged}, false},
	} {
		snap := l.snapshot(3, &parent, c.manifests...)
		first := int64(3000)
		snap.FirstRowID, snap.AddedRows = &first, &c.rows
		facts, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
		require.NoError(t, err)
		require.Equal(t, c.ok, facts.Append, "%d rows: %s", c.rows, facts.NotAppend)
		if !c.ok {
			require.Contains(t, facts.NotAppend, "added-rows")
		}
	}
}

// After an upgrade to v3 the first snapshot numbers the rows that were there as well.
func TestAddedRowsAfterAnUpgrade(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	l.version = 3
	snap := l.snapshot(3, &parent, append(carried, l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4}))...)
	first, rows := int64(0), int64(64)
	snap.FirstRowID, snap.AddedRows = &first, &rows
	facts, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
	require.NoError(t, err)
	require.True(t, facts.Append, facts.NotAppend)
	rows = 65
	facts, err = inspector().Inspect(t.Context(), l.inspection(snap, &parent))
	require.NoError(t, err)
	require.False(t, facts.Append)
}

// Row ids are part of a row in v3: a merge that leaves them to be assigned anew changes every row it keeps.
func TestMergeKeepsRowIDs(t *testing.T) {
	l := newLake(t, 3)
	parent, _ := l.parent()
	rows := l.kept()
	rows[1].firstRow = 5000
	ok, why := l.verdict(t, parent, l.manifest("merged.avro", 3, rows...))
	require.False(t, ok)
	require.Contains(t, why, "row ids")
}

func TestMetricsMayBeLeftOut(t *testing.T) {
	l := newLake(t, 2)
	parent, _ := l.parent()
	rows := l.kept()
	rows[0].upper, rows[1].upper = "", ""
	ok, why := l.verdict(t, parent, l.manifest("merged.avro", 3, rows...))
	require.True(t, ok, why)
}

// Every version: a dropped manifest and a file marked deleted.
func TestLiarsOfEveryVersion(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, carried := l.parent()
		fresh := l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4})
		ok, why := l.verdict(t, parent, carried[0], fresh)
		require.False(t, ok)
		require.Contains(t, why, "m2.avro")

		gone := l.manifest("m4.avro", 3, row{status: deleted, path: "c.parquet", records: 30, snapshot: 3, sequence: 2})
		ok, why = l.verdict(t, parent, append(carried, gone)...)
		require.False(t, ok)
		require.Contains(t, why, "c.parquet")
	})
}

func TestAddedDeletesAreNoAppend(t *testing.T) {
	for _, content := range []iceberg.ManifestEntryContent{iceberg.EntryContentPosDeletes, iceberg.EntryContentEqDeletes} {
		l := newLake(t, 2)
		parent, carried := l.parent()
		ok, why := l.verdict(t, parent, append(carried, l.manifest("del.avro", 3, row{status: added, path: "x", records: 1, content: content}))...)
		require.False(t, ok)
		require.Contains(t, why, "delete manifest")
	}
}

// What a list says of a carried manifest decides whether readers open it and which deletes apply.
func TestCarriedManifestsMustBeDescribedAlike(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	m := carried[0]
	build := func(change func(*iceberg.ManifestBuilder)) iceberg.ManifestFile {
		b := iceberg.NewManifestFile(2, m.FilePath(), m.Length(), m.PartitionSpecID(), m.SnapshotID()).
			SequenceNum(m.SequenceNum(), m.MinSequenceNum()).AddedFiles(m.AddedDataFiles()).ExistingFiles(0).DeletedFiles(0).
			AddedRows(m.AddedRows()).Partitions(m.Partitions())
		change(b)
		return b.Build()
	}
	low, high := []byte("X"), []byte("Y")
	other := func(length int64, spec int32, snapshot int64) iceberg.ManifestFile {
		return iceberg.NewManifestFile(2, m.FilePath(), length, spec, snapshot).SequenceNum(m.SequenceNum(), m.MinSequenceNum()).
			AddedFiles(m.AddedDataFiles()).AddedRows(m.AddedRows()).Build()
	}
	for what, forged := range map[string]iceberg.ManifestFile{
		"": other(m.Length(), 0, 1), "length": other(m.Length()+1, 0, 1), "partition spec": other(m.Length(), 1, 1), "snapshot": other(m.Length(), 0, 3),
	} {
		ok, why := l.verdict(t, parent, forged, carried[1])
		require.Equal(t, what == "", ok, why)
		require.Contains(t, why, what)
	}
	for _, c := range []struct {
		what   string
		change func(*iceberg.ManifestBuilder)
		ok     bool
	}{
		{"", func(*iceberg.ManifestBuilder) {}, true},
		{"ranges left out", func(b *iceberg.ManifestBuilder) { b.Partitions(nil) }, true},
		{"content", func(b *iceberg.ManifestBuilder) { b.Content(iceberg.ManifestContentDeletes) }, false},
		{"sequence number", func(b *iceberg.ManifestBuilder) { b.SequenceNum(0, 0) }, false},
		{"sequence number", func(b *iceberg.ManifestBuilder) { b.SequenceNum(1, 2) }, false},
		{"count", func(b *iceberg.ManifestBuilder) { b.AddedFiles(0) }, false},
		{"count", func(b *iceberg.ManifestBuilder) { b.AddedRows(1) }, false},
		{"encryption key", func(b *iceberg.ManifestBuilder) { b.KeyMetadata([]byte("k")) }, false},
		{"partition range", func(b *iceberg.ManifestBuilder) {
			b.Partitions([]iceberg.FieldSummary{{LowerBound: &low, UpperBound: &high}})
		}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			ok, why := l.verdict(t, parent, build(c.change), carried[1])
			require.Equal(t, c.ok, ok, why)
			if !c.ok {
				require.Contains(t, why, c.what)
			}
		})
	}
	ok, why := l.verdict(t, parent, carried[0], carried[1], carried[1])
	require.False(t, ok)
	require.Contains(t, why, "twice")
}

// The list entry of a merged manifest must not make readers skip the files it keeps.
func TestMergedManifestsMustBeDescribedTruly(t *testing.T) {
	l := newLake(t, 2)
	parent, _ := l.parent()
	m := l.manifest("merged.avro", 3, l.kept()...)
	forged := func(existing int32, sequence, least int64, summaries []iceberg.FieldSummary) iceberg.ManifestFile {
		return iceberg.NewManifestFile(2, m.FilePath(), m.Length(), m.PartitionSpecID(), 3).SequenceNum(sequence, least).
			ExistingFiles(existing).ExistingRows(60).AddedFiles(0).AddedRows(0).DeletedFiles(0).Partitions(summaries).Build()
	}
	narrow := slices.Clone(m.Partitions())
	short := []byte("Genf")
	narrow[0].UpperBound = &short
	for _, c := range []struct {
		name string
		m    iceberg.ManifestFile
		says string
	}{
		{"true", forged(3, 3, 1, m.Partitions()), ""},
		{"no files", forged(0, 3, 1, m.Partitions()), "miscounts"},
		{"old", forged(3, 1, 1, m.Partitions()), "sequence number"},
		{"young", forged(3, 3, 3, m.Partitions()), "sequence number"},
		{"narrow", forged(3, 3, 1, narrow), "partition range"},
		{"no bounds", forged(3, 3, 1, []iceberg.FieldSummary{{}}), "partition range"},
		{"too many ranges", forged(3, 3, 1, []iceberg.FieldSummary{narrow[0], narrow[0]}), "partition range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ok, why := l.verdict(t, parent, c.m)
			require.Equal(t, c.says == "", ok, why)
			require.Contains(t, why, c.says)
		})
	}
}

func TestFilesOutsideTheLocation(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	elsewhere := filepath.Join(t.TempDir(), "x.parquet")
	inspect := func(snap metadata.Snapshot) string {
		facts, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
		require.NoError(t, err)
		require.False(t, facts.Append)
		return facts.OutsideFile
	}
	for _, path := range []string{elsewhere, l.root + "-2/x.parquet", l.root + "/../orders-2/x.parquet", l.root} {
		m := l.manifest("m3.avro", 3, row{status: added, path: "ok.parquet", records: 1}, row{status: added, path: path, records: 1})
		require.Equal(t, path, inspect(l.snapshot(3, &parent, append(carried, m)...)))
	}
	outside := l.manifest(l.root+"-2/m.avro", 3, row{status: added, path: "ok.parquet", records: 1})
	require.Equal(t, outside.FilePath(), inspect(l.snapshot(3, &parent, append(carried, outside)...)))

	snap := l.snapshot(3, &parent, carried...)
	snap.ManifestList = l.root + "-2/snap.avro"
	require.Equal(t, snap.ManifestList, inspect(snap), "not even opened: the file does not exist")
}

// A file elsewhere is not let in by calling it an old one; a table that has such files keeps them.
func TestFilesOutsideThatAreSaidToBeOld(t *testing.T) {
	l := newLake(t, 2)
	stray := filepath.Join(t.TempDir(), "secret.parquet")
	old := row{status: added, path: stray, records: 5}
	registered := l.snapshot(1, nil, l.manifest("m1.avro", 1, old, row{status: added, path: "a.parquet", records: 1}))
	old.status, old.snapshot, old.sequence = existing, 1, 1
	kept := l.manifest("kept.avro", 3, old, row{status: existing, path: "a.parquet", records: 1, snapshot: 1, sequence: 1})
	ok, why := l.verdict(t, registered, kept)
	require.True(t, ok, why)

	rewritten := l.snapshot(3, &registered, kept)
	rewritten.Operation = "replace"
	facts, err := inspector().Inspect(t.Context(), l.inspection(rewritten, &registered))
	require.NoError(t, err)
	require.False(t, facts.Append)
	require.Empty(t, facts.OutsideFile)

	parent, carried := l.parent()
	for _, operation := range []string{"append", "overwrite", "replace"} {
		smuggled := l.snapshot(4, &parent, append(carried, l.manifest("smuggled.avro", 4, old))...)
		smuggled.Operation = operation
		facts, err = inspector().Inspect(t.Context(), l.inspection(smuggled, &parent))
		require.NoError(t, err)
		require.False(t, facts.Append)
		require.Equal(t, stray, facts.OutsideFile)
	}
}

func TestUnreadableFiles(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	fresh := l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4})
	good := l.snapshot(3, &parent, append(carried, fresh)...)
	list, err := os.ReadFile(good.ManifestList)
	require.NoError(t, err)
	write := func(path string, raw []byte) { require.NoError(t, os.WriteFile(path, raw, 0o600)) }
	fails := func(snap metadata.Snapshot, code fault.Code, names string) {
		t.Helper()
		_, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
		require.Equal(t, code, fault.CodeOf(err), "%v", err)
		require.Contains(t, fault.PublicMessage(err), names)
	}

	missing := good
	missing.ManifestList = l.path("none.avro")
	fails(missing, fault.Invalid, "none.avro")
	none := good
	none.ManifestList = ""
	fails(none, fault.Invalid, "no manifest list")
	for _, raw := range [][]byte{nil, []byte("hello"), list[:20], list[:len(list)-1], list[:len(list)/2], append([]byte("Obj\x02"), list[4:]...)} {
		write(good.ManifestList, raw)
		fails(good, fault.Invalid, "snap-3.avro")
	}
	write(good.ManifestList, list)
	write(fresh.FilePath(), []byte("Obj"))
	fails(good, fault.Invalid, "m3.avro")
	require.NoError(t, os.Remove(fresh.FilePath()))
	fails(good, fault.Invalid, "m3.avro")

	_, err = reconcile.NewInspector(&folder{broken: true}, within).Inspect(t.Context(), l.inspection(good, &parent))
	require.Equal(t, fault.Unavailable, fault.CodeOf(err))
	require.NotContains(t, fault.PublicMessage(err), "refused", "internals stay inside")
}

// A table whose parent is broken takes no append, and still the overwrite that repairs it.
func TestBrokenParent(t *testing.T) {
	l := newLake(t, 2)
	parent, _ := l.parent()
	require.NoError(t, os.Remove(parent.ManifestList))
	ok, why := l.verdict(t, parent, l.manifest("m3.avro", 3, row{status: added, path: "d.parquet", records: 4}))
	require.False(t, ok)
	require.Contains(t, why, "parent")
}

func TestUnknownParent(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	orphan := l.snapshot(3, &parent, carried...)
	facts, err := inspector().Inspect(t.Context(), l.inspection(orphan, nil))
	require.NoError(t, err)
	require.False(t, facts.Append)
	other := metadata.Snapshot{ID: 99, ManifestList: parent.ManifestList}
	facts, err = inspector().Inspect(t.Context(), l.inspection(orphan, &other))
	require.NoError(t, err)
	require.False(t, facts.Append)
}

func TestInlineManifestsOfV1(t *testing.T) {
	l := newLake(t, 1)
	m1 := l.manifest("m1.avro", 1, row{status: added, path: "a.parquet", records: 1})
	m2 := l.manifest("m2.avro", 2, row{status: added, path: "b.parquet", records: 1})
	parent := metadata.Snapshot{ID: 1, Manifests: []string{m1.FilePath()}}
	snap := metadata.Snapshot{ID: 2, ParentID: &parent.ID, Manifests: []string{m1.FilePath(), m2.FilePath()}}
	facts, err := inspector().Inspect(t.Context(), l.inspection(snap, &parent))
	require.NoError(t, err)
	require.True(t, facts.Append, facts.NotAppend)

	bare := iceberg.NewManifestFile(1, m1.FilePath(), m1.Length(), 0, 1).
		AddedFiles(-1).ExistingFiles(-1).DeletedFiles(-1).AddedRows(-1).ExistingRows(-1).DeletedRows(-1).Build()
	listed := l.snapshot(3, &parent, bare, l.manifest("m3.avro", 3, row{status: added, path: "c.parquet", records: 1}))
	facts, err = inspector().Inspect(t.Context(), l.inspection(listed, &parent))
	require.NoError(t, err)
	require.True(t, facts.Append, "from inline manifests to a list: %s", facts.NotAppend)

	snap.Manifests = snap.Manifests[1:]
	facts, err = inspector().Inspect(t.Context(), l.inspection(snap, &parent))
	require.NoError(t, err)
	require.False(t, facts.Append)
}

func TestLimits(t *testing.T) {
	l := newLake(t, 2)
	parent, _ := l.parent()
	merged := l.snapshot(3, &parent, l.manifest("merged.avro", 3, l.kept()...))
	facts, err := inspector(reconcile.WithLimits(1, 1)).Inspect(t.Context(), l.inspection(merged, &parent))
	require.NoError(t, err)
	require.Contains(t, facts.NotAppend, "too many to verify")
	require.Contains(t, facts.NotAppend, "commit.manifest-merge.enabled")
	_, err = inspector(reconcile.WithLimits(0, 1)).Inspect(t.Context(), l.inspection(merged, &parent))
	require.Equal(t, fault.TooLarge, fault.CodeOf(err))
}

// The parent's list is not read again, a snapshot's own always: its writer may have replaced it since it was refused.
func TestListsAreCachedForParentsAlone(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	files := &folder{reads: map[string]int{}}
	i := reconcile.NewInspector(files, within)
	snap := l.snapshot(3, &parent, carried...)
	for range 3 {
		_, err := i.Inspect(t.Context(), l.inspection(snap, &parent))
		require.NoError(t, err)
	}
	require.Equal(t, map[string]int{"snap-2.avro": 1, "snap-3.avro": 3}, files.reads)
	next := l.snapshot(4, &snap, carried...)
	_, err := i.Inspect(t.Context(), l.inspection(next, &snap))
	require.NoError(t, err)
	require.Equal(t, 3, files.reads["snap-3.avro"], "now it is the parent")

	l.snapshot(3, &parent, carried[0])
	facts, err := i.Inspect(t.Context(), l.inspection(snap, &parent))
	require.NoError(t, err)
	require.False(t, facts.Append, "the replaced list counts")
}
