package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// ReconcileCommitInput names the commit. Known, Recorded and Abandoned are carried over when a long history of ancestors is
// continued as a new run; PageSize is for tests.
type ReconcileCommitInput struct {
	Target    activities.Target `json:"target"`
	Known     int64             `json:"known,omitempty,string"`
	Recorded  int               `json:"recorded,omitempty"`
	Abandoned int               `json:"abandoned,omitempty"`
	PageSize  int               `json:"pageSize,omitempty"`
}

// ReconcileCommitResult counts what was written.
type ReconcileCommitResult struct {
	Recorded  int `json:"recorded"`
	Abandoned int `json:"abandoned,omitempty"`
}

// ReconcileCommit reconciles one commit and every unrecorded ancestor of it. A commit that is reconciled already, or by
// another run at the same time, is recorded once.
func ReconcileCommit(ctx workflow.Context, in ReconcileCommitInput) (ReconcileCommitResult, error) {
	c := &reconcileCommit{in: in, out: ReconcileCommitResult{Recorded: in.Recorded, Abandoned: in.Abandoned}}
	if err := c.setup(ctx); err != nil {
		return ReconcileCommitResult{}, err
	}
	return c.run(ctx)
}

type reconcileCommit struct {
	in       ReconcileCommitInput
	out      ReconcileCommitResult
	progress Progress
}

func (c *reconcileCommit) setup(ctx workflow.Context) error {
	c.progress = Progress{Total: 1, Recorded: c.in.Recorded, Abandoned: c.in.Abandoned}
	return c.progress.answer(ctx)
}

func (c *reconcileCommit) run(ctx workflow.Context) (ReconcileCommitResult, error) {
	table := &tableRun{
		target: c.in.Target, known: c.in.Known, pageSize: c.in.PageSize,
		workflowID: workflow.GetInfo(ctx).WorkflowExecution.ID, progress: &c.progress,
	}
	done, err := table.run(ctx)
	if err != nil {
		return c.out, err
	}
	c.out.Recorded += done.recorded
	c.out.Abandoned += done.abandoned
	if done.more {
		next := c.in
		next.Known, next.Recorded, next.Abandoned = done.last, c.out.Recorded, c.out.Abandoned
		return c.out, workflow.NewContinueAsNewError(ctx, ReconcileCommit, next)
	}
	c.progress.Stage = stageDone
	return c.out, nil
}
