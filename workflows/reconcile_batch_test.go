package workflows_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/workflows"
)

type ctx = context.Context

const anything = mock.Anything

func batch(t *testing.T, world *activitiestest.World, targets ...activities.Target) (workflows.ReconcileBatchResult, error) {
	t.Helper()
	var out workflows.ReconcileBatchResult
	err := newRig(t, world).run(workflows.ReconcileBatch, workflows.ReconcileBatchInput{Targets: targets}, &out)
	return out, err
}

func TestReconcileBatch(t *testing.T) {
	world := activitiestest.New()
	var tables, targets []activities.Target
	for i := range 20 {
		tables = append(tables, world.AddTable(fmt.Sprintf("t%02d", i)))
	}
	for range 5 {
		for _, table := range tables {
			targets = append(targets, world.Commit(table))
		}
	}
	out, err := batch(t, world, targets...)
	require.NoError(t, err)
	require.Equal(t, 100, out.Recorded)
	require.Len(t, world.Audits(), 100)
	for _, table := range tables {
		auditedOnce(t, world, table, first, first+1, first+2, first+3, first+4)
		require.Equal(t, int64(50), *world.Table(table).Row.RowCount)
	}
}

func TestReconcileBatchAfterItWasDone(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	targets := []activities.Target{world.Commit(table), world.Commit(table)}
	_, err := reconcile(t, world, targets[0])
	require.NoError(t, err)
	for _, want := range []int{1, 0} {
		out, err := batch(t, world, targets...)
		require.NoError(t, err)
		require.Equal(t, want, out.Recorded)
	}
	auditedOnce(t, world, table, first, first+1)
}

func TestATableThatFailsDoesNotStopTheOthers(t *testing.T) {
	world := activitiestest.New()
	good, bad, gone := world.AddTable("good"), world.AddTable("bad"), world.AddTable("gone")
	targets := []activities.Target{world.Commit(bad), world.Commit(good), world.Commit(gone), world.Commit(bad), world.Commit(good)}
	world.Drop(gone)
	world.SetFail(func(port, table string) error {
		if port == "RecordCommit" && table == bad.TableID {
			return fault.New(fault.Invalid, "The ledger row is malformed.")
		}
		return nil
	})
	_, err := batch(t, world, targets...)
	app := applicationError(t, err)
	require.Equal(t, workflows.BatchFailedError, app.Type())
	require.ErrorContains(t, err, "sales.bad")
	var failures []workflows.TableFailure
	require.NoError(t, app.Details(&failures))
	require.Equal(t, []workflows.TableFailure{
		{TableUUID: bad.TableUUID, TableName: "sales.bad", Reason: "The ledger row is malformed."},
	}, failures)
	auditedOnce(t, world, good, first, first+1)
	auditedOnce(t, world, bad)
	require.Len(t, world.Audits(), 3, "the dropped table's commit is abandoned")
}

func TestABatchTakesUnseenAncestorsToo(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	older := world.Commit(table)
	world.CommitUnseen(table)
	newer := world.Commit(table)
	out, err := batch(t, world, older, newer, newer)
	require.NoError(t, err)
	require.Equal(t, 3, out.Recorded)
	auditedOnce(t, world, table, first, first+1, first+2)
}

// What the newest commit does not reach, here an expired one, has its own turn.
func TestABatchWhoseOlderCommitIsExpired(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	expired, newest := world.Commit(table), world.Commit(table)
	world.Expire(table, 1)
	out, err := batch(t, world, expired, newest)
	require.NoError(t, err)
	require.Equal(t, 2, out.Recorded)
	auditedOnce(t, world, table, first+1, first)
	require.Equal(t, first+1, *world.Table(table).Row.RecordedSnapshotID, "the recorded head never goes back")
}

func TestABatchPagesALongHistory(t *testing.T) {
	world := activitiestest.New()
	table := world.AddTable("orders")
	var targets []activities.Target
	for range 7 {
		targets = append(targets, world.Commit(table))
	}
	var out workflows.ReconcileBatchResult
	require.NoError(t, newRig(t, world).run(workflows.ReconcileBatch, workflows.ReconcileBatchInput{Targets: targets, PageSize: 3}, &out))
	require.Equal(t, 7, out.Recorded)
	auditedOnce(t, world, table, first, first+1, first+2, first+3, first+4, first+5, first+6)
}

func TestABatchInAnOutage(t *testing.T) {
	world := activitiestest.New()
	a, b := world.Commit(world.AddTable("a")), world.Commit(world.AddTable("b"))
	failTimes(world, "RecordCommit", 20, unavailable())
	out, err := batch(t, world, a, b)
	require.NoError(t, err)
	require.Equal(t, 2, out.Recorded)
	require.Len(t, world.Audits(), 2)
}
