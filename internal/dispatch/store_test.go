package dispatch_test

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/libtnb/sqlite"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dispatch"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// onBoth runs a test on each database.
func onBoth(t *testing.T, f func(t *testing.T, d *database)) {
	t.Run("sqlite", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "sluice.db")
		f(t, openDatabase(t, file, sqlite.DriverName, "file:"+file+"?_pragma=busy_timeout(5000)"))
	})
	t.Run("postgres", func(t *testing.T) {
		url := pgtest.Database(t)
		f(t, openDatabase(t, url, "pgx", url))
	})
}

// database is an outbox that several processes share.
type database struct {
	t   *testing.T
	url string
	sql *sql.DB
}

func openDatabase(t *testing.T, url, driver, dsn string) *database {
	t.Helper()
	d := &database{t: t, url: url}
	require.NoError(t, store.Migrate(t.Context(), d.process()))
	var err error
	d.sql, err = sql.Open(driver, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.sql.Close()) })
	return d
}

// process opens the database as a process of its own does.
func (d *database) process() *store.Store {
	d.t.Helper()
	s, err := store.Open(d.t.Context(), store.Config{URL: d.url, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(d.t, err)
	d.t.Cleanup(func() { require.NoError(d.t, s.Close()) })
	return s
}

// add puts n events into the outbox.
func (d *database) add(n int) {
	d.t.Helper()
	tx, err := d.sql.BeginTx(d.t.Context(), nil)
	require.NoError(d.t, err)
	for range n {
		_, err = tx.ExecContext(d.t.Context(), `INSERT INTO outbox_events
			(catalog_id, table_id, table_uuid, table_name, snapshot_id, created_at, attempts, last_error)
			VALUES ('c', 't', 'u', 'sales.orders', 1, $1, 0, '')`, time.Now().UTC())
		require.NoError(d.t, err)
	}
	require.NoError(d.t, tx.Commit())
}

func (d *database) left() int {
	d.t.Helper()
	var n int
	require.NoError(d.t, d.sql.QueryRowContext(d.t.Context(), "SELECT count(*) FROM outbox_events").Scan(&n))
	return n
}

// dispatcher runs one on a process of its own.
func (d *database) dispatcher(e *engine, o dispatch.Options) (stop func()) {
	d.t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	made, err := dispatch.New(d.process(), e, o)
	require.NoError(d.t, err)
	return running(d.t, made)
}

func (d *database) emptied(e *engine, events int) {
	d.t.Helper()
	require.Eventually(d.t, func() bool { return d.left() == 0 }, 30*time.Second, 10*time.Millisecond)
	started := e.started()
	require.Len(d.t, started, events)
	for id, times := range started {
		require.Equal(d.t, 1, times, "event %d", id)
	}
}

func TestTwoProcessesStartEachEventOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, d *database) {
		e := newEngine()
		e.delay = 2 * time.Millisecond
		d.dispatcher(e, fast())
		d.dispatcher(e, fast())
		for range 20 {
			d.add(100)
		}
		d.add(3)
		d.emptied(e, 2003)
	})
}

func TestEventsOfAKilledProcessAreTakenOver(t *testing.T) {
	onBoth(t, func(t *testing.T, d *database) {
		d.add(50)
		killed := d.process()
		claimed, err := killed.ClaimEvents(t.Context(), "killed", 2*time.Second, 30, 10)
		require.NoError(t, err)
		require.Len(t, claimed, 40)
		e := newEngine()
		d.dispatcher(e, fast())
		require.Eventually(t, func() bool { return len(e.started()) == 10 }, 5*time.Second, 5*time.Millisecond)
		require.Eventually(t, func() bool { return d.left() == 40 }, time.Second, time.Millisecond, "the rest is the other's for now")
		d.emptied(e, 50)
	})
}

func TestAStopLeavesNothingClaimed(t *testing.T) {
	onBoth(t, func(t *testing.T, d *database) {
		e := newEngine()
		e.delay = 20 * time.Millisecond
		o := fast()
		o.Parallel, o.BatchThreshold = 1, 1000
		stop := d.dispatcher(e, o)
		d.add(100)
		require.Eventually(t, func() bool { return len(e.started()) > 2 }, 5*time.Second, time.Millisecond)
		stop()
		var claimed int
		row := d.sql.QueryRowContext(context.Background(), "SELECT count(*) FROM outbox_events WHERE claimed_by <> ''")
		require.NoError(t, row.Scan(&claimed))
		require.Zero(t, claimed)
		d.dispatcher(e, fast())
		d.emptied(e, 100)
	})
}
