package workflows_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/workflows"
)

const first = activitiestest.FirstSnapshotID

func TestReconcileCommit(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	world.Table(table).Restamp = []string{"sluice.write-policy"}
	target := world.Commit(table)
	r := newRig(t, world)
	var out workflows.ReconcileCommitResult
	require.NoError(t, r.run(workflows.ReconcileCommit, workflows.ReconcileCommitInput{Target: target}, &out))
	require.Equal(t, workflows.ReconcileCommitResult{Recorded: 1}, out)
	auditedOnce(t, world, table, first)
	details := world.Audits()[0].Details.V
	require.Equal(t, []string{"sluice.write-policy"}, details["restamped"])
	require.Equal(t, int64(10), details["rowCountAfter"])
	require.NotEmpty(t, details["workflowId"])

	var progress workflows.Progress
	answer, err := r.env.QueryWorkflow(workflows.ProgressQuery)
	require.NoError(t, err)
	require.NoError(t, answer.Get(&progress))
	require.Equal(t, workflows.Progress{Stage: "done", Table: "sales.orders", Total: 1, Done: 1, Recorded: 1}, progress)
}

func TestReconcileCommitTakesItsUnrecordedAncestorsFirst(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	world.Commit(table)
	world.CommitUnseen(table)
	out, err := reconcile(t, world, world.Commit(table))
	require.NoError(t, err)
	require.Equal(t, 3, out.Recorded)
	auditedOnce(t, world, table, first, first+1, first+2)
	require.Equal(t, 1, world.Calls("Restamp"), "the table is stamped once")
}

func TestReconcileCommitTwiceRecordsOnce(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	target := world.Commit(table)
	for _, want := range []int{1, 0} {
		out, err := reconcile(t, world, target)
		require.NoError(t, err)
		require.Equal(t, want, out.Recorded)
	}
	auditedOnce(t, world, table, first)
}

// Somebody asks for a table whose commits are all recorded, after its classification changed.
func TestReconcileCommitStampsATableThatHasNothingElse(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	target := world.Commit(table)
	_, err := reconcile(t, world, target)
	require.NoError(t, err)
	world.Table(table).Restamp = []string{"sluice.classification"}
	out, err := reconcile(t, world, target)
	require.NoError(t, err)
	require.Zero(t, out.Recorded)
	require.Empty(t, world.Table(table).Restamp)
}

// The other run of the same table records between this one's detection and its recount.
func TestReconcileCommitBesideAnother(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	target := world.Commit(table)
	raced := false
	world.SetFail(func(port, _ string) error {
		if port == "Count" && !raced {
			raced = true
			_, err := reconcile(t, world, target)
			return err
		}
		return nil
	})
	out, err := reconcile(t, world, target)
	require.NoError(t, err)
	require.True(t, raced)
	require.Zero(t, out.Recorded)
	auditedOnce(t, world, table, first)
}

func TestReconcileCommitOfADroppedTable(t *testing.T) {
	world := activitiestest.New()
	target := world.Commit(world.AddTable("orders"))
	world.Drop(target)
	out, err := reconcile(t, world, target)
	require.NoError(t, err)
	require.Equal(t, workflows.ReconcileCommitResult{Abandoned: 1}, out)
	require.Equal(t, models.AuditCommitAbandoned, world.Audits()[0].Type)
}

// The commit was made and its files are there: it is recorded, although the table goes meanwhile.
func TestATableDroppedInTheMiddle(t *testing.T) {
	world := activitiestest.New()
	target := world.Commit(world.AddTable("orders"))
	dropped := false
	world.SetFail(func(port, _ string) error {
		if port == "Count" && !dropped {
			dropped = true
			world.Drop(target)
		}
		return nil
	})
	out, err := reconcile(t, world, target)
	require.NoError(t, err)
	require.True(t, dropped)
	require.Equal(t, workflows.ReconcileCommitResult{Recorded: 1}, out)
	require.Len(t, world.Audits(), 1)
}

