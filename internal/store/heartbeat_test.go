package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHeartbeatIsARealWrite(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		migrated(t, at)
		s := open(t, at)
		for range 3 {
			require.NoError(t, s.Heartbeat(t.Context()))
		}
		db := raw(t, at)
		var rows int
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM heartbeats").Scan(&rows))
		assert.Equal(t, 1, rows)

		exec(t, db, "DROP TABLE heartbeats")
		require.NoError(t, s.Ping(t.Context()), "the database answers")
		assert.Error(t, s.Heartbeat(t.Context()), "but is not written")
	})
}
