package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/workflows"
)

func exportAudit(t *testing.T, world *activitiestest.World) (workflows.ExportAuditResult, error) {
	t.Helper()
	var out workflows.ExportAuditResult
	err := newRig(t, world).run(workflows.ExportAudit, workflows.ExportAuditInput{}, &out)
	return out, err
}

func TestExportAuditTakesAllPagesAndThenPrunes(t *testing.T) {
	world := activitiestest.New()
	world.SetAudit(250, 40)
	out, err := exportAudit(t, world)
	require.NoError(t, err)
	require.Equal(t, workflows.ExportAuditResult{Exported: 250, Pruned: 40}, out)
	require.Equal(t, 3, world.Calls("Export"))
	out, err = exportAudit(t, world)
	require.NoError(t, err)
	require.Zero(t, out)
}

func TestExportAuditSurvivesAnOutage(t *testing.T) {
	for _, port := range []string{"Export", "Prune"} {
		t.Run(port, func(t *testing.T) {
			world := activitiestest.New()
			world.SetAudit(10, 5)
			failTimes(world, port, 4, unavailable())
			out, err := exportAudit(t, world)
			require.NoError(t, err)
			require.Equal(t, workflows.ExportAuditResult{Exported: 10, Pruned: 5}, out)
		})
	}
}

// An export that cannot be made is an error that operators see, and old events go all the same.
func TestExportAuditPrunesWhereItCannotExport(t *testing.T) {
	world := activitiestest.New()
	world.SetAudit(10, 5)
	failTimes(world, "Export", -1, fault.New(fault.NotFound, "There is no catalog \"lake\"."))
	_, err := exportAudit(t, world)
	require.ErrorContains(t, err, "lake")
	require.Equal(t, 1, world.Calls("Export"), "trying again is pointless")
	require.Equal(t, 1, world.Calls("Prune"))
}

// Where export and retention are off, the workflow does nothing.
func TestExportAuditOfNothing(t *testing.T) {
	a := activities.New(activities.Ports{})
	exported, err := a.ExportAudit(t.Context(), activities.ExportAuditInput{})
	require.NoError(t, err)
	require.Zero(t, exported)
	pruned, err := a.PruneAudit(t.Context(), activities.PruneAuditInput{})
	require.NoError(t, err)
	require.Zero(t, pruned)
}

func exportMany(world *activitiestest.World) any {
	world.SetAudit(250, 40)
	return workflows.ExportAuditInput{}
}
