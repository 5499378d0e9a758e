package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// parallelTables is how many tables of a batch are worked on at once.
const parallelTables = 8

// ReconcileBatchInput names the commits, in order of the outbox. Recorded, Abandoned and Failures are carried over when a batch is
// continued as a new run; PageSize is for tests.
type ReconcileBatchInput struct {
	Targets   []activities.Target `json:"targets"`
	Recorded  int                 `json:"recorded,omitempty"`
	Abandoned int                 `json:"abandoned,omitempty"`
	Failures  []TableFailure      `json:"failures,omitempty"`
	PageSize  int                 `json:"pageSize,omitempty"`
}

// ReconcileBatchResult counts what was written.
type ReconcileBatchResult struct {
	Recorded  int `json:"recorded"`
	Abandoned int `json:"abandoned,omitempty"`
}

// TableFailure is a table of a batch that could not be reconciled.
type TableFailure struct {
	TableUUID string `json:"tableUuid"`
	TableName string `json:"tableName"`
	Reason    string `json:"reason"`
}

// ReconcileBatch reconciles many commits of many tables by the same steps as ReconcileCommit: in order within a table, tables side
// by side. A table that fails does not stop the others; the batch then fails at its end, naming it, and the sweep starts what is missing.
func ReconcileBatch(ctx workflow.Context, in ReconcileBatchInput) (ReconcileBatchResult, error) {
	b := &reconcileBatch{
		in: in, tables: byTable(in.Targets), failures: in.Failures,
		out: ReconcileBatchResult{Recorded: in.Recorded, Abandoned: in.Abandoned},
	}
	if err := b.setup(ctx); err != nil {
		return ReconcileBatchResult{}, err
	}
	return b.run(ctx)
}

type reconcileBatch struct {
	in       ReconcileBatchInput
	tables   [][]activities.Target
	left     []activities.Target // for the next run
	failures []TableFailure
	out      ReconcileBatchResult
	progress Progress
}

func (b *reconcileBatch) setup(ctx workflow.Context) error {
	b.progress = Progress{
		Stage: stageDetecting, Total: len(b.in.Targets), Recorded: b.in.Recorded, Abandoned: b.in.Abandoned, Failed: len(b.failures),
	}
	return b.progress.answer(ctx)
}

func (b *reconcileBatch) run(ctx workflow.Context) (ReconcileBatchResult, error) {
	slots := workflow.NewSemaphore(ctx, parallelTables)
	all := workflow.NewWaitGroup(ctx)
	for _, targets := range b.tables {
		if err := slots.Acquire(ctx, 1); err != nil {
			break // cancelled
		}
		all.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			b.table(ctx, targets)
			slots.Release(1)
			all.Done()
		})
	}
	all.Wait(ctx)
	if err := ctx.Err(); err != nil {
		return b.out, err
	}
	if len(b.left) > 0 {
		return b.out, workflow.NewContinueAsNewError(ctx, ReconcileBatch, ReconcileBatchInput{
			Targets: b.left, Recorded: b.out.Recorded, Abandoned: b.out.Abandoned, Failures: b.failures, PageSize: b.in.PageSize,
		})
	}
	b.progress.Stage, b.progress.Table = stageDone, ""
	if len(b.failures) > 0 {
		return b.out, temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("%d tables of the batch failed, first %s: %s", len(b.failures), b.failures[0].TableName, b.failures[0].Reason),
			BatchFailedError, nil, b.failures)
	}
	return b.out, nil
}

// table reconciles one table's commits. The newest usually covers the others as its ancestors; what it does not cover, such
// as a commit on another branch, has its turn after.
func (b *reconcileBatch) table(ctx workflow.Context, targets []activities.Target) {
	known := int64(0)
	for len(targets) > 0 {
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			b.left = append(b.left, targets...)
			return
		}
		newest := targets[len(targets)-1]
		run := &tableRun{
			target: newest, known: known, batch: snapshotsOf(targets), pageSize: b.in.PageSize,
			workflowID: workflow.GetInfo(ctx).WorkflowExecution.ID, progress: &b.progress,
		}
		done, err := run.run(ctx)
		b.out.Recorded += done.recorded
		b.out.Abandoned += done.abandoned
		if err != nil {
			b.fail(newest, err)
			return
		}
		known = 0
		if done.more {
			known = done.last
		}
		targets = slices.DeleteFunc(targets, func(t activities.Target) bool { return slices.Contains(done.finished, t.SnapshotID) })
	}
}

func snapshotsOf(targets []activities.Target) []int64 {
	ids := make([]int64, 0, len(targets))
	for _, t := range targets {
		ids = append(ids, t.SnapshotID)
	}
	return ids
}

func (b *reconcileBatch) fail(t activities.Target, err error) {
	b.progress.Failed++
	b.failures = append(b.failures, TableFailure{TableUUID: t.TableUUID, TableName: t.TableName, Reason: messageOf(err)})
}

// byTable groups targets by table, tables in order of their first commit, and drops repetitions.
func byTable(targets []activities.Target) [][]activities.Target {
	var groups [][]activities.Target
	at := map[string]int{}
	for _, t := range targets {
		key := t.TableID + "/" + t.TableUUID
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key] = i
			groups = append(groups, nil)
		}
		if !slices.ContainsFunc(groups[i], func(o activities.Target) bool { return o.SnapshotID == t.SnapshotID }) {
			groups[i] = append(groups[i], t)
		}
	}
	return groups
}
