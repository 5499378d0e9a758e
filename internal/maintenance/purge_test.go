package maintenance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
)

func TestAPurgeDeletesEverythingOfTheTableAndNothingElse(t *testing.T) {
	l := newLake(t)
	orders, sibling := l.table("orders"), l.table("orders2")
	orders.append(3)
	orders.append(2)
	sibling.append(2)
	statistics := orders.location + "/metadata/stats.puffin"
	require.NoError(t, l.writer.Put(statistics, make([]byte, 50)))
	head, _ := orders.doc.CurrentSnapshotID()
	orders.apply(json.RawMessage(fmt.Sprintf(`{"action":"set-statistics","snapshot-id":%d,"statistics":{"snapshot-id":%d,
		"statistics-path":%q,"file-size-in-bytes":50,"file-footer-size-in-bytes":10,"blob-metadata":[]}}`, head, head, statistics)))
	other, bytes, files := l.left("orders2"), l.size("orders"), len(l.left("orders"))
	require.NotZero(t, files)

	done, err := l.purge(orders, maintenance.FileSet{})
	require.NoError(t, err)
	require.Empty(t, l.left("orders"))
	require.Equal(t, other, l.left("orders2"))
	require.Equal(t, int64(files), done.Files)
	require.Equal(t, bytes, done.Bytes)
	again, err := l.purge(orders, maintenance.FileSet{})
	require.NoError(t, err)
	require.Zero(t, again.Files, "what is gone is gone")
}

// The files of snapshots that only an earlier metadata file names are the table's too.
func TestExpiredSnapshotsOfTheLogArePurged(t *testing.T) {
	l := newLake(t)
	orders := l.table("orders")
	orders.append(1)
	expired, _ := orders.doc.CurrentSnapshotID()
	orders.append(1)
	orders.apply(json.RawMessage(fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, expired)))
	_, err := l.purge(orders, maintenance.FileSet{})
	require.NoError(t, err)
	require.Empty(t, l.left("orders"))
}

func TestFilesOutsideTheLocationAreNeverDeleted(t *testing.T) {
	l := newLake(t)
	orders, other := l.table("orders"), l.table("other")
	theirs := other.append(2)
	orders.append(1)
	orders.share(theirs...)
	inside := l.left("other")
	outside := l.put("elsewhere/x.parquet", 48*time.Hour)
	orders.share("file://"+filepath.Join(l.root, outside), "s3://bucket/x.parquet", "file:///etc/passwd", "not a location")
	_, err := l.purge(orders, maintenance.FileSet{})
	require.NoError(t, err)
	require.Empty(t, l.left("orders"))
	require.Equal(t, inside, l.left("other"))
	require.Equal(t, []string{outside}, l.left("elsewhere"))
}

// A table that was registered or snapshotted from another's files keeps what it reads.
func TestFilesThatAnotherTableRefersToAreKept(t *testing.T) {
	l := newLake(t)
	orders, reader := l.table("orders"), l.table("reader")
	shared := orders.append(2)
	orders.append(1)
	reader.share(shared...)
	kept := maintenance.FileSet{}
	_, err := l.purger.References(t.Context(), reader.purged(), orders.location, kept, func() {})
	require.NoError(t, err)
	require.Len(t, kept, 2, "only those inside")
	_, err = l.purge(orders, kept)
	require.NoError(t, err)
	require.Len(t, l.left("orders"), 2)
	for _, file := range shared {
		_, err := os.Stat(icebergtest.LocalPath(file))
		require.NoError(t, err)
	}
}

func TestLeftoversAreDeletedOnceTheyAreOld(t *testing.T) {
	l := newLake(t)
	orders := l.table("orders")
	orders.append(1)
	l.put("orders/data/orphan.parquet", 48*time.Hour)
	l.put("orders/metadata/00000-old.metadata.json", 48*time.Hour)
	young := l.put("orders/data/in-flight.parquet", time.Hour)
	sibling := l.put("orders-old/data/x.parquet", 48*time.Hour)
	_, err := l.purge(orders, maintenance.FileSet{})
	require.NoError(t, err)
	require.Equal(t, []string{young}, l.left("orders"))
	require.Equal(t, []string{sibling}, l.left("orders-old"))
}

