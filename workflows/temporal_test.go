package workflows_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/temporalx"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/worker"
	"github.com/sluice-data/sluice/workflows"
)

const namespace = "sluice"

func quiet() log.Logger { return log.NewStructuredLogger(slog.New(slog.DiscardHandler)) }

// cluster is a real server with a client, whose workers a test starts as it likes.
type cluster struct {
	client client.Client
	server *temporalx.Server
}

func startTemporal(t testing.TB) *cluster {
	t.Helper()
	silent := slog.New(slog.DiscardHandler)
	server, err := temporalx.StartServer(t.Context(), temporalx.ServerOptions{
		DataDir: t.TempDir(), UIPort: temporalx.NoUI, Namespace: namespace, Logger: silent,
	})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	c, err := temporalx.Dial(t.Context(), temporalx.ClientOptions{Address: server.Address(), Namespace: namespace, Logger: silent})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.NoError(t, temporalx.EnsureNamespace(t.Context(), c, namespace, 24*time.Hour, workflows.SearchAttributes()))
	return &cluster{client: c, server: server}
}

// work runs a world's workers until the returned function is called, or the test ends.
func (e *cluster) work(t testing.TB, world *activitiestest.World) (stop func()) {
	t.Helper()
	ports := world.Ports()
	starter := workflows.NewStarter(e.client, world)
	ports.Starter, ports.PurgeStarter = starter, starter
	w := worker.New(e.client, activities.New(ports), worker.Options{StopTimeout: 2 * time.Second})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return w.Stop
}

func (e *cluster) starter(world *activitiestest.World) *workflows.Starter {
	return workflows.NewStarter(e.client, world)
}

func event(id int64, t activities.Target) models.OutboxEvent {
	return models.OutboxEvent{
		ID: id, CatalogID: t.CatalogID, TableID: t.TableID, TableUUID: t.TableUUID, TableName: t.TableName, SnapshotID: t.SnapshotID,
	}
}

func idOf(t activities.Target) string { return workflows.ReconcileCommitID(t.TableUUID, t.SnapshotID) }

func (e *cluster) await(t testing.TB, id string, out any) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return e.client.GetWorkflow(ctx, id, "").Get(ctx, out)
}

func (e *cluster) describe(t testing.TB, id string) *workflowservice.DescribeWorkflowExecutionResponse {
	t.Helper()
	d, err := e.client.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	return d
}

// TestOnTemporal is what only a real server can show. Each part has a world, and tables, of its own.
func TestOnTemporal(t *testing.T) {
	e := startTemporal(t)
	for name, part := range map[string]func(*testing.T, *cluster){
		"a commit's whole workflow is one workflow task":    oneWorkflowTask,
		"starting again what runs or is done is no error":   startAgain,
		"what failed or was terminated starts again":        startFailedAgain,
		"a table registered again is reconciled again":      startForAnotherRow,
		"a repair starts what is done":                      repairDone,
		"killed workers lose and repeat nothing":            killedWorkers,
		"the sweep finds what no event announced":           sweepOnSchedule,
		"schedules are made, changed and kept paused":       schedules,
		"an unreachable server is Unavailable, and in time": unreachable,
		"a very long table name can be governed":            longName,
		"a batch of commits of many tables is one workflow": oneBatch,
	} {
		t.Run(name, func(t *testing.T) { part(t, e) })
	}
}

// newTable makes a table that no other part has.
func newTable(world *activitiestest.World) activities.Target {
	return world.AddTable("orders-" + uuid.NewString())
}

func oneWorkflowTask(t *testing.T, e *cluster) {
	world := activitiestest.New()
	e.work(t, world)
	target := world.Commit(newTable(world))
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(1, target)))
	var out workflows.ReconcileCommitResult
	require.NoError(t, e.await(t, idOf(target), &out))
	require.Equal(t, 1, out.Recorded)

	tasks := 0
	events := e.client.GetWorkflowHistory(t.Context(), idOf(target), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		if event.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks++
		}
	}
	require.Equal(t, 1, tasks)
	require.Equal(t, idOf(target), world.Audits()[0].Details.V["workflowId"])

	attributes := e.describe(t, idOf(target)).WorkflowExecutionInfo.GetSearchAttributes().GetIndexedFields()
	for name, want := range map[string]string{
		"SluiceTable": target.TableName, "SluiceTableUUID": target.TableUUID, "SluiceCatalog": "main", "SluiceSnapshot": "9007199254740993",
	} {
		require.Equal(t, `"`+want+`"`, string(attributes[name].GetData()), name)
	}
}

