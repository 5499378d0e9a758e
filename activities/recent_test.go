package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/maintenance"
)

func (r *rig) recount(t activities.Target) activities.RecountSnapshotResult {
	r.t.Helper()
	return must(r, r.acts.RecountSnapshot, activities.RecountSnapshotInput{Target: t})
}

// finish does what is left of a commit after it was detected.
func (r *rig) finish(t activities.Target) bool {
	r.t.Helper()
	counts := r.recount(t)
	files := r.record(t)
	return must(r, r.acts.RecordCommit, activities.RecordCommitInput{
		Target: t, Catalog: "main", OnMain: true, Counts: counts, Files: files, WorkflowID: workflowID,
	}).Recorded
}

// A reconciliation at a high rate is bound by what it asks the database.
func TestTheStepsOfACommitShareWhatTheyRead(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	first := r.world.Commit(table)
	r.detect(first)
	require.True(t, r.finish(first))
	commits := []activities.Target{r.world.Commit(table), r.world.Commit(table), r.world.Commit(table)}

	rows, tables, names := r.world.Calls("Commit"), r.world.Calls("TableByID"), r.world.Calls("CatalogByID")
	must(r, r.acts.DetectCommits, activities.DetectCommitsInput{
		Target: commits[2], Batch: []int64{commits[0].SnapshotID, commits[1].SnapshotID, commits[2].SnapshotID},
	})
	for _, c := range commits {
		require.True(t, r.finish(c))
	}
	require.Equal(t, 3, r.world.Calls("Commit")-rows, "each commit once")
	require.Equal(t, 1, r.world.Calls("TableByID")-tables)
	require.Zero(t, r.world.Calls("CatalogByID")-names)
	require.Len(t, r.world.Audits(), 4)
}

// Two processes have the same commit; what one remembers of it must not make it record the commit again.
func TestWhatAnotherProcessFinishedIsNotRecordedAgain(t *testing.T) {
	here := newRig(t)
	table := here.world.AddTable("orders")
	target := here.world.Commit(table)
	here.detect(target)
	there := &rig{t: t, world: here.world, acts: activities.New(here.world.Ports()), env: here.env}
	require.True(t, there.finish(target))
	require.False(t, here.finish(target))
	require.Len(t, here.world.Audits(), 1)
	require.True(t, here.recount(target).Done, "it asks anew after that")
}

// Between two steps the snapshot was expired, and its files removed: nothing is missing.
func TestFilesThatWentWithTheirSnapshotAreNotMissing(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	target := r.world.Commit(table)
	r.world.Commit(table)
	r.detect(target)
	r.world.Expire(table, 1)
	r.world.SetObject(r.world.FileOf(target, 0), maintenance.Sighting{Gone: true})
	r.record(target)
	require.Empty(t, r.world.Findings())
}

// A table that was dropped between two steps, and one of its name that came after it, are seen.
func TestATableThatWentBetweenTwoStepsIsGone(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	old, target := r.world.Commit(table), r.world.Commit(table)
	r.detect(old)
	r.world.Expire(table, 2)
	require.Equal(t, activities.GoneSnapshot, r.lost(table, target).Gone)
}

// lost recounts a snapshot whose metadata file is gone too.
func (r *rig) lost(table, t activities.Target) activities.RecountSnapshotResult {
	r.t.Helper()
	commit, err := r.world.Ledger().Commit(r.t.Context(), table.TableID, t.SnapshotID)
	require.NoError(r.t, err)
	r.world.RemoveFile(commit.MetadataLocation)
	return r.recount(t)
}
