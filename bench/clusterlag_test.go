package bench

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkClusterLag commits at a steady rate, and measures the time from each commit to its reconciliation, by the clocks
// of the api and the worker, which are those of one machine.
func BenchmarkClusterLag(b *testing.B) {
	c := startCluster(b)
	c.work(b, 1)
	for _, rate := range []int{10, 50, 200} {
		b.Run(fmt.Sprintf("rate=%d", rate), func(b *testing.B) {
			tables := c.tables(b)
			ready := prepareCommits(b, tables)
			m := startMeter(b, c.installation)
			commitSteadily(b, c.installation, ready, rate)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sent/s")
			settle(b, c.client)
			b.StopTimer()
			m.latencies = lags(b, c.client, tables)
			require.Len(b, m.latencies, b.N)
			m.report(b, "commits")
			b.ReportMetric(milliseconds(slices.Max(m.latencies)), "max-ms")
		})
	}
}
