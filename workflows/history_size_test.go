package workflows_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/workflows"
)

// Temporal warns of histories from 10,240 events or 10 MB on, and ends them at five times that.
const (
	mostEvents = 2000
	mostBytes  = 1 << 20
)

// TestTheHistoryOfABatchIsSmall is of the largest batch that the dispatcher starts.
func TestTheHistoryOfABatchIsSmall(t *testing.T) {
	e := startTemporal(t)
	for _, tables := range []int{1, 20, 100} {
		t.Run(fmt.Sprintf("100 commits of %d tables", tables), func(t *testing.T) {
			world := activitiestest.New()
			defer e.work(t, world)()
			var made []activities.Target
			for range tables {
				made = append(made, newTable(world))
			}
			var events []models.OutboxEvent
			for i := range 100 {
				events = append(events, event(int64(1000*tables+i), world.Commit(made[i%tables])))
			}
			starter := e.starter(world)
			require.NoError(t, starter.StartReconcileBatch(t.Context(), events))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.NoError(t, starter.AwaitReconcileBatch(ctx, events))
			require.Equal(t, 100, world.AuditCount())

			var targets []activities.Target
			for _, event := range events {
				targets = append(targets, workflows.TargetOf(event))
			}
			id := workflows.ReconcileBatchID(events[0].ID, events[99].ID, targets)
			info := e.describe(t, id).GetWorkflowExecutionInfo()
			t.Logf("%d events, %d bytes", info.GetHistoryLength(), info.GetHistorySizeBytes())
			require.Less(t, info.GetHistoryLength(), int64(mostEvents))
			require.Less(t, info.GetHistorySizeBytes(), int64(mostBytes))
		})
	}
}
