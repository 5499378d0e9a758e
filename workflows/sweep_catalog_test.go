package workflows_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/workflows"
)

func TestSweepCatalogStartsWhatIsMissing(t *testing.T) {
	world := activitiestest.New()
	missed := world.Commit(world.AddTable("missed"))
	_, err := reconcile(t, world, world.Commit(world.AddTable("fine")))
	require.NoError(t, err)
	var out workflows.SweepCatalogResult
	require.NoError(t, newRig(t, world).run(workflows.SweepCatalog, workflows.SweepCatalogInput{}, &out))
	require.Equal(t, workflows.SweepCatalogResult{Tables: 1, Started: 1}, out)
	require.Equal(t, missed, world.Started()[0])
}

func TestSweepCatalogPagesManyTables(t *testing.T) {
	world := activitiestest.New()
	for i := range 450 {
		world.Commit(world.AddTable(fmt.Sprintf("t%03d", i)))
	}
	var out workflows.SweepCatalogResult
	require.NoError(t, newRig(t, world).run(workflows.SweepCatalog, workflows.SweepCatalogInput{}, &out))
	require.Equal(t, workflows.SweepCatalogResult{Tables: 450, Started: 450}, out)
	require.Equal(t, 3, world.Calls("Drifted"))
}

func TestSweepCatalogSurvivesAnOutage(t *testing.T) {
	for _, port := range []string{"Drifted", "RepairCommit"} {
		t.Run(port, func(t *testing.T) {
			world := activitiestest.New()
			world.Commit(world.AddTable("missed"))
			failTimes(world, port, 5, unavailable())
			var out workflows.SweepCatalogResult
			require.NoError(t, newRig(t, world).run(workflows.SweepCatalog, workflows.SweepCatalogInput{}, &out))
			require.Equal(t, 1, out.Started)
		})
	}
}
