package workflows_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/models"
)

// BenchmarkReconcileCommit is one workflow for each commit on an embedded server with ports that cost nothing.
func BenchmarkReconcileCommit(b *testing.B) {
	e := startTemporal(b)
	world := activitiestest.New()
	e.work(b, world)
	starter := e.starter(world)
	measure(b, world, 1, func(batch int, events []models.OutboxEvent) error {
		return starter.StartReconcile(b.Context(), events[0])
	})
}

// BenchmarkReconcileBatch is one workflow for every 100 commits of 20 tables.
func BenchmarkReconcileBatch(b *testing.B) {
	e := startTemporal(b)
	world := activitiestest.New()
	e.work(b, world)
	starter := e.starter(world)
	measure(b, world, 100, func(batch int, events []models.OutboxEvent) error {
		return starter.StartReconcileBatch(b.Context(), events)
	})
}

// BenchmarkReconcileLatency is the time from a start to the audit event, one commit after the other.
func BenchmarkReconcileLatency(b *testing.B) {
	e := startTemporal(b)
	world := activitiestest.New()
	e.work(b, world)
	starter := e.starter(world)
	table := newTable(world)
	for n := 1; b.Loop(); n++ {
		require.NoError(b, starter.StartReconcile(b.Context(), event(int64(n), world.Commit(table))))
		awaitAudits(b, world, n)
	}
}

func measure(b *testing.B, world *activitiestest.World, size int, start func(int, []models.OutboxEvent) error) {
	var tables []activities.Target
	for i := range 20 {
		tables = append(tables, world.AddTable(fmt.Sprintf("t%02d", i)))
	}
	batches := make([][]models.OutboxEvent, b.N)
	n := 0
	for i := range batches {
		for range size {
			n++
			batches[i] = append(batches[i], event(int64(n), world.Commit(tables[n%len(tables)])))
		}
	}
	begun, cpu := time.Now(), cpuTime(b)
	b.ResetTimer()
	var group errgroup.Group
	group.SetLimit(8)
	for i, events := range batches {
		group.Go(func() error { return start(i, events) })
	}
	require.NoError(b, group.Wait())
	awaitAudits(b, world, n)
	b.StopTimer()
	b.ReportMetric(float64(n)/time.Since(begun).Seconds(), "commits/s")
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/float64(n), "cpu-ms/commit")
	b.ReportMetric(float64(world.Calls("Count"))/float64(n), "counts/commit")
}

func awaitAudits(b *testing.B, world *activitiestest.World, n int) {
	b.Helper()
	require.Eventually(b, func() bool { return world.AuditCount() == n }, 5*time.Minute, time.Millisecond)
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
