package reconcile_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// Every live file counts, whichever commit put it there; one that is deleted does not.
func TestOutsideFileOfWholeSnapshots(t *testing.T) {
	for _, version := range []int{1, 2, 3} {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			l := newLake(t, version)
			parent, manifests := l.parent()
			outside := t.TempDir() + "/theirs.parquet"
			stray := func(id int64, r row) metadata.Snapshot {
				r.path, r.records = outside, 1
				return l.snapshot(id, &parent, append(l.listed(parent), l.manifest(fmt.Sprintf("m%d.avro", id), id, r))...)
			}
			elsewhere := l.manifest(t.TempDir()+"/m.avro", 7, row{status: added, path: "x.parquet", records: 1})
			list := parent
			list.ManifestList = t.TempDir() + "/list.avro"
			for name, c := range map[string]struct {
				snapshots []metadata.Snapshot
				want      string
			}{
				"nothing":                   {nil, ""},
				"all inside":                {[]metadata.Snapshot{parent, l.snapshot(3, &parent, manifests...)}, ""},
				"an added file":             {[]metadata.Snapshot{parent, stray(4, row{status: added})}, outside},
				"a file of before":          {[]metadata.Snapshot{stray(5, row{status: existing, snapshot: 1, sequence: int64(min(version-1, 1))})}, outside},
				"a deleted file":            {[]metadata.Snapshot{stray(6, row{status: deleted, snapshot: 6, sequence: int64(min(version-1, 1))})}, ""},
				"a manifest":                {[]metadata.Snapshot{l.snapshot(7, &parent, elsewhere)}, elsewhere.FilePath()},
				"a list, which is not read": {[]metadata.Snapshot{list}, list.ManifestList},
			} {
				got, err := inspector().OutsideFile(t.Context(), l.root, c.snapshots)
				require.NoError(t, err, name)
				require.Equal(t, c.want, got, name)
			}
			_, err := inspector(reconcile.WithLimits(1, 1)).OutsideFile(t.Context(), l.root, []metadata.Snapshot{parent})
			require.Equal(t, fault.TooLarge, fault.CodeOf(err))
			require.NoError(t, os.Remove(l.path("m1.avro")))
			_, err = inspector().OutsideFile(t.Context(), l.root, []metadata.Snapshot{parent})
			require.Equal(t, fault.Invalid, fault.CodeOf(err))
		})
	}
}
