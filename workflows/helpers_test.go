package workflows_test

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/workflows"
)

// rig runs a workflow with its real activities over a world in memory; time skips itself.
type rig struct {
	t     *testing.T
	world *activitiestest.World
	env   *testsuite.TestWorkflowEnvironment
}

func newRig(t *testing.T, world *activitiestest.World) *rig {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(20 * time.Second)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: 10 * time.Second}) // of a machine that is busy with other tests
	workflows.RegisterWorkflows(env)
	workflows.RegisterActivities(env, activities.New(world.Ports()))
	return &rig{t: t, world: world, env: env}
}

func (r *rig) run(workflow any, in, out any) error {
	r.t.Helper()
	r.env.ExecuteWorkflow(workflow, in)
	require.True(r.t, r.env.IsWorkflowCompleted())
	if err := r.env.GetWorkflowError(); err != nil {
		return err
	}
	require.NoError(r.t, r.env.GetWorkflowResult(out))
	return nil
}

func reconcile(t *testing.T, world *activitiestest.World, target activities.Target) (workflows.ReconcileCommitResult, error) {
	t.Helper()
	var out workflows.ReconcileCommitResult
	err := newRig(t, world).run(workflows.ReconcileCommit, workflows.ReconcileCommitInput{Target: target}, &out)
	return out, err
}

// failTimes lets the first n calls of a port fail, all of them for n < 0.
func failTimes(world *activitiestest.World, port string, n int64, err error) {
	var calls atomic.Int64
	world.SetFail(func(called, _ string) error {
		if called != port || n >= 0 && calls.Add(1) > n {
			return nil
		}
		return err
	})
}

func unavailable() error { return fault.New(fault.Unavailable, "The database does not answer.") }

func applicationError(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	return app
}

// auditedOnce asserts one event for each of the snapshots, in this order within the table.
func auditedOnce(t *testing.T, world *activitiestest.World, table activities.Target, snapshots ...int64) {
	t.Helper()
	var got []int64
	for _, e := range world.Audits() {
		if e.TableUUID == table.TableUUID {
			got = append(got, *e.SnapshotID)
		}
	}
	require.Equal(t, snapshots, got)
}
