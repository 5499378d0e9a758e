package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/workflows"
)

func check(t *testing.T, world *activitiestest.World) workflows.CheckFilesResult {
	t.Helper()
	var out workflows.CheckFilesResult
	require.NoError(t, newRig(t, world).run(workflows.CheckFiles, workflows.CheckFilesInput{}, &out))
	return out
}

func TestCheckFilesFindsTheOneThatChanged(t *testing.T) {
	world := activitiestest.New()
	target := recordMany(world, 2500)
	require.Equal(t, workflows.CheckFilesResult{Looked: 2500, Wrong: 1, Opened: 1}, check(t, world))
	require.Equal(t, 3, world.Calls("FilesToCheck"), "three pages")
	found := world.Findings()
	require.Len(t, found, 1)
	require.Equal(t, models.FindingFileChanged, found[0].Kind)
	require.Equal(t, world.FileOf(target, 2499), found[0].Subject)
	require.Equal(t, "etl", found[0].Principal, "who committed it")

	require.Equal(t, workflows.CheckFilesResult{Looked: 2500, Wrong: 1}, check(t, world), "it is open already")
	world.SetObject(world.FileOf(target, 2499), maintenance.Sighting{Found: true, Size: activitiestest.FileSize, ETag: "e2499"})
	require.Equal(t, workflows.CheckFilesResult{Looked: 2500, Resolved: 1}, check(t, world))
	require.Equal(t, workflows.CheckFilesResult{Looked: 2500}, check(t, world))
}

func TestCheckFilesOfNoTable(t *testing.T) {
	require.Zero(t, check(t, activitiestest.New()))
}

func TestCheckFilesSurvivesAnOutage(t *testing.T) {
	for _, port := range []string{"FilesToCheck", "SettleFiles"} {
		t.Run(port, func(t *testing.T) {
			world := activitiestest.New()
			recordMany(world, 10)
			failTimes(world, port, 5, unavailable())
			require.Equal(t, 1, check(t, world).Opened)
		})
	}
}

// What the store does not answer for is left to the next check; the rest is found.
func TestCheckFilesGoesOnWhereAStoreIsDown(t *testing.T) {
	world := activitiestest.New()
	target := recordMany(world, 10)
	down := world.FileOf(target, 3)
	world.SetFail(func(port, path string) error {
		if port == "Stat" && path == down {
			return activitiestest.Unreachable()
		}
		return nil
	})
	require.Equal(t, workflows.CheckFilesResult{Looked: 10, Wrong: 1, Unreachable: 1, Opened: 1}, check(t, world))
	world.SetFail(nil)
	world.SetObject(down, maintenance.Sighting{Found: true, Size: 1, ETag: "e3"})
	require.Equal(t, 1, check(t, world).Opened)
}

// A check that cannot write at all ends, and the next one begins anew.
func TestCheckFilesGivesUp(t *testing.T) {
	world := activitiestest.New()
	recordMany(world, 10)
	failTimes(world, "SettleFiles", -1, unavailable())
	var out workflows.CheckFilesResult
	require.Error(t, newRig(t, world).run(workflows.CheckFiles, workflows.CheckFilesInput{}, &out))
	require.Empty(t, world.Findings())
	world.SetFail(nil)
	require.Equal(t, 1, check(t, world).Opened)
}

func TestCheckFilesContinuesAsANewRun(t *testing.T) {
	world := activitiestest.New()
	recordMany(world, 2500)
	r := newRig(t, world)
	r.env.SetContinueAsNewSuggested(true)
	err := r.run(workflows.CheckFiles, workflows.CheckFilesInput{}, nil)
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &next)
	require.Equal(t, workflows.CheckFilesName, next.WorkflowType.Name)
	var in workflows.CheckFilesInput
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &in))
	require.Equal(t, 1000, in.Done.Looked)
	require.False(t, in.Before.IsZero(), "the time of the first run is carried over")
	var out workflows.CheckFilesResult
	require.NoError(t, newRig(t, world).run(workflows.CheckFiles, in, &out))
	require.Equal(t, workflows.CheckFilesResult{Looked: 2500, Wrong: 1, Opened: 1}, out, "each file is looked at once")
}

func TestReconcileCommitRecordsItsFiles(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	world.Table(table).Adds = 3
	target := world.Commit(table)
	_, err := reconcile(t, world, target)
	require.NoError(t, err)
	require.Equal(t, []string{world.FileOf(target, 0), world.FileOf(target, 1), world.FileOf(target, 2)}, world.Records())
	require.NotContains(t, world.Audits()[0].Details.V, "filesNotRecorded")

	world.NoFiles()
	_, err = reconcile(t, world, world.Commit(table))
	require.NoError(t, err)
	require.Equal(t, 1, world.Calls("RecordFiles"), "a commit that changes no files has nothing to record")
}

func TestReconcileCommitRecordsManyFilesWithAHeartbeat(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	world.Table(table).Adds = 10_050
	target := world.Commit(table)
	_, err := reconcile(t, world, target)
	require.NoError(t, err)
	require.Len(t, world.Records(), 10_000)
	require.EqualValues(t, 50, world.Audits()[0].Details.V["filesNotRecorded"])
}

func TestReconcileCommitWaitsForAStoreThatIsDown(t *testing.T) {
	world := activitiestest.New()
	target := world.Commit(world.AddTable("orders"))
	failTimes(world, "Stat", 6, unavailable())
	out, err := reconcile(t, world, target)
	require.NoError(t, err)
	require.Equal(t, 1, out.Recorded)
	require.Len(t, world.Records(), 1)
}

// What can never be recorded does not keep a commit from its audit event.
func TestReconcileCommitSaysWhyFilesAreNotRecorded(t *testing.T) {
	world := activitiestest.New()
	target := world.Commit(world.AddTable("orders"))
	failTimes(world, "RecordFiles", -1, fault.New(fault.Forbidden, "The location is outside the allowed storage roots."))
	out, err := reconcile(t, world, target)
	require.NoError(t, err)
	require.Equal(t, 1, out.Recorded)
	require.Equal(t, "The location is outside the allowed storage roots.", world.Audits()[0].Details.V["filesError"])
}
