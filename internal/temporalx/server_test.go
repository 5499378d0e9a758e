package temporalx

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdktemporal "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	testQueue      = "test"
	testWorkflowID = "reconcile/7d9a/42 100%"
	testScheduleID = "sweep"
	tableAttribute = "SluiceTable"
)

func testAttributes() map[string]enums.IndexedValueType {
	return map[string]enums.IndexedValueType{tableAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD}
}

// greet waits for an update, so that a test covers updates too.
func greet(ctx workflow.Context, name string) (string, error) {
	var greeting string
	if err := workflow.SetUpdateHandler(ctx, "greeting", func(_ workflow.Context, g string) error {
		greeting = g
		return nil
	}); err != nil {
		return "", err
	}
	err := workflow.Await(ctx, func() bool { return greeting != "" && workflow.AllHandlersFinished(ctx) })
	return greeting + " " + name, err
}

func tick(workflow.Context) error { return nil }

func start(t *testing.T, dir string) (*Server, client.Client) {
	t.Helper()
	begun := time.Now()
	s, err := StartServer(t.Context(), ServerOptions{DataDir: dir, Logger: testLogger(t)})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	started := time.Since(begun)
	c, err := Dial(t.Context(), ClientOptions{Address: s.Address(), Logger: testLogger(t)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.NoError(t, EnsureNamespace(t.Context(), c, defaultNamespace, defaultRetention, testAttributes()))
	t.Logf("usable namespace after %v, with search attributes after %v",
		started.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
	return s, c
}

func testLogger(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func runWorker(t *testing.T, c client.Client) worker.Worker {
	t.Helper()
	w := worker.New(c, testQueue, worker.Options{})
	w.RegisterWorkflow(greet)
	w.RegisterWorkflow(tick)
	require.NoError(t, w.Start())
	return w
}

// startGreet starts a workflow that waits for finishGreet.
func startGreet(t *testing.T, c client.Client, id string) {
	t.Helper()
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: id, TaskQueue: testQueue, EnableEagerStart: true,
		TypedSearchAttributes: sdktemporal.NewSearchAttributes(
			sdktemporal.NewSearchAttributeKeyKeyword(tableAttribute).ValueSet("main.sales.orders")),
	}, greet, "table")
	require.NoError(t, err)
}

func finishGreet(t *testing.T, c client.Client, id string) {
	t.Helper()
	update, err := c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: "greeting", Args: []any{"hello"},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(t, err)
	require.NoError(t, update.Get(t.Context(), nil))
	requireGreeted(t, c, id)
}

func createSchedule(t *testing.T, c client.Client) {
	t.Helper()
	_, err := c.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
		ID:     testScheduleID,
		Spec:   client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Second}}},
		Action: &client.ScheduleWorkflowAction{ID: "tick", Workflow: tick, TaskQueue: testQueue},
	})
	require.NoError(t, err)
}

func requireScheduleFires(t *testing.T, c client.Client) {
	t.Helper()
	begun := time.Now()
	handle := c.ScheduleClient().GetHandle(t.Context(), testScheduleID)
	require.Eventually(t, func() bool {
		d, err := handle.Describe(t.Context())
		if err != nil {
			return false
		}
		for _, r := range d.Info.RecentActions {
			if r.ActualTime.After(begun) {
				return true
			}
		}
		return false
	}, 20*time.Second, 50*time.Millisecond) // see requireAtRest
	t.Logf("schedule fired %v after it was asked for", time.Since(begun).Round(time.Millisecond))
}

func requireGreeted(t *testing.T, c client.Client, id string) {
	t.Helper()
	var got string
	require.NoError(t, c.GetWorkflow(t.Context(), id, "").Get(t.Context(), &got))
	require.Equal(t, "hello table", got)
	d, err := c.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_COMPLETED, d.GetWorkflowExecutionInfo().GetStatus())
}

