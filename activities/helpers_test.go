package activities_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
)

const workflowID = "reconcile/a-table/1"

// rig is a world with its activities in an activity environment.
type rig struct {
	t     *testing.T
	world *activitiestest.World
	acts  *activities.Activities
	env   *testsuite.TestActivityEnvironment
}

func newRig(t *testing.T, change ...func(*activities.Ports)) *rig {
	t.Helper()
	world := activitiestest.New()
	ports := world.Ports()
	ports.Now = func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }
	for _, c := range change {
		c(&ports)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	r := &rig{t: t, world: world, acts: activities.New(ports), env: suite.NewTestActivityEnvironment()}
	r.env.RegisterActivity(r.acts)
	return r
}

func run[I, R any](r *rig, activity func(context.Context, I) (R, error), in I) (R, error) {
	r.t.Helper()
	var out R
	value, err := r.env.ExecuteActivity(activity, in)
	if err == nil {
		require.NoError(r.t, value.Get(&out))
	}
	return out, err
}

func must[I, R any](r *rig, activity func(context.Context, I) (R, error), in I) R {
	r.t.Helper()
	out, err := run(r, activity, in)
	require.NoError(r.t, err)
	return out
}

// reconcile runs the steps of one commit.
func (r *rig) reconcile(t activities.Target, restamped ...string) bool {
	r.t.Helper()
	counts := must(r, r.acts.RecountSnapshot, activities.RecountSnapshotInput{Target: t})
	return must(r, r.acts.RecordCommit, activities.RecordCommitInput{
		Target: t, Catalog: "main", OnMain: true, Counts: counts, Restamped: restamped, WorkflowID: workflowID,
	}).Recorded
}

func (r *rig) detect(t activities.Target) activities.DetectCommitsResult {
	r.t.Helper()
	return must(r, r.acts.DetectCommits, activities.DetectCommitsInput{Target: t})
}

func ids(snapshots []activities.DetectedSnapshot) []int64 {
	var out []int64
	for _, s := range snapshots {
		out = append(out, s.ID)
	}
	return out
}

func asApplication(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	return app
}

type fixedCounter struct{ counts reconcile.Counts }

func (c fixedCounter) Count(context.Context, *metadata.Document, metadata.Snapshot) (reconcile.Counts, error) {
	return c.counts, nil
}

func counting(c reconcile.Counts) func(*activities.Ports) {
	return func(p *activities.Ports) { p.Counter = fixedCounter{c} }
}
