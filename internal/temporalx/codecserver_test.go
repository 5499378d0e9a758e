package temporalx

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
)

// govern has everything in it that our workflows have: a local and an ordinary activity, an update, a failure that is
// retried, a heartbeat and a memo. Each of them holds the animal.
func govern(ctx workflow.Context, animal string) (string, error) {
	asked := ""
	if err := workflow.SetUpdateHandler(ctx, "ask", func(_ workflow.Context, q string) (string, error) {
		asked = q
		return "answer to " + q, nil
	}); err != nil {
		return "", err
	}
	var counted, stamped string
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: 5 * time.Second})
	if err := workflow.ExecuteLocalActivity(local, count, animal).Get(ctx, &counted); err != nil {
		return "", err
	}
	if err := workflow.Await(ctx, func() bool { return asked != "" }); err != nil {
		return "", err
	}
	ordinary := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second, RetryPolicy: &temporal.RetryPolicy{InitialInterval: 50 * time.Millisecond, MaximumInterval: time.Second},
	})
	err := workflow.ExecuteActivity(ordinary, stamp, animal).Get(ctx, &stamped)
	return counted + ", " + asked + ", " + stamped, err
}

func count(_ context.Context, animal string) (string, error) { return "counted " + animal, nil }

func stamp(ctx context.Context, animal string) (string, error) {
	activity.RecordHeartbeat(ctx, animal)
	if activity.GetInfo(ctx).Attempt == 1 {
		return "", temporal.NewApplicationError("no "+animal, "unavailable", animal)
	}
	return "stamped " + animal, nil
}

// codecRig is one server that clients with and without keys use.
type codecRig struct {
	t       *testing.T
	address string
}

// client is one with the keys; with none, one that knows of no encryption.
func (r codecRig) client(ids ...string) client.Client {
	if len(ids) == 0 {
		return r.dial(nil, nil)
	}
	return r.dial(EncryptedConverters(ringOf(r.t, ids...)))
}

func (r codecRig) dial(data converter.DataConverter, failures converter.FailureConverter) client.Client {
	r.t.Helper()
	c, err := Dial(r.t.Context(), ClientOptions{Address: r.address, Logger: testLogger(r.t), DataConverter: data, FailureConverter: failures})
	require.NoError(r.t, err)
	r.t.Cleanup(c.Close)
	return c
}

// work runs a worker; stop ends it and forgets what it kept, so that the next one replays.
func (r codecRig) work(c client.Client, queue string, o worker.Options) (stop func()) {
	r.t.Helper()
	w := worker.New(c, queue, o)
	if !o.DisableWorkflowWorker {
		w.RegisterWorkflow(govern)
	}
	if !o.LocalActivityWorkerOnly {
		w.RegisterActivity(stamp)
	}
	require.NoError(r.t, w.Start())
	return func() {
		w.Stop()
		worker.PurgeStickyWorkflowCache()
	}
}

func (r codecRig) begin(c client.Client, id, animal string) {
	r.t.Helper()
	_, err := c.ExecuteWorkflow(r.t.Context(), client.StartWorkflowOptions{
		ID: id, TaskQueue: id, Memo: map[string]any{"row": animal},
	}, govern, animal)
	require.NoError(r.t, err)
}

