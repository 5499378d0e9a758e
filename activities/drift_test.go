package activities_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/models"
)

func TestACommitOfADroppedTableIsAbandonedOnce(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.world.Drop(target)
	in := activities.AbandonCommitInput{Target: target, Catalog: "main", Gone: activities.GoneTable, WorkflowID: workflowID}
	require.True(t, must(r, r.acts.AbandonCommit, in).Recorded)
	require.False(t, must(r, r.acts.AbandonCommit, in).Recorded)
	events := r.world.Audits()
	require.Len(t, events, 1)
	require.Equal(t, models.AuditCommitAbandoned, events[0].Type)
	require.Equal(t, "table", events[0].Details.V["gone"])
	c, err := r.world.Ledger().Commit(t.Context(), target.TableID, target.SnapshotID)
	require.NoError(t, err)
	require.Equal(t, models.CommitAbandoned, c.Status)
}

func TestAReconciledCommitIsNeverAbandoned(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	require.True(t, r.reconcile(target))
	r.world.Drop(target)
	require.False(t, must(r, r.acts.AbandonCommit, activities.AbandonCommitInput{Target: target, Gone: activities.GoneTable}).Recorded)
	require.Len(t, r.world.Audits(), 1)
}

func TestRestampOfADroppedTableStampsNothing(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.world.Table(table).Restamp = []string{"sluice.write-policy"}
	require.Equal(t, []string{"sluice.write-policy"}, must(r, r.acts.RestampTable, activities.RestampTableInput{Target: table}).Restamped)
	require.Empty(t, must(r, r.acts.RestampTable, activities.RestampTableInput{Target: table}).Restamped)
	r.world.Drop(table)
	require.Empty(t, must(r, r.acts.RestampTable, activities.RestampTableInput{Target: table}).Restamped)
}

func TestTheSweepStartsWhatIsMissingAndNothingElse(t *testing.T) {
	r := newRig(t)
	missed := r.world.Commit(r.world.AddTable("missed"))
	require.True(t, r.reconcile(r.world.Commit(r.world.AddTable("fine"))))
	// A table whose main was set back: its head is recorded, and yet not the newest recorded one.
	setBack := r.world.Commit(r.world.AddTable("set-back"))
	require.True(t, r.reconcile(setBack))
	other := int64(1)
	r.world.Table(setBack).Row.RecordedSnapshotID = &other

	got := must(r, r.acts.FindDrift, activities.FindDriftInput{})
	require.Equal(t, activities.FindDriftResult{Tables: 2, Started: 1}, got)
	require.Equal(t, setBack.SnapshotID, *r.world.Table(setBack).Row.RecordedSnapshotID, "the recorded head follows")
	require.Len(t, r.world.Audits(), 2, "without a further event")
	require.Equal(t, []activities.Target{missed}, r.world.Started())
}

// After a long outage everything is missing, and the outbox still holds it too.
func TestTheSweepStartsManyInBatches(t *testing.T) {
	r := newRig(t)
	for i := range 150 {
		r.world.Commit(r.world.AddTable(fmt.Sprintf("t%03d", i)))
	}
	require.Equal(t, activities.FindDriftResult{Tables: 150, Started: 150}, must(r, r.acts.FindDrift, activities.FindDriftInput{}))
	require.Len(t, r.world.Started(), 150)
	require.Equal(t, 2, r.world.Calls("RepairBatch"))
	require.Zero(t, r.world.Calls("RepairCommit"))
}
