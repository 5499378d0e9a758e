package reconcile_test

import (
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
)

func changes(t *testing.T, l *lake, snap metadata.Snapshot) (added map[string]int64, removed []string) {
	t.Helper()
	added = map[string]int64{}
	require.NoError(t, reconcile.NewReader(&folder{}).EachChange(t.Context(), snap, func(c reconcile.FileChange) error {
		if c.Removed {
			removed = append(removed, c.Path)
		} else {
			added[c.Path] = c.Bytes
		}
		return nil
	}))
	return added, removed
}

func TestEachChangeIsOfTheSnapshotItself(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, carried := l.parent()
		replaced := l.manifest("m3.avro", 3,
			row{status: deleted, path: "a.parquet", records: 10, sequence: 1, snapshot: 3},
			row{status: existing, path: "b.parquet", records: 20, sequence: 1, snapshot: 1},
			row{status: added, path: "d.parquet", records: 5})
		added, removed := changes(t, l, l.snapshot(3, &parent, carried[1], replaced))
		require.Equal(t, map[string]int64{l.path("d.parquet"): 500}, added)
		require.Equal(t, []string{l.path("a.parquet")}, removed)
	})
}

// Whatever its entries say: what a snapshot's own manifest adds is its own.
func TestEachChangeBelievesNoForeignName(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, carried := l.parent()
		snap := l.snapshot(3, &parent, append(carried, l.manifest("m3.avro", 3,
			row{status: added, path: "d.parquet", records: 1000}, row{status: added, path: "e.parquet", records: 1}))...)
		l.rename(l.path("m3.avro"), 3, 12345)
		added, _ := changes(t, l, snap)
		require.Len(t, added, 2)
	})
}

func TestEachChangeHasDeleteFiles(t *testing.T) {
	l := newLake(t, 2)
	parent, carried := l.parent()
	l.positionFile("p1.parquet", []string{"a.parquet"}, []int64{0})
	snap := l.snapshot(3, &parent, append(carried, l.manifest("del1.avro", 3,
		row{status: added, path: "p1.parquet", records: 1, content: iceberg.EntryContentPosDeletes}))...)
	added, _ := changes(t, l, snap)
	require.Equal(t, map[string]int64{l.path("p1.parquet"): 100}, added)
	require.Equal(t, int64(1), count(t, snap).DeleteFiles)
}

func TestEachChangeOfInlineManifests(t *testing.T) {
	l := newLake(t, 1)
	inline := metadata.Snapshot{ID: 1, Manifests: []string{l.manifest("m.avro", 1, row{status: added, path: "a", records: 3, snapshot: 1}).FilePath()}}
	added, _ := changes(t, l, inline)
	require.Len(t, added, 1)
}

func TestEachLiveLeavesOutWhatIsDeleted(t *testing.T) {
	l := newLake(t, 2)
	parent, _ := l.parent()
	snap := l.snapshot(3, &parent, l.manifest("m3.avro", 3,
		row{status: deleted, path: "a.parquet", records: 10, sequence: 1, snapshot: 3},
		row{status: existing, path: "b.parquet", records: 20, sequence: 1, snapshot: 1}))
	r := reconcile.NewReader(&folder{})
	manifests, err := r.Manifests(t.Context(), snap)
	require.NoError(t, err)
	var live []string
	require.NoError(t, r.EachLive(t.Context(), manifests[0], func(path string) error { live = append(live, path); return nil }))
	require.Equal(t, []string{l.path("b.parquet")}, live)
}

func TestEachChangeOfWhatIsGone(t *testing.T) {
	err := reconcile.NewReader(&folder{}).EachChange(t.Context(), metadata.Snapshot{ID: 1, ManifestList: "/nowhere"}, func(reconcile.FileChange) error { return nil })
	require.Equal(t, fault.NotFound, fault.CodeOf(err))
}
