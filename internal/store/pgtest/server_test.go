package pgtest_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/store/pgtest"
)

func TestAKilledServerComesBackWithWhatWasCommitted(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context(), pgtest.Options{Durable: true})
	if errors.Is(err, pgtest.ErrNotInstalled) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "CREATE TABLE t AS SELECT 1 AS n")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "BEGIN; INSERT INTO t VALUES (2)")
	require.NoError(t, err)

	server.Kill()
	require.Error(t, conn.Ping(t.Context()))
	require.NoError(t, server.Restart(t.Context()))
	conn, err = pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	var n int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM t").Scan(&n))
	require.Equal(t, 1, n)
	require.NoError(t, conn.Close(t.Context()))
}
