package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
)

const first = activitiestest.FirstSnapshotID

func TestDetectGivesUnrecordedAncestorsOldestFirst(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	recorded := r.world.Commit(table)
	require.True(t, r.reconcile(recorded))
	r.world.CommitUnseen(table) // arrived without a ledger row
	r.world.Commit(table)
	newest := r.world.Commit(table)

	got := r.detect(newest)
	require.Equal(t, activities.NotGone, got.Gone)
	require.Equal(t, "main", got.Catalog)
	require.Equal(t, []int64{first + 1, first + 2, first + 3}, ids(got.Snapshots))
	require.False(t, got.More)
	for _, s := range got.Snapshots {
		require.True(t, s.OnMain)
	}
}

func TestDetectOfARecordedSnapshotIsEmpty(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	require.True(t, r.reconcile(target))
	got := r.detect(target)
	require.Empty(t, got.Snapshots)
	require.Equal(t, activities.NotGone, got.Gone)
}

// After a rollback the head has been recorded long ago, and what is recorded of the table is of another snapshot.
func TestDetectOfARecordedHeadRefreshesTheTable(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	older := r.world.Commit(table)
	require.True(t, r.reconcile(older))
	newest := r.world.Commit(table)
	require.True(t, r.reconcile(newest))
	row := &r.world.Table(table).Row
	require.Equal(t, newest.SnapshotID, *row.RecordedSnapshotID)
	require.Empty(t, r.detect(older).Snapshots)
	require.Equal(t, newest.SnapshotID, *row.RecordedSnapshotID, "it is not the head")
	row.CurrentSnapshotID = &older.SnapshotID
	require.Empty(t, r.detect(older).Snapshots)
	require.Equal(t, older.SnapshotID, *row.RecordedSnapshotID)
	require.EqualValues(t, 10, *row.RowCount)
	require.Len(t, r.world.Audits(), 2)
}

// A batch of a backlog leaves the commits of other batches to these, and still takes what arrived unseen.
func TestDetectWithinABatch(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.world.Commit(table) // of the batch before
	mine := r.world.Commit(table)
	r.world.CommitUnseen(table)
	newest := r.world.Commit(table)
	got := must(r, r.acts.DetectCommits, activities.DetectCommitsInput{Target: newest, Batch: []int64{mine.SnapshotID, newest.SnapshotID}})
	require.Equal(t, []int64{first + 1, first + 2, first + 3}, ids(got.Snapshots))
}

func TestDetectPagesALongHistory(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	var newest activities.Target
	for range 7 {
		newest = r.world.CommitUnseen(table)
	}
	in := activities.DetectCommitsInput{Target: newest, Limit: 3}
	var pages [][]int64
	for {
		got := must(r, r.acts.DetectCommits, in)
		pages = append(pages, ids(got.Snapshots))
		if !got.More {
			break
		}
		in.Known = got.Snapshots[len(got.Snapshots)-1].ID
	}
	require.Equal(t, [][]int64{
		{first, first + 1, first + 2}, {first + 3, first + 4, first + 5}, {first + 6},
	}, pages)
	require.LessOrEqual(t, r.world.Calls("Commit"), 12, "later pages do not look up again what the first saw")
}

func TestDetectOfWhatIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(r *rig, target activities.Target)
		want activities.Gone
	}{
		"table dropped":     {func(r *rig, t activities.Target) { r.world.Drop(t) }, activities.GoneTable},
		"table replaced":    {func(r *rig, t activities.Target) { r.world.Table(t).Row.UUID = "another" }, activities.GoneTable},
		"expired, file too": {expireWithFile, activities.GoneSnapshot},
		"expired only":      {func(r *rig, t activities.Target) { r.world.Expire(t, 1) }, activities.NotGone},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			table := r.world.AddTable("orders")
			target := r.world.Commit(table)
			r.world.Commit(table)
			c.do(r, target)
			got := r.detect(target)
			require.Equal(t, c.want, got.Gone)
			if c.want == activities.NotGone {
				require.Equal(t, []int64{target.SnapshotID}, ids(got.Snapshots), "found in the metadata file of its commit")
			}
		})
	}
}

func expireWithFile(r *rig, t activities.Target) {
	commit, err := r.world.Ledger().Commit(r.t.Context(), t.TableID, t.SnapshotID)
	require.NoError(r.t, err)
	r.world.Expire(t, 1)
	r.world.RemoveFile(commit.MetadataLocation)
}

// A warehouse that is not mounted must not look like commits that are gone.
func TestAMissingCurrentMetadataFileIsAnOutage(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	target := r.world.Commit(table)
	r.world.RemoveFile(r.world.Table(table).Row.MetadataLocation)
	_, err := run(r, r.acts.DetectCommits, activities.DetectCommitsInput{Target: target})
	app := asApplication(t, err)
	require.False(t, app.NonRetryable())
	require.Contains(t, app.Message(), "sales.orders")
}

// The current metadata file may be replaced and removed between the two reads.
func TestAMetadataFileReplacedWhileReading(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	target := r.world.Commit(table)
	old := r.world.Table(table).Row.MetadataLocation
	raced := false
	r.world.SetFail(func(port, _ string) error {
		if port == "Document" && !raced {
			raced = true
			r.world.SetFail(nil)
			r.world.Commit(table)
			r.world.RemoveFile(old)
		}
		return nil
	})
	require.Equal(t, []int64{target.SnapshotID}, ids(r.detect(target).Snapshots))
	require.True(t, raced)
}

func TestDetectPassesOutagesOn(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.world.SetFail(func(port, _ string) error {
		if port == "Document" {
			return fault.New(fault.Unavailable, "The object store does not answer.")
		}
		return nil
	})
	_, err := run(r, r.acts.DetectCommits, activities.DetectCommitsInput{Target: target})
	require.False(t, asApplication(t, err).NonRetryable())
}