func startAgain(t *testing.T, e *cluster) {
	world := activitiestest.New()
	target := world.Commit(newTable(world))
	for range 3 { // no worker yet: it runs
		require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(1, target)))
		require.NoError(t, e.starter(world).StartReconcileBatch(t.Context(), []models.OutboxEvent{event(1, target)}))
	}
	run := e.describe(t, idOf(target)).WorkflowExecutionInfo.Execution.RunId
	e.work(t, world)
	require.NoError(t, e.await(t, idOf(target), nil))
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(1, target)), "it is done")
	require.Equal(t, run, e.describe(t, idOf(target)).WorkflowExecutionInfo.Execution.RunId)
	require.Len(t, world.Audits(), 1)
}

func startFailedAgain(t *testing.T, e *cluster) {
	world := activitiestest.New()
	e.work(t, world)
	failed, terminated := world.Commit(newTable(world)), world.Commit(newTable(world))
	world.SetFail(func(string, string) error { return fault.New(fault.Invalid, "It is malformed.") })
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(1, failed)))
	require.ErrorContains(t, e.await(t, idOf(failed), nil), "It is malformed.")
	world.SetFail(func(string, string) error { return fault.New(fault.Unavailable, "It is down.") })
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(2, terminated)))
	require.NoError(t, e.client.TerminateWorkflow(t.Context(), idOf(terminated), "", "test"))
	world.SetFail(nil)
	for _, target := range []activities.Target{failed, terminated} {
		require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(1, target)))
		require.NoError(t, e.await(t, idOf(target), nil))
	}
	require.Len(t, world.Audits(), 2)
}

// A table that was dropped and is registered again has the uuid and the snapshots of before, under another id.
func startForAnotherRow(t *testing.T, e *cluster) {
	world := activitiestest.New()
	first := world.Commit(newTable(world))
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(1, first)))
	again := newTable(world)
	world.Table(again).Row.UUID, again.TableUUID = first.TableUUID, first.TableUUID
	again = world.Commit(again)
	require.Equal(t, idOf(first), idOf(again))
	err := e.starter(world).StartReconcile(t.Context(), event(2, again))
	require.True(t, fault.Is(err, fault.Unavailable), "the first one runs: %v", err)
	e.work(t, world)
	require.NoError(t, e.await(t, idOf(first), nil))
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(2, again)))
	require.NoError(t, e.await(t, idOf(again), nil))
	audits := world.Audits()
	require.Len(t, audits, 2)
	require.NotEqual(t, *audits[0].DedupeKey, *audits[1].DedupeKey)
	run := e.describe(t, idOf(again)).WorkflowExecutionInfo.Execution.RunId
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(2, again)), "it is done")
	require.Equal(t, run, e.describe(t, idOf(again)).WorkflowExecutionInfo.Execution.RunId)
}

func repairDone(t *testing.T, e *cluster) {
	world := activitiestest.New()
	e.work(t, world)
	target := world.Commit(newTable(world))
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(1, target)))
	require.NoError(t, e.await(t, idOf(target), nil))
	// The database is restored from a backup of before.
	commit, err := world.Ledger().Commit(t.Context(), target.TableID, target.SnapshotID)
	require.NoError(t, err)
	commit.Status = models.CommitPending
	world.SetCommit(commit)
	id, err := e.starter(world).ReconcileNow(t.Context(), target)
	require.NoError(t, err)
	require.Equal(t, idOf(target), id)
	require.NoError(t, e.await(t, id, nil))
	require.Len(t, world.Audits(), 2)
	for n := 3; n < 5; n++ { // twice: a repair may repeat
		world.SetCommit(commit)
		require.NoError(t, e.starter(world).RepairBatch(t.Context(), []activities.Target{target}))
		require.NoError(t, e.await(t, workflows.ReconcileBatchID(0, 0, []activities.Target{target}), nil))
		require.Len(t, world.Audits(), n)
	}
}