// Each step must survive a short outage inside its workflow task, and a long one by waiting as an ordinary activity.
func TestReconcileCommitSurvivesOutages(t *testing.T) {
	for _, port := range []string{"Commit", "TableByID", "CatalogByID", "Document", "Count", "RecordCommit"} {
		for name, times := range map[string]int64{"short": 2, "long": 12} { // the test environment gives up after 10 ordinary attempts
			t.Run(port+"/"+name, func(t *testing.T) {
				world := activitiestest.New()
				table := world.AddTable("orders")
				target := world.Commit(table)
				failTimes(world, port, times, unavailable())
				out, err := reconcile(t, world, target)
				require.NoError(t, err)
				require.Equal(t, 1, out.Recorded)
				auditedOnce(t, world, table, first)
			})
		}
	}
}

// A worker that dies after the effect and before the report runs the step again.
func TestAnAnswerThatIsLost(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	target := world.Commit(table)
	lost := false
	r := newRig(t, world)
	acts := activities.New(world.Ports())
	r.env.OnActivity(acts.RecordCommit, anything, anything).Return(
		func(ctx ctx, in activities.RecordCommitInput) (activities.RecordCommitResult, error) {
			out, err := acts.RecordCommit(ctx, in)
			if err == nil && !lost {
				lost = true
				return activities.RecordCommitResult{}, errors.New("connection reset")
			}
			return out, err
		})
	var out workflows.ReconcileCommitResult
	require.NoError(t, r.run(workflows.ReconcileCommit, workflows.ReconcileCommitInput{Target: target}, &out))
	require.True(t, lost)
	auditedOnce(t, world, table, first)
}

func TestAPermanentErrorFailsTheWorkflowAtOnce(t *testing.T) {
	world := activitiestest.New()
	target := world.Commit(world.AddTable("orders"))
	failTimes(world, "RecordCommit", -1, fault.New(fault.Invalid, "The ledger row is malformed."))
	_, err := reconcile(t, world, target)
	app := applicationError(t, err)
	require.Equal(t, string(activities.InvalidError), app.Type())
	require.Equal(t, 1, world.Calls("RecordCommit"))
	require.Empty(t, world.Audits())
}

// Stamping may fail, for now or for good; the commit is audited all the same.
func TestStampingThatFailsDoesNotHoldUpTheAudit(t *testing.T) {
	for name, err := range map[string]error{
		"for good": fault.New(fault.Unprocessable, "The table's metadata cannot be changed."),
		"for now":  fault.New(fault.Conflict, "The table changes too fast."),
	} {
		t.Run(name, func(t *testing.T) {
			world := activitiestest.New()
			table := world.AddTable("orders")
			target := world.Commit(table)
			failTimes(world, "Restamp", -1, err)
			out, runErr := reconcile(t, world, target)
			require.NoError(t, runErr)
			require.Equal(t, 1, out.Recorded)
			require.Equal(t, fault.PublicMessage(err), world.Audits()[0].Details.V["restampError"])
		})
	}
}

func TestALongHistoryContinuesAsNewRuns(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	var target activities.Target
	for range 7 {
		target = world.CommitUnseen(table)
	}
	in := workflows.ReconcileCommitInput{Target: target, PageSize: 3}
	runs := 0
	var out workflows.ReconcileCommitResult
	for {
		runs++
		err := newRig(t, world).run(workflows.ReconcileCommit, in, &out)
		var next *workflow.ContinueAsNewError
		if !errors.As(err, &next) {
			require.NoError(t, err)
			break
		}
		in = workflows.ReconcileCommitInput{}
		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &in))
	}
	require.Equal(t, 3, runs)
	require.Equal(t, 7, out.Recorded)
	auditedOnce(t, world, table, first, first+1, first+2, first+3, first+4, first+5, first+6)
	require.Equal(t, 1, world.Calls("Restamp"))
	require.Equal(t, first+6, *world.Table(table).Row.RecordedSnapshotID)
}

func TestCancellingStopsBetweenSteps(t *testing.T) {
	world := activitiestest.New()
	target := world.Commit(world.AddTable("orders"))
	failTimes(world, "Count", -1, unavailable())
	r := newRig(t, world)
	r.env.RegisterDelayedCallback(r.env.CancelWorkflow, 60_000_000_000)
	err := r.run(workflows.ReconcileCommit, workflows.ReconcileCommitInput{Target: target}, nil)
	require.ErrorContains(t, err, "canceled")
	require.Empty(t, world.Audits())
}
