package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/chaos"
)

// BenchmarkReconcileLag commits at a steady rate to a serve, and measures the time from each commit's row in the ledger
// to its reconciliation, both on the server's clock; the event of the audit is written in the same transaction as the
// latter. The CPU is that of everything: commits, Temporal and the workflows.
func BenchmarkReconcileLag(b *testing.B) {
	at := startServe(b)
	for _, rate := range []int{5, 50} {
		b.Run(fmt.Sprintf("rate=%d", rate), func(b *testing.B) { lag(b, at, rate) })
	}
}

func lag(b *testing.B, at installation, rate int) {
	tables := make([]*table, leastTables)
	mine := map[string]bool{}
	for i := range tables {
		tables[i] = newTable(b, at.client, nil)
		mine[tables[i].state.UUID] = true
	}
	m := startMeter(b, at)
	beat := time.NewTicker(time.Second / time.Duration(rate))
	defer beat.Stop()
	for i := range b.N {
		<-beat.C
		_, err := tables[i%len(tables)].append(b.Context(), at.client)
		require.NoError(b, err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	require.NoError(b, chaos.Settle(ctx, at.client))
	b.StopTimer()

	ledger, err := at.client.Ledger(b.Context())
	require.NoError(b, err)
	for _, row := range ledger {
		if mine[row.TableUUID] {
			require.NotNil(b, row.ReconciledAt)
			m.add(row.ReconciledAt.Sub(row.CommittedAt))
		}
	}
	require.Len(b, m.latencies, b.N)
	m.report(b, "commits")
	b.ReportMetric(milliseconds(slices.Max(m.latencies)), "max-ms")
}