func killedWorkers(t *testing.T, e *cluster) {
	world := activitiestest.New()
	world.Delay = 2 * time.Millisecond
	var targets []activities.Target
	for range 10 {
		table := newTable(world)
		targets = append(targets, world.Commit(table), world.Commit(table))
	}
	stop := e.work(t, world)
	for i, target := range targets {
		require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(int64(i), target)))
		if i%5 == 4 {
			stop()
			stop = e.work(t, world)
		}
	}
	for _, target := range targets {
		require.NoError(t, e.await(t, idOf(target), nil))
	}
	seen := map[string]bool{}
	for _, a := range world.Audits() {
		require.False(t, seen[*a.DedupeKey], "twice: %s", *a.DedupeKey)
		seen[*a.DedupeKey] = true
	}
	require.Len(t, seen, len(targets))
}

func sweepOnSchedule(t *testing.T, e *cluster) {
	world := activitiestest.New()
	target := world.CommitUnseen(newTable(world))
	e.work(t, world)
	require.NoError(t, workflows.EnsureSchedules(t.Context(), e.client, workflows.ScheduleOptions{SweepEvery: time.Second}))
	require.Eventually(t, func() bool { return len(world.Audits()) == 1 }, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, target.SnapshotID, *world.Audits()[0].SnapshotID)
	require.NoError(t, workflows.EnsureSchedules(t.Context(), e.client, workflows.ScheduleOptions{SweepEvery: time.Hour}))
}

func schedules(t *testing.T, e *cluster) {
	handle := e.client.ScheduleClient().GetHandle(t.Context(), workflows.SweepScheduleID)
	for _, every := range []time.Duration{time.Hour, 2 * time.Hour} {
		require.NoError(t, workflows.EnsureSchedules(t.Context(), e.client, workflows.ScheduleOptions{SweepEvery: every}))
		d, err := handle.Describe(t.Context())
		require.NoError(t, err)
		require.Equal(t, every, d.Schedule.Spec.Intervals[0].Every)
		require.Equal(t, enums.SCHEDULE_OVERLAP_POLICY_SKIP, d.Schedule.Policy.Overlap)
		require.Equal(t, time.Hour, d.Schedule.Policy.CatchupWindow)
		require.False(t, d.Schedule.Policy.PauseOnFailure)
		require.NotZero(t, d.Schedule.Spec.Jitter)
	}
	files, err := e.client.ScheduleClient().GetHandle(t.Context(), workflows.CheckFilesScheduleID).Describe(t.Context())
	require.NoError(t, err)
	require.Equal(t, time.Hour, files.Schedule.Spec.Intervals[0].Every, "files are checked every hour unless it is said otherwise")
	require.Equal(t, enums.SCHEDULE_OVERLAP_POLICY_SKIP, files.Schedule.Policy.Overlap)
	require.NoError(t, handle.Pause(t.Context(), client.SchedulePauseOptions{Note: "by an operator"}))
	require.NoError(t, workflows.EnsureSchedules(t.Context(), e.client, workflows.ScheduleOptions{}))
	d, err := handle.Describe(t.Context())
	require.NoError(t, err)
	require.True(t, d.Schedule.State.Paused)
	require.Equal(t, "by an operator", d.Schedule.State.Note)
	require.NoError(t, handle.Unpause(t.Context(), client.ScheduleUnpauseOptions{}))
}

func unreachable(t *testing.T, _ *cluster) {
	c, err := temporalx.NewLazyClient(temporalx.ClientOptions{Address: "127.0.0.1:1", Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer c.Close()
	world := activitiestest.New()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err = workflows.NewStarter(c, world).StartReconcile(ctx, event(1, world.Commit(newTable(world))))
	require.Equal(t, fault.Unavailable, fault.CodeOf(err))
}

func longName(t *testing.T, e *cluster) {
	world := activitiestest.New()
	e.work(t, world)
	target := world.Commit(newTable(world))
	long := target
	for len(long.TableName) < 5000 {
		long.TableName += ".näme"
	}
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(1, long)))
	require.NoError(t, e.await(t, idOf(target), nil))
}

func oneBatch(t *testing.T, e *cluster) {
	world := activitiestest.New()
	e.work(t, world)
	var events []models.OutboxEvent
	var targets []activities.Target
	for range 20 {
		table := newTable(world)
		for range 5 {
			targets = append(targets, world.Commit(table))
			events = append(events, event(int64(len(targets)), targets[len(targets)-1]))
		}
	}
	require.NoError(t, e.starter(world).StartReconcileBatch(t.Context(), events))
	var out workflows.ReconcileBatchResult
	require.NoError(t, e.await(t, workflows.ReconcileBatchID(1, 100, targets), &out))
	require.Equal(t, 100, out.Recorded)
	require.Len(t, world.Audits(), 100)
}
