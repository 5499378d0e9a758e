package activities_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

// A job that is restored from an old checkpoint commits nothing until it is where the job before it was, and then the files of
// all checkpoints at once.
func TestAStreamThatWasStartedFromAnOldCheckpointIsAFinding(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	first := r.world.CommitBy(table, etl, start, flink("job-a", 20))
	require.Empty(t, r.record(first).Findings)
	r.world.Table(table).Adds = 5
	second := r.world.CommitBy(table, etl, start.Add(time.Minute), flink("job-b", 21))
	require.Equal(t, models.FindingOffsetRegression, r.record(second).Findings[0].Kind, "the event of the commit tells of it")
	r.record(second) // again
	require.Len(t, r.open(), 1)
	f := r.open()[0]
	require.Equal(t, []string{"main", "sales.orders", "etl"}, []string{f.Catalog, f.Table, f.Principal})
	require.Equal(t, second.SnapshotID, *f.SnapshotID)
	require.Equal(t, fmt.Sprint(first.SnapshotID), f.Evidence.V["earlierSnapshot"])
	require.EqualValues(t, 5, f.Evidence.V["checkpoints"])

	third := r.world.CommitBy(table, etl, start.Add(2*time.Minute), flink("job-b", 22))
	require.Empty(t, r.record(third).Findings, "it goes on")
}

func TestAStreamThatGoesOnWhereItWasIsNone(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.record(r.world.CommitBy(table, etl, start, flink("job-a", 20)))
	r.record(r.world.CommitBy(table, etl, start.Add(time.Minute), flink("job-b", 21)))
	r.world.Table(table).Adds = 5
	r.record(r.world.CommitBy(table, etl, start.Add(time.Hour), flink("job-b", 28)))
	r.record(r.world.CommitBy(table, etl, start.Add(2*time.Hour), flink("job-c", 33)))
	require.Empty(t, r.open())
}
