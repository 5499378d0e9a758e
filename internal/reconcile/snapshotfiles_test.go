package reconcile_test

import (
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

// What a snapshot adds is what it adds itself: not what it carries over, in whatever manifest, and no delete files.
func TestAddedFiles(t *testing.T) {
	eachVersion(t, func(t *testing.T, l *lake) {
		parent, carried := l.parent()
		d, e := row{status: added, path: "d.parquet", records: 4}, row{status: added, path: "e.parquet", records: 4}
		manifests := append(carried, l.manifest("m3.avro", 3, d), l.manifest("m4.avro", 3, e))
		want := []string{l.path("d.parquet"), l.path("e.parquet")}
		if l.version > 1 {
			manifests = append(manifests, l.manifest("deletes.avro", 3, row{status: added, path: "d1.parquet", records: 1, content: iceberg.EntryContentPosDeletes}))
		}
		got, err := inspector().AddedFiles(t.Context(), l.snapshot(3, &parent, manifests...), 10)
		require.NoError(t, err)
		require.Equal(t, want, got)
		got, err = inspector().AddedFiles(t.Context(), l.snapshot(3, &parent, manifests...), 1)
		require.NoError(t, err)
		require.Equal(t, want[:1], got)

		merged := l.manifest("merged.avro", 3, append(l.kept(), d)...)
		got, err = inspector().AddedFiles(t.Context(), l.snapshot(3, &parent, merged), 10)
		require.NoError(t, err)
		require.Equal(t, want[:1], got)
	})
}

func TestManifestsOfASnapshot(t *testing.T) {
	l := newLake(t, 2)
	snap := l.snapshot(3, nil, l.manifest("m1.avro", 3, row{status: added, path: "a.parquet", records: 1}), l.manifest("m2.avro", 3, row{status: added, path: "b.parquet", records: 1}))
	got, err := inspector().Manifests(t.Context(), snap)
	require.NoError(t, err)
	require.Equal(t, []string{l.path("m1.avro"), l.path("m2.avro")}, got)
	snap.ManifestList = l.path("gone.avro")
	_, err = inspector().Manifests(t.Context(), snap)
	require.True(t, fault.Is(err, fault.Invalid), err)
	_, err = inspector().AddedFiles(t.Context(), snap, 10)
	require.True(t, fault.Is(err, fault.Invalid), err)
}
