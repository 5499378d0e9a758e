package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// dailyEach is how many looks at the writers come to one at what tables got within a day, which reads much more.
const dailyEach = 10

// WatchWritersInput says how often it is run. The rest is carried over when a look at many is continued as a new run.
type WatchWritersInput struct {
	Every      time.Duration `json:"every"`      // from one run to the next
	FileMemory time.Duration `json:"fileMemory"` // how long a file that was removed is remembered

	Step  int                `json:"step,omitempty"`  // of the run
	After string             `json:"after,omitempty"` // writer or table id: the step's next page starts behind it
	Done  WatchWritersResult `json:"done,omitzero"`
}

// WatchWritersResult counts what was looked at, and the findings. The next run reads DailyAt in it.
type WatchWritersResult struct {
	Writers   int       `json:"writers"`
	Tables    int       `json:"tables"` // that were committed to within the hour
	Opened    int       `json:"opened"`
	Resolved  int       `json:"resolved"`
	Forgotten int       `json:"forgotten"`        // records of removed files
	DailyAt   time.Time `json:"dailyAt,omitzero"` // of the last look at what tables got within a day
}

// WatchWriters finds who owes a commit, whose token ends and who uses keys of its own; and tables that get too many
// snapshots or too small files. What it finds is in the findings, so that a run that is stopped anywhere loses nothing.
func WatchWriters(ctx workflow.Context, in WatchWritersInput) (WatchWritersResult, error) {
	w := &watchWriters{in: in}
	if err := w.setup(ctx); err != nil {
		return WatchWritersResult{}, err
	}
	return w.run(ctx)
}

type watchWriters struct {
	in       WatchWritersInput
	progress Progress
}

func (w *watchWriters) setup(ctx workflow.Context) error {
	if w.in.Step == 0 && w.in.After == "" && workflow.HasLastCompletionResult(ctx) {
		var last WatchWritersResult
		if err := workflow.GetLastCompletionResult(ctx, &last); err == nil {
			w.in.Done.DailyAt = last.DailyAt
		}
	}
	w.progress = Progress{Stage: stageWatching, Total: w.in.Done.Writers, Done: w.in.Done.Writers}
	return w.progress.answer(ctx)
}

// run does the steps in their order. Each gives where its next page starts, "" at its end.
func (w *watchWriters) run(ctx workflow.Context) (WatchWritersResult, error) {
	steps := []func(workflow.Context) (next string, err error){w.writers, w.hourly, w.daily, w.tidy}
	for ; w.in.Step < len(steps); w.in.Step++ {
		for {
			next, err := steps[w.in.Step](ctx)
			if err != nil {
				return WatchWritersResult{}, err
			}
			w.in.After = next
			w.progress.Total = w.in.Done.Writers + w.in.Done.Tables
			w.progress.Done = w.progress.Total
			if next == "" {
				break
			}
			if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
				return WatchWritersResult{}, workflow.NewContinueAsNewError(ctx, WatchWriters, w.in)
			}
		}
	}
	w.progress.Stage = stageDone
	return w.in.Done, nil
}

func (w *watchWriters) writers(ctx workflow.Context) (string, error) {
	w.progress.Stage = stageWatching
	page, err := ordinary(ctx, sweeping(), references().WatchWriterPage, activities.WatchWriterPageInput{After: w.in.After})
	w.in.Done.Writers += page.Writers
	w.count(page.Opened, page.Resolved)
	return page.Next, err
}

func (w *watchWriters) hourly(ctx workflow.Context) (string, error) {
	w.progress.Stage = stageRating
	page, err := ordinary(ctx, sweeping(), references().WatchTablePage, activities.WatchTablePageInput{After: w.in.After})
	w.in.Done.Tables += page.Tables
	w.count(page.Opened, page.Resolved)
	return page.Next, err
}

// daily is done in one of dailyEach runs.
func (w *watchWriters) daily(ctx workflow.Context) (string, error) {
	now := workflow.Now(ctx).UTC()
	if w.in.After == "" && now.Sub(w.in.Done.DailyAt) < (dailyEach-1)*w.in.Every {
		return "", nil
	}
	page, err := ordinary(ctx, sweeping(), references().WatchTablePage, activities.WatchTablePageInput{After: w.in.After, Daily: true})
	w.count(page.Opened, page.Resolved)
	if page.Next == "" {
		w.in.Done.DailyAt = now
	}
	return page.Next, err
}

func (w *watchWriters) tidy(ctx workflow.Context) (string, error) {
	w.progress.Stage = stageTidying
	out, err := ordinary(ctx, sweeping(), references().TidyFindings, activities.TidyFindingsInput{FileMemory: w.in.FileMemory})
	w.in.Done.Forgotten += out.Forgotten
	w.count(0, out.Resolved)
	if out.More {
		return "more", err
	}
	return "", err
}

func (w *watchWriters) count(opened, resolved int) {
	w.in.Done.Opened += opened
	w.in.Done.Resolved += resolved
}
