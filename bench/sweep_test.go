package bench

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/internal/temporalx"
	"github.com/sluice-data/sluice/workflows"
)

// BenchmarkSweep makes b.N tables with a commit each (-benchtime 10000x), and measures what the schedules do with them: the check of
// tables that were never looked at, and then each sweep where nothing has changed since.
func BenchmarkSweep(b *testing.B) {
	c := startCluster(b)
	c.work(b, 1)
	manyCommitted(b, c)
	temporal, err := temporalx.Dial(b.Context(), temporalx.ClientOptions{
		Address: c.programs.TemporalAddress, Namespace: "sluice", Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(b, err)
	defer temporal.Close()
	b.ResetTimer()
	tables := workflows.CheckTablesInput{Every: 24 * time.Hour}
	for _, sweep := range []struct {
		unit, workflow string
		in             any
	}{
		{"check-tables-first-s", workflows.CheckTablesName, tables},
		{"check-tables-s", workflows.CheckTablesName, tables},
		{"sweep-catalog-s", workflows.SweepCatalogName, workflows.SweepCatalogInput{Quiet: time.Minute}},
		{"watch-writers-s", workflows.WatchWritersName, workflows.WatchWritersInput{Every: time.Hour, FileMemory: time.Hour}},
	} {
		begun := time.Now()
		run, err := temporal.ExecuteWorkflow(b.Context(), client.StartWorkflowOptions{ID: "bench-" + sweep.unit, TaskQueue: workflows.MaintenanceQueue},
			sweep.workflow, sweep.in)
		require.NoError(b, err)
		require.NoError(b, run.Get(b.Context(), nil))
		b.ReportMetric(time.Since(begun).Seconds(), sweep.unit)
	}
}

// manyCommitted makes b.N tables, and waits until the one commit of each is reconciled.
func manyCommitted(b *testing.B, c *cluster) {
	b.Helper()
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for i := client; i < b.N; i += clients {
				t := newTable(b, c.client, nil)
				if _, err := t.append(b.Context(), c.client); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	conn, err := pgx.Connect(b.Context(), c.programs.DatabaseURL)
	require.NoError(b, err)
	defer func() { require.NoError(b, conn.Close(context.Background())) }()
	for pending := 1; pending > 0; time.Sleep(200 * time.Millisecond) {
		require.NoError(b, conn.QueryRow(b.Context(), "SELECT count(*) FROM commits WHERE status = 'pending'").Scan(&pending))
	}
}