func (r codecRig) ask(c client.Client, id, question string) {
	r.t.Helper()
	update, err := c.UpdateWorkflow(r.t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: "ask", Args: []any{question}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(r.t, err)
	var answer string
	require.NoError(r.t, update.Get(r.t.Context(), &answer))
	require.Equal(r.t, "answer to "+question, answer)
}

func (r codecRig) finished(c client.Client, id, want string) {
	r.t.Helper()
	var got string
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(r.t, c.GetWorkflow(ctx, id, "").Get(ctx, &got))
	require.Equal(r.t, want, got)
}

// history is what Temporal keeps of a workflow, as its database has it.
func (r codecRig) history(id string) []*history.HistoryEvent {
	r.t.Helper()
	var events []*history.HistoryEvent
	iter := r.client().GetWorkflowHistory(r.t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iter.HasNext() {
		e, err := iter.Next()
		require.NoError(r.t, err)
		events = append(events, e)
	}
	return events
}

func (r codecRig) raw(id string) string {
	r.t.Helper()
	var b strings.Builder
	for _, e := range r.history(id) {
		raw, err := proto.Marshal(e)
		require.NoError(r.t, err)
		b.Write(raw)
	}
	d, err := r.client().DescribeWorkflowExecution(r.t.Context(), id, "")
	require.NoError(r.t, err)
	raw, err := proto.Marshal(d)
	require.NoError(r.t, err)
	b.Write(raw)
	return b.String()
}

// failedTask waits for a workflow task that failed, and gives its reason as a holder of the keys reads it.
func (r codecRig) failedTask(id string, keys converter.FailureConverter) string {
	r.t.Helper()
	var reason string
	require.Eventually(r.t, func() bool {
		for _, e := range r.history(id) {
			if f := e.GetWorkflowTaskFailedEventAttributes().GetFailure(); f != nil {
				reason = keys.FailureToError(f).Error()
				return true
			}
		}
		return false
	}, 15*time.Second, 50*time.Millisecond, "no task failed")
	require.Equal(r.t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, r.status(id), "a workflow whose key is missing must wait")
	return reason
}

func (r codecRig) status(id string) enums.WorkflowExecutionStatus {
	r.t.Helper()
	d, err := r.client().DescribeWorkflowExecution(r.t.Context(), id, "")
	require.NoError(r.t, err)
	return d.GetWorkflowExecutionInfo().GetStatus()
}

func TestEncryptedOnTemporal(t *testing.T) {
	folder := t.TempDir()
	server, err := StartServer(t.Context(), ServerOptions{DataDir: folder, UIPort: NoUI, Logger: testLogger(t)})
	require.NoError(t, err)
	defer server.Stop()
	for name, part := range map[string]func(codecRig){
		"nothing is in the clear":                    nothingInTheClear,
		"keys are rotated under a running workflow":  keysRotated,
		"a workflow waits for a worker with its key": workflowWaits,
		"so does an activity":                        activityWaits,
		"switched on under a running workflow":       switchedOn,
		"switched off under a running workflow":      switchedOff,
		"the memo is read by who has the key":        memoRead,
	} {
		t.Run(name, func(t *testing.T) { part(codecRig{t, server.Address()}) })
	}
	server.Stop()
	database, err := os.ReadFile(filepath.Join(folder, databaseFile))
	require.NoError(t, err)
	require.False(t, bytes.Contains(database, []byte("quokka")), "what is encrypted is in Temporal's database in the clear")
	require.True(t, bytes.Contains(database, []byte("wombat")), "what was begun in the clear would be found")
}

const finishedQuokka = "counted quokka, quokka?, stamped quokka"

func nothingInTheClear(r codecRig) {
	c := r.client("k1")
	defer r.work(c, "hidden", worker.Options{})()
	r.begin(c, "hidden", "quokka")
	r.ask(c, "hidden", "quokka?")
	r.finished(c, "hidden", finishedQuokka)
	require.NotContains(r.t, r.raw("hidden"), "quokka")
	require.Contains(r.t, r.raw("hidden"), "binary/encrypted")
}

func keysRotated(r codecRig) {
	before := r.client("old")
	stop := r.work(before, "rotated", worker.Options{})
	r.begin(before, "rotated", "quokka")
	requireAtRest(r.t, before, "rotated")
	stop()

	after := r.client("new", "old")
	defer r.work(after, "rotated", worker.Options{})()
	r.ask(after, "rotated", "quokka?")
	r.finished(after, "rotated", finishedQuokka)
	raw := r.raw("rotated")
	require.NotContains(r.t, raw, "quokka")
	require.Contains(r.t, raw, "encryption-key-id\x12\x03old")
	require.Contains(r.t, raw, "encryption-key-id\x12\x03new")

	var got string
	err := before.GetWorkflow(r.t.Context(), "rotated", "").Get(r.t.Context(), &got)
	require.ErrorContains(r.t, err, `"new"`, "who lacks the new key is told which it is")
}

// workflowWaits gives workflows to workers that lack the key of the input, that lack the key of what happened so far, and
// that have no keys at all. Their tasks fail and say which key it is; nothing of the workflows is lost.
func workflowWaits(r codecRig) {
	has := r.client("new", "old")
	r.begin(has, "input", "quokka")
	r.begin(has, "keyless", "quokka")
	r.begin(r.client("old"), "result", "quokka")
	stop := r.work(has, "result", worker.Options{})
	requireAtRest(r.t, has, "result") // the local activity's result is under the new key
	stop()

	oldData, oldFailures := EncryptedConverters(ringOf(r.t, "old"))
	noData, noFailures := DecryptingConverters(nil)
	lacking := []struct {
		id       string
		client   client.Client
		failures converter.FailureConverter
	}{
		{"input", r.dial(oldData, oldFailures), oldFailures},
		{"keyless", r.dial(noData, noFailures), noFailures},
		{"result", r.dial(oldData, oldFailures), oldFailures},
	}
	var asked sync.WaitGroup
	for _, l := range lacking {
		stop := r.work(l.client, l.id, worker.Options{})
		asked.Go(func() { // an update waits for a worker that can take it
			_, err := has.UpdateWorkflow(r.t.Context(), client.UpdateWorkflowOptions{
				WorkflowID: l.id, UpdateName: "ask", Args: []any{"quokka?"}, WaitForStage: client.WorkflowUpdateStageCompleted,
			})
			assert.NoError(r.t, err)
		})
		require.Contains(r.t, r.failedTask(l.id, l.failures), `encrypted with the key "new"`)
		stop()
	}
	for _, l := range lacking { // Temporal gives a failed task out again after 10 s
		defer r.work(has, l.id, worker.Options{})()
	}
	asked.Wait()
	for _, l := range lacking {
		r.finished(has, l.id, finishedQuokka)
	}
}

func activityWaits(r codecRig) {
	has, lacks := r.client("k1"), r.client("k2")
	defer r.work(has, "activity", worker.Options{LocalActivityWorkerOnly: true})()
	stop := r.work(lacks, "activity", worker.Options{DisableWorkflowWorker: true})
	r.begin(has, "activity", "quokka")
	r.ask(has, "activity", "quokka?")
	_, failures := EncryptedConverters(ringOf(r.t, "k2"))
	var last *failure.Failure
	require.Eventually(r.t, func() bool {
		d, err := has.DescribeWorkflowExecution(r.t.Context(), "activity", "")
		if err != nil || len(d.GetPendingActivities()) == 0 {
			return false
		}
		last = d.GetPendingActivities()[0].GetLastFailure()
		return last != nil
	}, 15*time.Second, 50*time.Millisecond)
	require.ErrorContains(r.t, failures.FailureToError(last), `encrypted with the key "k1"`)
	stop()
	defer r.work(has, "activity", worker.Options{DisableWorkflowWorker: true})()
	r.finished(has, "activity", finishedQuokka)
}

func switchedOn(r codecRig) {
	before := r.client()
	stop := r.work(before, "on", worker.Options{})
	r.begin(before, "on", "wombat")
	requireAtRest(r.t, before, "on")
	stop()
	after := r.client("k1")
	defer r.work(after, "on", worker.Options{})()
	r.ask(after, "on", "quokka?")
	r.finished(after, "on", "counted wombat, quokka?, stamped wombat")
	require.NotContains(r.t, r.raw("on"), "quokka")
}

func switchedOff(r codecRig) {
	before := r.client("k1")
	stop := r.work(before, "off", worker.Options{})
	r.begin(before, "off", "wombat")
	requireAtRest(r.t, before, "off")
	stop()
	require.NotContains(r.t, r.raw("off"), "wombat")
	after := r.dial(DecryptingConverters(ringOf(r.t, "k1")))
	defer r.work(after, "off", worker.Options{})()
	r.ask(after, "off", "wombat?")
	r.finished(r.client(), "off", "counted wombat, wombat?, stamped wombat") // who knows of no encryption reads the result
}

func memoRead(r codecRig) {
	r.begin(r.client("k1"), "memo", "quokka")
	var got string
	d, err := r.client("k2", "k1").DescribeWorkflow(r.t.Context(), "memo", "")
	require.NoError(r.t, err)
	require.NoError(r.t, d.GetMemoValue("row", &got))
	require.Equal(r.t, "quokka", got)
}
