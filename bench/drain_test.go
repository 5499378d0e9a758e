package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// BenchmarkDrain lets b.N commits land while no worker runs (-benchtime 10000x), starts one worker, or two that share the
// outbox, and measures until all are reconciled. Meanwhile an engine goes on with 5 commits/s on a table of its own, whose times
// from commit to reconciliation are the reported ones: they are not to wait for the end of the backlog.
func BenchmarkDrain(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { drain(b, workers) })
	}
}

func drain(b *testing.B, workers int) {
	c := startCluster(b)
	tables := c.tables(b)
	const unlimited = 1_000_000
	commitSteadily(b, c.installation, prepareCommits(b, tables), unlimited)
	conn, err := pgx.Connect(b.Context(), c.programs.DatabaseURL)
	require.NoError(b, err)
	defer func() { require.NoError(b, conn.Close(b.Context())) }()
	fresh := newTable(b, c.client, nil)

	c.work(b, workers)
	m := startMeter(b, c.installation)
	beat := time.NewTicker(200 * time.Millisecond)
	defer beat.Stop()
	for pending := b.N; pending > 0; <-beat.C {
		_, err := fresh.append(b.Context(), c.client)
		require.NoError(b, err)
		row := conn.QueryRow(b.Context(), "SELECT count(*) FROM commits WHERE status = 'pending' AND table_uuid <> $1", fresh.state.UUID)
		require.NoError(b, row.Scan(&pending))
	}
	b.StopTimer()
	settle(b, c.client)
	m.latencies = lags(b, c.client, []*table{fresh})
	m.report(b, "drained")
	c.halt(b)
}
