package chaos

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/internal/temporalx"
)

// TestTemporalDown lets 100 commits land while Temporal is down, in an installation of separate programs on PostgreSQL.
func TestTemporalDown(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database, Temporal and two programs")
	}
	database := pgtest.Database(t)
	dir := t.TempDir()
	program, err := binary()
	require.NoError(t, err)
	temporal := newTemporal(t, filepath.Join(dir, "temporal"))
	temporal.start(t)

	programs := &product.External{Binary: program, Folder: dir, DatabaseURL: database, TemporalAddress: temporal.address}
	require.NoError(t, programs.Prepare(t.Context()))
	api, c, err := programs.API(t.Context())
	require.NoError(t, err)
	t.Cleanup(api.Kill)
	worker, err := programs.Worker(t.Context())
	require.NoError(t, err)
	t.Cleanup(worker.Kill)

	require.NoError(t, c.SetDefaultPolicy(t.Context(), "open_append"))
	targets := newTargets(t, c, "down", 4)
	var uuids []string
	for _, target := range targets {
		uuids = append(uuids, target.UUID)
	}

	journal := &Journal{}
	commitEach(t, c, journal, targets, 2)
	settle(t, c)
	temporal.stop()
	commitEach(t, c, journal, targets, 25)
	tables, err := c.Tables(t.Context())
	require.NoError(t, err)
	for _, table := range tables {
		require.Equal(t, int64(25), table.PendingCommits, "nothing can be reconciled without Temporal")
	}
	temporal.start(t)
	began := time.Now()
	settle(t, c)
	t.Logf("100 commits reconciled %s after Temporal came back", time.Since(began).Round(time.Millisecond))

	found, err := Observe(t.Context(), c)
	require.NoError(t, err)
	report(t, Check(uuids, journal.Sent(), found))
	require.NoError(t, worker.Stop(2*stopWithin))
	require.NoError(t, api.Stop(stopWithin))
}

// commitEach makes n appends to each table, all tables at once; every one must succeed at the first try.
func commitEach(t *testing.T, c *product.Client, journal *Journal, targets []Target, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for _, target := range targets {
		wg.Go(func() {
			for range n {
				if err := commitOnce(t.Context(), c, journal, target); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	require.False(t, t.Failed())
}

func commitOnce(ctx context.Context, c *product.Client, journal *Journal, target Target) error {
	loaded, err := c.LoadTable(ctx, target.Namespace, target.Name)
	if err != nil {
		return err
	}
	table, err := icebergtest.Parse(loaded.Metadata)
	if err != nil {
		return err
	}
	commit, err := icebergtest.LocalFiles().Append(table, 1, 10)
	if err != nil {
		return err
	}
	if err := c.Commit(ctx, target.Namespace, target.Name, commit.Body()); err != nil {
		return err
	}
	journal.add(sentOf(table.UUID, commit, Acknowledged))
	return nil
}

func settle(t *testing.T, c *product.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	require.NoError(t, Settle(ctx, c))
}

// temporalServer is a Temporal on a port and a folder of its own that goes down and comes back.
type temporalServer struct {
	folder, address string
	port            int
	server          *temporalx.Server
}

func newTemporal(t *testing.T, folder string) *temporalServer {
	t.Helper()
	require.NoError(t, os.MkdirAll(folder, 0o700))
	address, err := product.FreeAddress(t.Context())
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	s := &temporalServer{folder: folder, address: address, port: n}
	t.Cleanup(s.stop)
	return s
}

func (s *temporalServer) start(t *testing.T) {
	t.Helper()
	var err error
	s.server, err = temporalx.StartServer(t.Context(), temporalx.ServerOptions{
		DataDir: s.folder, FrontendPort: s.port, UIPort: temporalx.NoUI, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
}

func (s *temporalServer) stop() {
	if s.server != nil {
		s.server.Stop()
		s.server = nil
	}
}
