package workflows_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/workflows"
)

func writeRows(t *testing.T, world *activitiestest.World, target activities.WriteTarget) (workflows.WriteRowsResult, error) {
	t.Helper()
	var out workflows.WriteRowsResult
	err := newRig(t, world).run(workflows.WriteRows, workflows.WriteRowsInput{Target: target}, &out)
	return out, err
}

func TestWriteRowsLandsAllChunksOnce(t *testing.T) {
	world := activitiestest.New()
	target := world.SplitWrite("orders", 40)
	out, err := writeRows(t, world, target)
	require.NoError(t, err)
	require.Equal(t, workflows.WriteRowsResult{Rows: 40 * activitiestest.RowsOfChunk}, out)
	state := world.Split(target.WriteID)
	require.Len(t, state.Written, 40)
	require.Equal(t, 1, state.Landed)
	require.True(t, state.Cleaned)
	require.False(t, state.LeftOver)
	require.Equal(t, 1, world.Calls("CommitChunks"))
}

// A write of which all rows came before the first chunk.
func TestWriteRowsWithoutChunks(t *testing.T) {
	world := activitiestest.New()
	target := world.SplitWrite("orders", 0)
	_, err := writeRows(t, world, target)
	require.NoError(t, err)
	require.Equal(t, 1, world.Split(target.WriteID).Landed)
}

func TestWriteRowsSurvivesAnOutage(t *testing.T) {
	for _, port := range []string{"WriteChunk", "CommitChunks", "CleanChunks"} {
		t.Run(port, func(t *testing.T) {
			world := activitiestest.New()
			target := world.SplitWrite("orders", 5)
			failTimes(world, port, 4, unavailable())
			out, err := writeRows(t, world, target)
			require.NoError(t, err)
			require.EqualValues(t, 5*activitiestest.RowsOfChunk, out.Rows)
			require.Equal(t, 1, world.Split(target.WriteID).Landed)
			require.True(t, world.Split(target.WriteID).Cleaned)
		})
	}
}

// Where it cannot go on, nothing is left of it, and who waits is told why.
func TestWriteRowsThatFailLeaveNothing(t *testing.T) {
	for port, refusal := range map[string]error{
		"WriteChunk":   fault.New(fault.Invalid, "The chunk is damaged."),
		"CommitChunks": fault.New(fault.Conflict, "The table got another schema."),
	} {
		t.Run(port, func(t *testing.T) {
			world := activitiestest.New()
			target := world.SplitWrite("orders", 5)
			failTimes(world, port, -1, refusal)
			_, err := writeRows(t, world, target)
			app := applicationError(t, err)
			require.True(t, app.NonRetryable())
			require.Equal(t, fault.CodeOf(refusal), activities.CodeOf(activities.ErrorType(app.Type())))
			require.Equal(t, fault.PublicMessage(refusal), app.Message())
			state := world.Split(target.WriteID)
			require.Zero(t, state.Landed)
			require.True(t, state.Cleaned)
			require.True(t, state.LeftOver, "the data files are removed")
			if port == "CommitChunks" {
				require.Equal(t, 1, world.Calls("CommitChunks"), "it is pointless to try again")
			}
		})
	}
}

// A worker of an older version has no data plane: another one does the work.
func TestWriteRowsWaitForAWorkerThatCan(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	workflows.RegisterActivities(env, activities.New(activities.Ports{}))
	_, err := env.ExecuteActivity(activities.CommitRowsName, activities.CommitRowsInput{})
	app := applicationError(t, err)
	require.False(t, app.NonRetryable())
	require.Equal(t, string(activities.UnavailableError), app.Type())
}

func splitMany(world *activitiestest.World) any {
	return workflows.WriteRowsInput{Target: world.SplitWrite("orders", 20)}
}

func splitRefused(world *activitiestest.World) any {
	failTimes(world, "CommitChunks", -1, fault.New(fault.Conflict, "The table got another schema."))
	return workflows.WriteRowsInput{Target: world.SplitWrite("orders", 3)}
}
