package workflows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/workflows"
)

// checkMany makes n tables with a snapshot, the manifest list of the last of which is gone.
func checkMany(world *activitiestest.World, n int) {
	for i := range n {
		target := world.Commit(world.AddTable(fmt.Sprintf("t%05d", i)))
		if i == n-1 {
			list := fmt.Sprintf("%s/metadata/snap-%d.avro", world.Table(target).Row.Location, target.SnapshotID)
			world.SetObject(list, maintenance.Sighting{Gone: true})
		}
	}
}

func checkTablesOf(t *testing.T, world *activitiestest.World) workflows.CheckTablesResult {
	t.Helper()
	var out workflows.CheckTablesResult
	require.NoError(t, newRig(t, world).run(workflows.CheckTables, workflows.CheckTablesInput{Every: time.Hour}, &out))
	return out
}

func TestCheckTablesFindsTheManifestListThatIsGone(t *testing.T) {
	world := activitiestest.New()
	checkMany(world, 600)
	require.Equal(t, workflows.CheckTablesResult{Tables: 600, Opened: 1}, checkTablesOf(t, world))
	require.Equal(t, 2, world.Calls("TablesToCheck"), "two pages")
	require.Equal(t, models.FindingMissingFile, world.Findings()[0].Kind)
	require.Equal(t, workflows.CheckTablesResult{Tables: 1}, checkTablesOf(t, world), "only what is wrong is looked at again")
	require.Equal(t, 3, world.Calls("TablesToCheck"))
}

func TestCheckTablesOfNoTable(t *testing.T) {
	require.Zero(t, checkTablesOf(t, activitiestest.New()))
}

func TestCheckTablesSurvivesAnOutage(t *testing.T) {
	for _, port := range []string{"TablesToCheck", "SettleFindings"} {
		t.Run(port, func(t *testing.T) {
			world := activitiestest.New()
			checkMany(world, 3)
			failTimes(world, port, 5, unavailable())
			checkTablesOf(t, world)
			require.LessOrEqual(t, checkTablesOf(t, world).Tables, 1, "the others are done")
			require.Len(t, world.Findings(), 1)
		})
	}
}

// Tables whose store is down have their turn in the next run; the others are looked at.
func TestCheckTablesGoesOnWhereAStoreIsDown(t *testing.T) {
	world := activitiestest.New()
	checkMany(world, 3)
	failTimes(world, "Document", 2, activitiestest.Unreachable())
	require.Equal(t, workflows.CheckTablesResult{Tables: 3, Failed: 2, Opened: 1}, checkTablesOf(t, world))
	require.Equal(t, workflows.CheckTablesResult{Tables: 3}, checkTablesOf(t, world))
}

func TestCheckTablesContinuesAsANewRun(t *testing.T) {
	world := activitiestest.New()
	checkMany(world, 600)
	r := newRig(t, world)
	r.env.SetContinueAsNewSuggested(true)
	err := r.run(workflows.CheckTables, workflows.CheckTablesInput{Every: time.Hour}, nil)
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &next)
	require.Equal(t, workflows.CheckTablesName, next.WorkflowType.Name)
	var in workflows.CheckTablesInput
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &in))
	require.Equal(t, 500, in.Done.Tables)
	require.False(t, in.Before.IsZero(), "the time of the first run is carried over")
	var out workflows.CheckTablesResult
	require.NoError(t, newRig(t, world).run(workflows.CheckTables, in, &out))
	require.Equal(t, workflows.CheckTablesResult{Tables: 600, Opened: 1}, out, "each is looked at once")
}
