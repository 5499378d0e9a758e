package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// CheckFilesInput carries over where a check is when it is continued as a new run: Before is when the first run began, and
// the counts are what it came to so far.
type CheckFilesInput struct {
	Before time.Time        `json:"before,omitzero"`
	Done   CheckFilesResult `json:"done,omitzero"`
}

// CheckFilesResult counts files, and the findings about them.
type CheckFilesResult struct {
	Looked      int `json:"looked"`
	Wrong       int `json:"wrong"`       // changed or missing
	Unreachable int `json:"unreachable"` // the store did not say: they have their turn in the next check
	Opened      int `json:"opened"`
	Resolved    int `json:"resolved"`
}

// CheckFiles looks at every recorded file that was not looked at since it began, the longest ago first, and finds those
// that are not what was committed. What is checked is in the records, so that a run that is stopped anywhere loses nothing.
func CheckFiles(ctx workflow.Context, in CheckFilesInput) (CheckFilesResult, error) {
	c := &checkFiles{in: in}
	if err := c.setup(ctx); err != nil {
		return CheckFilesResult{}, err
	}
	return c.run(ctx)
}

type checkFiles struct {
	in       CheckFilesInput
	progress Progress
}

func (c *checkFiles) setup(ctx workflow.Context) error {
	if c.in.Before.IsZero() {
		c.in.Before = workflow.Now(ctx).UTC()
	}
	c.progress = Progress{Stage: stageChecking, Total: c.in.Done.Looked, Done: c.in.Done.Looked}
	return c.progress.answer(ctx)
}

func (c *checkFiles) run(ctx workflow.Context) (CheckFilesResult, error) {
	for {
		page, err := ordinary(ctx, sweeping(), references().CheckFilePage, activities.CheckFilePageInput{Before: c.in.Before})
		if err != nil {
			return CheckFilesResult{}, err
		}
		done := &c.in.Done
		done.Looked += page.Looked
		done.Wrong += page.Wrong
		done.Unreachable += page.Unreachable
		done.Opened += page.Opened
		done.Resolved += page.Resolved
		c.progress.Total, c.progress.Done = done.Looked, done.Looked
		if !page.More {
			c.progress.Stage = stageDone
			return *done, nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return CheckFilesResult{}, workflow.NewContinueAsNewError(ctx, CheckFiles, c.in)
		}
	}
}
