package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// SweepDroppedInput carries over where a long sweep is when it is continued as a new run.
type SweepDroppedInput struct {
	After   string `json:"after,omitempty"` // record id
	Started int    `json:"started,omitempty"`
}

// SweepDroppedResult counts the purges started.
type SweepDroppedResult struct {
	Started int `json:"started"`
}

// SweepDropped starts the purge of every dropped table that is due.
func SweepDropped(ctx workflow.Context, in SweepDroppedInput) (SweepDroppedResult, error) {
	s := &sweepDropped{in: in}
	if err := s.setup(ctx); err != nil {
		return SweepDroppedResult{}, err
	}
	return s.run(ctx)
}

type sweepDropped struct {
	in       SweepDroppedInput
	progress Progress
}

func (s *sweepDropped) setup(ctx workflow.Context) error {
	s.progress = Progress{Stage: stageSweeping, Total: s.in.Started, Done: s.in.Started}
	return s.progress.answer(ctx)
}

func (s *sweepDropped) run(ctx workflow.Context) (SweepDroppedResult, error) {
	for {
		page, err := ordinary(ctx, sweeping(), references().StartDuePurges, activities.StartDuePurgesInput{After: s.in.After})
		if err != nil {
			return SweepDroppedResult{}, err
		}
		s.in.Started += page.Started
		s.in.After = page.Next
		s.progress.Total, s.progress.Done = s.in.Started, s.in.Started
		if page.Next == "" {
			s.progress.Stage = stageDone
			return SweepDroppedResult{Started: s.in.Started}, nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return SweepDroppedResult{}, workflow.NewContinueAsNewError(ctx, SweepDropped, s.in)
		}
	}
}