func TestServerKeepsItsStateOverRestart(t *testing.T) {
	// A folder that would break a URI put together carelessly.
	dir := filepath.Join(t.TempDir(), "data 100% #1?x=y")
	s, c := start(t, dir)
	w := runWorker(t, c)
	startGreet(t, c, testWorkflowID)
	finishGreet(t, c, testWorkflowID)
	createSchedule(t, c)
	requireScheduleFires(t, c)
	requireListed(t, c)
	checkUI(t, s)
	requireAttributeConflict(t, c)
	requireAtRest(t, c, "temporal-sys-scheduler:"+testScheduleID)
	w.Stop()

	begun := time.Now()
	s.Stop()
	t.Logf("stopped after %v", time.Since(begun).Round(time.Millisecond))
	require.Less(t, time.Since(begun), stopTimeout)
	s.Stop()
	requireOneFile(t, dir)
	_, err := net.DialTimeout("tcp", s.Address(), time.Second)
	require.Error(t, err, "the frontend still listens")

	s, c = start(t, dir)
	requireGreeted(t, c, testWorkflowID)
	w = runWorker(t, c)
	requireScheduleFires(t, c)
	requireListed(t, c)

	begun = time.Now()
	s.Stop()
	t.Logf("stopped under a polling worker after %v", time.Since(begun).Round(time.Millisecond))
	require.Less(t, time.Since(begun), stopTimeout)
	w.Stop()
}

func requireListed(t *testing.T, c client.Client) {
	t.Helper()
	query := tableAttribute + " = 'main.sales.orders'"
	require.Eventually(t, func() bool {
		n, err := c.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: query})
		return err == nil && n.GetCount() == 1
	}, 5*time.Second, 50*time.Millisecond)
}

// requireAtRest waits until the workflow is between two tasks. One whose task is
// cut off by the end of the server goes on only after the task's timeout, 10 s.
func requireAtRest(t *testing.T, c client.Client, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		d, err := c.DescribeWorkflowExecution(t.Context(), id, "")
		return err == nil && d.GetPendingWorkflowTask() == nil
	}, 5*time.Second, 20*time.Millisecond)
}

func requireAttributeConflict(t *testing.T, c client.Client) {
	t.Helper()
	err := EnsureNamespace(t.Context(), c, defaultNamespace, defaultRetention,
		map[string]enums.IndexedValueType{tableAttribute: enums.INDEXED_VALUE_TYPE_INT})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// requireOneFile expects that a stopped server's state is temporal.db alone.
func requireOneFile(t *testing.T, dir string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, databaseFile+"-wal"))
	if err == nil {
		require.Zero(t, info.Size(), "the write-ahead log was not moved into the file")
	}
	info, err = os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func checkUI(t *testing.T, s *Server) {
	t.Helper()
	api := s.UIAddress() + "/api/v1/namespaces/" + defaultNamespace
	page := WorkflowURL(s.UIAddress(), defaultNamespace, testWorkflowID)
	require.Contains(t, get(t, s.UIAddress()+"/"), "<html")
	require.Contains(t, get(t, page), "<html")
	// What the page itself asks the UI server for, to find the latest run.
	id := page[len(s.UIAddress()+"/namespaces/"+defaultNamespace+"/workflows/"):]
	require.Contains(t, get(t, api+"/workflows/"+id), testWorkflowID)
	require.Contains(t, get(t, s.UIAddress()+"/api/v1/settings"), `"DisableNewsFetch":true`)
	require.Contains(t, get(t, s.UIAddress()+"/api/v1/releases"), `"Releases":{}`)
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s: %s", url, body)
	return string(body)
}

func TestServerOnOtherAddresses(t *testing.T) {
	for _, ip := range []string{"0.0.0.0", "::1"} {
		t.Run(ip, func(t *testing.T) {
			if l, err := net.Listen("tcp", net.JoinHostPort(ip, "0")); err != nil {
				t.Skip(err)
			} else {
				_ = l.Close()
			}
			s, err := StartServer(t.Context(), ServerOptions{DataDir: t.TempDir(), IP: ip, Namespace: "other", Logger: testLogger(t)})
			require.NoError(t, err)
			defer s.Stop()
			require.Contains(t, get(t, s.UIAddress()+"/api/v1/namespaces/other"), `"other"`)
		})
	}
}

func TestServerStartIsBoundByContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := StartServer(ctx, ServerOptions{DataDir: t.TempDir(), UIPort: NoUI, Logger: testLogger(t)})
	require.ErrorIs(t, err, context.Canceled)
}
