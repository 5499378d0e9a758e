package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// CheckTablesInput says how old a check may be of a table that did not change. The rest is carried over when a check of many
// tables is continued as a new run.
type CheckTablesInput struct {
	Every  time.Duration     `json:"every"`
	Before time.Time         `json:"before,omitzero"` // checks older than this are done again: of the first run
	After  string            `json:"after,omitempty"` // table id
	Done   CheckTablesResult `json:"done,omitzero"`
}

// CheckTablesResult counts tables, and the findings about them.
type CheckTablesResult struct {
	Tables   int `json:"tables"`   // that changed, or whose check was old
	Failed   int `json:"failed"`   // have their turn in the next run
	Stamped  int `json:"stamped"`  // whose stamped properties were put right
	Opened   int `json:"opened"`   // findings
	Resolved int `json:"resolved"` // findings
}

// CheckTables holds tables against what governance says of them, and looks whether their metadata and the manifest lists of
// their snapshots are there. What did not change costs a query for a page.
func CheckTables(ctx workflow.Context, in CheckTablesInput) (CheckTablesResult, error) {
	c := &checkTables{in: in}
	if err := c.setup(ctx); err != nil {
		return CheckTablesResult{}, err
	}
	return c.run(ctx)
}

type checkTables struct {
	in       CheckTablesInput
	progress Progress
}

func (c *checkTables) setup(ctx workflow.Context) error {
	if c.in.Before.IsZero() {
		c.in.Before = workflow.Now(ctx).UTC().Add(-c.in.Every)
	}
	c.progress = Progress{Stage: stageChecking, Total: c.in.Done.Tables, Done: c.in.Done.Tables, Failed: c.in.Done.Failed}
	return c.progress.answer(ctx)
}

func (c *checkTables) run(ctx workflow.Context) (CheckTablesResult, error) {
	for {
		page, err := ordinary(ctx, looking(), references().CheckTablePage,
			activities.CheckTablePageInput{After: c.in.After, Before: c.in.Before})
		if err != nil {
			return CheckTablesResult{}, err
		}
		done := &c.in.Done
		done.Tables += page.Tables
		done.Failed += page.Failed
		done.Stamped += page.Stamped
		done.Opened += page.Opened
		done.Resolved += page.Resolved
		c.in.After = page.Next
		c.progress.Total, c.progress.Done, c.progress.Failed = done.Tables, done.Tables, done.Failed
		if page.Next == "" {
			c.progress.Stage = stageDone
			return *done, nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return CheckTablesResult{}, workflow.NewContinueAsNewError(ctx, CheckTables, c.in)
		}
	}
}
