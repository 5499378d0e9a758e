package workflows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/workflows"
)

// declare lets n writers be expected that never come.
func declare(world *activitiestest.World, n int) activities.Target {
	table := world.AddTable("orders")
	for i := range n {
		world.SetWriter(models.NamedWriter{CatalogName: "main", TableWriter: models.TableWriter{
			ID: fmt.Sprintf("w-%05d", i), CatalogID: table.CatalogID, TableID: table.TableID, TableUUID: table.TableUUID, Table: table.TableName,
			Kind: models.ExpectedWriter, Principal: fmt.Sprint("etl-", i), Every: 60_000, State: models.WriterActive, CreatedAt: time.Now().Add(-time.Hour),
		}})
	}
	return table
}

func watchInput() workflows.WatchWritersInput {
	return workflows.WatchWritersInput{Every: time.Minute, FileMemory: time.Hour}
}

func watch(t *testing.T, world *activitiestest.World, last ...workflows.WatchWritersResult) workflows.WatchWritersResult {
	t.Helper()
	r := newRig(t, world)
	for _, result := range last {
		r.env.SetLastCompletionResult(result)
	}
	var out workflows.WatchWritersResult
	require.NoError(t, r.run(workflows.WatchWriters, watchInput(), &out))
	return out
}

func TestWatchWritersFindsWhoIsLate(t *testing.T) {
	world := activitiestest.New()
	declare(world, 1200)
	out := watch(t, world)
	require.Equal(t, [2]int{1200, 1200}, [2]int{out.Writers, out.Opened})
	require.Equal(t, 3, world.Calls("WatchedWriters"), "three pages")
	require.Equal(t, models.FindingStalledWriter, world.Findings()[0].Kind)
	require.Zero(t, watch(t, world, out).Opened, "they are open already")
}

func TestWatchWritersOfNobody(t *testing.T) {
	out := watch(t, activitiestest.New())
	require.False(t, out.DailyAt.IsZero())
	out.DailyAt = time.Time{}
	require.Zero(t, out)
}

// A stream that stops is found, and its next commit ends that, whatever is restarted in between: nothing of it is in a process.
func TestAStalledStreamIsFoundOverRestarts(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	by := models.Writer{Principal: "etl", Engine: "flink"}
	at := time.Now().Add(-time.Hour)
	commit := func(checkpoint int) {
		at = at.Add(time.Minute)
		target := world.CommitBy(table, by, at, map[string]string{
			"operation": "append", "flink.operator-id": "op", "flink.job-id": "job", "flink.max-committed-checkpoint-id": fmt.Sprint(checkpoint),
		})
		_, err := reconcile(t, world, target)
		require.NoError(t, err)
	}
	for n := range 8 {
		commit(n + 1)
	}
	require.Equal(t, 1, watch(t, world).Opened)
	require.Zero(t, watch(t, world).Opened)
	id := writers.Identify(table.TableID, "main", by, map[string]string{"flink.operator-id": "op", "flink.job-id": "job", "flink.max-committed-checkpoint-id": "1"}).ID
	require.Equal(t, id, world.Findings()[0].WriterID)
	at = time.Now().Add(-2 * time.Minute)
	commit(9)
	require.NotNil(t, world.Findings()[0].ResolvedAt)
	require.Zero(t, watch(t, world).Opened)
}

// What tables got within a day is looked at in some runs alone: the run before tells when that was.
func TestWatchWritersLooksAtTheDayNowAndThen(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	world.SetRates(findings.TableRate{TableID: table.TableID, Commits: 1, AddedFiles: 200, AddedBytes: 200})
	first := watch(t, world)
	require.Equal(t, 1, first.Opened)
	require.Equal(t, 2, world.Calls("TableRates"))

	second := watch(t, world, first)
	require.Equal(t, 3, world.Calls("TableRates"), "of the hour alone")
	require.WithinDuration(t, first.DailyAt, second.DailyAt, 0)

	second.DailyAt = second.DailyAt.Add(-10 * time.Minute)
	watch(t, world, second)
	require.Equal(t, 5, world.Calls("TableRates"))
}

func TestWatchWritersSurvivesAnOutage(t *testing.T) {
	for _, port := range []string{"WatchedWriters", "OpenFindingsOfWriters", "SettleFindings", "TableRates", "Findings", "PruneFileRecords"} {
		t.Run(port, func(t *testing.T) {
			world := activitiestest.New()
			declare(world, 3)
			failTimes(world, port, 5, unavailable())
			require.Equal(t, 3, watch(t, world).Opened)
		})
	}
}

// A look that cannot be finished ends, and the next one begins anew.
func TestWatchWritersGivesUp(t *testing.T) {
	world := activitiestest.New()
	declare(world, 3)
	failTimes(world, "SettleFindings", -1, unavailable())
	require.Error(t, newRig(t, world).run(workflows.WatchWriters, watchInput(), nil))
	world.SetFail(nil)
	require.Equal(t, 3, watch(t, world).Opened)
}

func TestWatchWritersContinuesAsANewRun(t *testing.T) {
	world := activitiestest.New()
	declare(world, 700)
	r := newRig(t, world)
	r.env.SetContinueAsNewSuggested(true)
	err := r.run(workflows.WatchWriters, watchInput(), nil)
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &next)
	require.Equal(t, workflows.WatchWritersName, next.WorkflowType.Name)
	var in workflows.WatchWritersInput
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &in))
	require.Equal(t, 500, in.Done.Writers)
	require.Equal(t, "w-00499", in.After)
	var out workflows.WatchWritersResult
	require.NoError(t, newRig(t, world).run(workflows.WatchWriters, in, &out))
	require.Equal(t, [2]int{700, 700}, [2]int{out.Writers, out.Opened}, "each is looked at once")
}
