package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func open(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: url})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func migrated(t testing.TB, url string) *store.Store {
	t.Helper()
	s := open(t, url)
	require.NoError(t, store.Migrate(t.Context(), s))
	require.NoError(t, s.CheckSchema(t.Context()))
	return s
}

func sqliteURL(t testing.TB) string { return "sqlite://" + filepath.Join(t.TempDir(), "sluice.db") }

// dialects runs a test on every database.
func dialects(t *testing.T, run func(t *testing.T, url func(testing.TB) string)) {
	t.Run("sqlite", func(t *testing.T) { run(t, sqliteURL) })
	t.Run("postgres", func(t *testing.T) { run(t, pgtest.Database) })
}

func TestStore(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		storetest.Run(t, func(t *testing.T) *store.Store { return migrated(t, url(t)) })
	})
}