func TestDataThatMayBeSharedStays(t *testing.T) {
	l := newLake(t)
	orders := l.table("orders")
	files := orders.append(2)
	orders.apply(json.RawMessage(`{"action":"set-properties","updates":{"gc.enabled":"false"}}`))
	done, err := l.purger.DeleteData(t.Context(), orders.purged(), maintenance.FileSet{}, maintenance.Progress{}, quietly)
	require.NoError(t, err)
	require.True(t, done.Skipped)
	_, err = l.purger.DeleteMetadata(t.Context(), orders.purged(), maintenance.FileSet{}, maintenance.Progress{}, quietly)
	require.NoError(t, err)
	require.Len(t, l.left("orders"), len(files))
}

// Whenever a purge is killed, running it again deletes the rest: what leads to a file is deleted after it.
func TestAPurgeCanBeKilledAnywhere(t *testing.T) {
	l := newLake(t)
	whole := l.table("whole")
	for range 3 {
		whole.append(2)
	}
	total := len(l.left("whole"))
	for survives := range total {
		name := fmt.Sprintf("t%02d", survives)
		orders := l.table(name)
		for range 3 {
			orders.append(2)
		}
		require.Len(t, l.left(name), total)
		l.fail.Store(int64(survives))
		first, err := l.purge(orders, maintenance.FileSet{})
		require.Error(t, err)
		l.fail.Store(-1)
		_, err = l.purge(orders, maintenance.FileSet{})
		require.NoError(t, err)
		require.Empty(t, l.left(name), "killed after %d of %d (%d counted)", survives, total, first.Files)
	}
}

func TestAnInterruptedPartCountsEachFileOnce(t *testing.T) {
	l := newLake(t)
	orders := l.table("orders")
	for range 4 {
		orders.append(2)
	}
	var last maintenance.Progress
	l.fail.Store(5)
	_, err := l.purger.DeleteData(t.Context(), orders.purged(), maintenance.FileSet{}, maintenance.Progress{}, func(p maintenance.Progress) { last = p })
	require.Error(t, err)
	require.NotZero(t, last.Done)
	l.fail.Store(-1)
	done, err := l.purger.DeleteData(t.Context(), orders.purged(), maintenance.FileSet{}, last, quietly)
	require.NoError(t, err)
	require.Equal(t, []int64{8, 8000}, []int64{done.Files, done.Bytes})
}

func TestATableWhoseMetadataIsGoneHasOnlyLeftovers(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"gone":    os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLake(t)
			orders := l.table("orders")
			orders.append(1)
			require.NoError(t, spoil(icebergtest.LocalPath(orders.current)))
			for _, file := range l.left("orders") {
				old := time.Now().Add(-48 * time.Hour)
				require.NoError(t, os.Chtimes(filepath.Join(l.root, file), old, old))
			}
			_, err := l.purge(orders, maintenance.FileSet{})
			require.NoError(t, err)
			require.Empty(t, l.left("orders"))
		})
	}
}

func TestAMissingManifestDoesNotStopAPurge(t *testing.T) {
	l := newLake(t)
	orders := l.table("orders")
	orders.append(1)
	id, _ := orders.doc.CurrentSnapshotID()
	snap, _ := orders.doc.Snapshot(id)
	orders.append(1)
	require.NoError(t, os.Remove(icebergtest.LocalPath(snap.ManifestList)))
	_, err := l.purge(orders, maintenance.FileSet{})
	require.NoError(t, err)
	require.Empty(t, l.left("orders"))
}

func TestMetadataLogAndStatisticsAreRead(t *testing.T) {
	doc, err := metadata.Parse([]byte(`{"format-version":2,"table-uuid":"u","location":"s3://b/t","last-sequence-number":0,"last-updated-ms":1,
		"last-column-id":1,"current-schema-id":0,"schemas":[` + schemaJSON + `],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],
		"last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],
		"metadata-log":[{"timestamp-ms":5,"metadata-file":"s3://b/t/metadata/0\u0030.json"},{"timestamp-ms":6}],
		"statistics":[{"statistics-path":"s3://b/t/a.puffin"}],"partition-statistics":[{"statistics-path":"s3://b/t/p.parquet"}]}`))
	require.NoError(t, err)
	require.Equal(t, []metadata.LogEntry{{TimestampMs: 5, File: "s3://b/t/metadata/00.json"}}, doc.MetadataLog())
	require.Equal(t, []string{"s3://b/t/a.puffin", "s3://b/t/p.parquet"}, doc.StatisticsFiles())
}
