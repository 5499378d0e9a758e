package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/workflows"
)

func purge(t *testing.T, world *activitiestest.World, target activities.PurgeTarget) (workflows.PurgeTableResult, error) {
	t.Helper()
	var out workflows.PurgeTableResult
	err := newRig(t, world).run(workflows.PurgeTable, workflows.PurgeTableInput{Target: target}, &out)
	return out, err
}

func TestPurgeDeletesEveryPart(t *testing.T) {
	world := activitiestest.New()
	target := world.DropForPurge(world.AddTable("orders"))
	out, err := purge(t, world, target)
	require.NoError(t, err)
	require.Equal(t, workflows.PurgeTableResult{Files: 9, Bytes: 900}, out)
	record, err := world.DroppedTable(t.Context(), target.DropID)
	require.NoError(t, err)
	require.Equal(t, models.StatePurged, record.State)
	require.Equal(t, []int64{9, 900}, []int64{*record.PurgedFiles, *record.PurgedBytes})
	require.Len(t, world.Audits(), 1)
	require.Equal(t, models.AuditTablePurged, world.Audits()[0].Type)
}

func TestPurgeRefusesWhatCameBack(t *testing.T) {
	for _, state := range []models.DropState{models.StateUndropped, models.StatePurged, models.StateRegistered, models.StateForgotten, models.StateUnregistered} {
		t.Run(string(state), func(t *testing.T) {
			world := activitiestest.New()
			target := world.DropForPurge(world.AddTable("orders"))
			world.SetDrop(target, state)
			out, err := purge(t, world, target)
			require.NoError(t, err)
			require.Equal(t, workflows.PurgeTableResult{Refused: state}, out)
			require.Zero(t, world.Calls("DeleteData")+world.Calls("DeleteMetadata")+world.Calls("DeleteLeftovers"))
			require.Empty(t, world.Audits())
		})
	}
}

func TestPurgeWaitsOutAnOutage(t *testing.T) {
	for _, port := range []string{"ClaimPurge", "Sharers", "DeleteData", "DeleteMetadata", "DeleteLeftovers", "FinishPurge"} {
		t.Run(port, func(t *testing.T) {
			world := activitiestest.New()
			target := world.DropForPurge(world.AddTable("orders"))
			failTimes(world, port, 4, unavailable())
			_, err := purge(t, world, target)
			require.NoError(t, err)
			require.Len(t, world.Audits(), 1)
		})
	}
}

// A purge that cannot go on ends and is seen; the next one finishes it and records once.
func TestAFailedPurgeIsFinishedByTheNext(t *testing.T) {
	world := activitiestest.New()
	target := world.DropForPurge(world.AddTable("orders"))
	failTimes(world, "DeleteMetadata", -1, fault.New(fault.Forbidden, "The location is outside the allowed storage roots."))
	_, err := purge(t, world, target)
	require.True(t, applicationError(t, err).NonRetryable())
	record, err := world.DroppedTable(t.Context(), target.DropID)
	require.NoError(t, err)
	require.Equal(t, models.StatePurging, record.State)
	require.Empty(t, world.Audits())
	world.SetFail(nil)
	_, err = purge(t, world, target)
	require.NoError(t, err)
	require.Len(t, world.Audits(), 1)
}

func TestSweepDroppedStartsEveryPage(t *testing.T) {
	world := activitiestest.New()
	dropMany(world, 250)
	var out workflows.SweepDroppedResult
	require.NoError(t, newRig(t, world).run(workflows.SweepDropped, workflows.SweepDroppedInput{}, &out))
	require.Equal(t, 250, out.Started)
	require.Len(t, world.PurgesStarted(), 250)
	require.Equal(t, 3, world.Calls("DuePurges"))
}

func dropMany(world *activitiestest.World, n int) {
	for i := range n {
		world.DropForPurge(world.AddTable("t" + string(rune('a'+i/676)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))))
	}
}

// gc.enabled=false says that the data may be others' too: then nothing but the table's own metadata goes.
func TestPurgeKeepsDataThatTheTableSaysMayBeShared(t *testing.T) {
	world := activitiestest.New()
	world.KeepsData()
	target := world.DropForPurge(world.AddTable("orders"))
	out, err := purge(t, world, target)
	require.NoError(t, err)
	require.Equal(t, int64(activitiestest.FilesPerPart), out.Files)
	require.Zero(t, world.Calls("DeleteLeftovers"))
}
