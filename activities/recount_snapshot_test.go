package activities_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
)

// recount counts a table's second snapshot, whose parent is recorded with ten rows. Its summary claims ten more rows in one
// more file, and twenty in two.
func recount(t *testing.T, c reconcile.Counts) activities.RecountSnapshotResult {
	t.Helper()
	r := newRig(t)
	table := r.world.AddTable("orders")
	require.True(t, r.reconcile(r.world.Commit(table)))
	second := r.world.Commit(table)
	ports := r.world.Ports()
	counting(c)(&ports)
	r.acts = activities.New(ports)
	r.env.RegisterActivity(r.acts)
	return must(r, r.acts.RecountSnapshot, activities.RecountSnapshotInput{Target: second})
}

func TestRowsThatReadersNoLongerGet(t *testing.T) {
	honest := reconcile.Counts{AddedRows: 10, AddedFiles: 1, LiveRows: 20, LiveFiles: 2}
	for _, c := range []struct {
		name   string
		change func(*reconcile.Counts)
		want   any
	}{
		{"none", func(c *reconcile.Counts) { c.Exact, c.TotalRows = true, 20 }, int64(0)},
		{"by deletes", func(c *reconcile.Counts) { c.Exact, c.TotalRows, c.AddedDeleteFiles, c.DeleteFiles = true, 17, 1, 1 }, int64(3)},
		{"with a file that deletes had been at", func(c *reconcile.Counts) { c.Exact, c.TotalRows, c.RemovedRows = true, 15, 9 }, int64(5)},
		{"rows that came back", func(c *reconcile.Counts) { c.Exact, c.TotalRows, c.DeleteFiles = true, 25, 1 }, int64(0)},
		{"unknown", func(c *reconcile.Counts) { c.Why, c.RemovedRows = "it is not known", 9 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			counts := honest
			c.change(&counts)
			got := recount(t, counts)
			if c.want == nil {
				require.Nil(t, got.RemovedRows)
				return
			}
			require.Equal(t, c.want, *got.RemovedRows)
			require.Equal(t, counts.AddedDeleteFiles, *got.DeleteFiles)
		})
	}
}

// What goes into a history is bounded; the rest is in the ledger.
func TestFewPartitionsGoIntoAHistory(t *testing.T) {
	counts := reconcile.Counts{AddedRows: 10, AddedFiles: 1, LiveRows: 20, LiveFiles: 2, LiveEqualityDeletes: 7}
	for n := range models.MostPartitions {
		counts.Partitions = append(counts.Partitions, models.PartitionChange{Partition: fmt.Sprint("p=", n), AddedRows: int64(100 - n)})
	}
	got := recount(t, counts)
	require.Len(t, got.Partitions, 20)
	require.Equal(t, "p=0", got.Partitions[0].Partition)
	require.Equal(t, int64(7), *got.LiveEqualityDeletes)
}

func TestClaimsOfASummary(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts reconcile.Counts
		want   []string
	}{
		{"all true", reconcile.Counts{AddedRows: 10, AddedFiles: 1, LiveRows: 20, LiveFiles: 2}, nil},
		{"deletes do not count", reconcile.Counts{AddedRows: 10, AddedFiles: 1, LiveRows: 20, LiveFiles: 2, TotalRows: 5, Exact: true}, nil},
		{"a total that was wrong before", reconcile.Counts{AddedRows: 10, AddedFiles: 1, LiveRows: 999, LiveFiles: 777}, nil},
		{"too many rows claimed", reconcile.Counts{AddedRows: 9, AddedFiles: 1, LiveRows: 19, LiveFiles: 2}, []string{
			"The summary claims added-records=10; 9 were counted.", "The summary claims total-records=20; 19 were counted.",
		}},
		{"a removed file that is not in the total", reconcile.Counts{AddedRows: 10, AddedFiles: 1, RemovedRows: 4, RemovedFiles: 1, LiveRows: 16, LiveFiles: 1}, []string{
			"The summary claims total-records=20; 16 were counted.", "The summary claims total-data-files=2; 1 were counted.",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said []string
			for _, f := range recount(t, c.counts).Findings {
				require.Equal(t, models.FindingSummaryMismatch, f.Kind)
				said = append(said, f.Evidence)
			}
			require.Equal(t, c.want, said)
		})
	}
}
