package bench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/e2e/temporald"
	"github.com/sluice-data/sluice/internal/store/pgtest"
)

// cluster is an installation of separate programs: PostgreSQL, Temporal, an api, and workers.
type cluster struct {
	installation
	programs *product.External
	workers  []*product.Process
}

// startCluster starts all but the workers.
func startCluster(b *testing.B) *cluster {
	b.Helper()
	if postgres == nil {
		b.Skip("PostgreSQL is not installed")
	}
	folder := b.TempDir()
	temporal, err := temporald.Start(b.Context(), filepath.Join(folder, "temporal"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, temporal.Stop()) })
	c := &cluster{programs: &product.External{
		Binary: binary, Folder: folder, DatabaseURL: pgtest.Database(b), TemporalAddress: temporal.Address(),
	}}
	require.NoError(b, c.programs.Prepare(b.Context()))
	c.database, c.parts = postgres.PID(), map[string]int{"temporal": temporal.Process().PID()}
	c.process, c.client, err = c.programs.API(b.Context())
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, c.process.Stop(stopWithin)) })
	prepared(b, c.installation)
	return c
}

// work starts workers, which are ended with the benchmark.
func (c *cluster) work(b *testing.B, workers int) {
	b.Helper()
	for i := range workers {
		p, err := c.programs.Worker(b.Context())
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, p.Stop(stopWithin)) })
		c.workers = append(c.workers, p)
		c.parts[fmt.Sprintf("worker%d", i+1)] = p.PID()
	}
}

// halt ends the workers.
func (c *cluster) halt(b *testing.B) {
	b.Helper()
	for _, p := range c.workers {
		require.NoError(b, p.Stop(stopWithin))
	}
	for name := range c.parts {
		if strings.HasPrefix(name, "worker") {
			delete(c.parts, name)
		}
	}
	c.workers = nil
}
