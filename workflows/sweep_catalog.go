package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// SweepCatalogInput says what to leave to the dispatcher. After, Tables and Started are carried over when a sweep of many tables is
// continued as a new run.
type SweepCatalogInput struct {
	Quiet   time.Duration `json:"quiet"`           // changes younger than this
	After   string        `json:"after,omitempty"` // table id
	Tables  int           `json:"tables,omitempty"`
	Started int           `json:"started,omitempty"`
}

// SweepCatalogResult counts the tables found behind and the reconciliations started for them.
type SweepCatalogResult struct {
	Tables  int `json:"tables"`
	Started int `json:"started"`
}

// SweepCatalog starts the reconciliation of everything that no event announced or whose workflow failed.
func SweepCatalog(ctx workflow.Context, in SweepCatalogInput) (SweepCatalogResult, error) {
	s := &sweepCatalog{in: in}
	if err := s.setup(ctx); err != nil {
		return SweepCatalogResult{}, err
	}
	return s.run(ctx)
}

type sweepCatalog struct {
	in       SweepCatalogInput
	progress Progress
}

func (s *sweepCatalog) setup(ctx workflow.Context) error {
	s.progress = Progress{Stage: stageSweeping, Total: s.in.Tables, Done: s.in.Tables}
	return s.progress.answer(ctx)
}

func (s *sweepCatalog) run(ctx workflow.Context) (SweepCatalogResult, error) {
	for {
		found, err := ordinary(ctx, sweeping(), references().FindDrift,
			activities.FindDriftInput{After: s.in.After, Quiet: s.in.Quiet})
		if err != nil {
			return SweepCatalogResult{}, err
		}
		s.in.Tables += found.Tables
		s.in.Started += found.Started
		s.in.After = found.Next
		s.progress.Total, s.progress.Done = s.in.Tables, s.in.Tables
		if found.Next == "" {
			s.progress.Stage = stageDone
			return SweepCatalogResult{Tables: s.in.Tables, Started: s.in.Started}, nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return SweepCatalogResult{}, workflow.NewContinueAsNewError(ctx, SweepCatalog, s.in)
		}
	}
}
