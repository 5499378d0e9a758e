package store_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	folder := t.TempDir()
	notADatabase := filepath.Join(folder, "text.db")
	require.NoError(t, os.WriteFile(notADatabase, []byte("this is not a database, and it is long enough to tell"), 0o600))
	for name, c := range map[string]struct {
		url  string
		code fault.Code
	}{
		"nothing":                  {"", fault.Invalid},
		"another database":         {"mysql://root:hunter2@localhost/x", fault.Invalid},
		"a broken postgres URL":    {"postgres://u:hunter2@host:notaport/x", fault.Invalid},
		"nobody listening":         {"postgres://u:hunter2@127.0.0.1:1/x?sslmode=disable", fault.Unavailable},
		"memory":                   {":memory:", fault.Invalid},
		"no file":                  {"sqlite://", fault.Invalid},
		"an unknown option":        {"sqlite:///x.db?journal=off", fault.Invalid},
		"no durability at all":     {"sqlite:///x.db?synchronous=off", fault.Invalid},
		"a folder":                 {"sqlite://" + folder, fault.Unavailable},
		"a file of something else": {"sqlite://" + notADatabase, fault.Unavailable},
		"a folder in a file":       {"sqlite://" + notADatabase + "/x/y.db", fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := store.Open(t.Context(), store.Config{URL: c.url})
			require.Error(t, err)
			assert.Equal(t, c.code, fault.CodeOf(err), "%v", err)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestSQLiteURLs(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	for _, url := range []string{
		"sqlite://" + folder + "/new/a.db", folder + "/b.db", "c.db", "sqlite:d.db",
		"sqlite://" + folder + "/name with % and #.db?synchronous=normal",
	} {
		s := migrated(t, url)
		require.NoError(t, s.Ping(t.Context()))
	}
	for _, file := range []string{"new/a.db", "b.db", "c.db", "d.db", "name with % and #.db"} {
		info, err := os.Stat(filepath.Join(folder, file))
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, "for its owner alone")
	}
}

func TestSQLiteIsDurableByDefault(t *testing.T) {
	at := sqliteURL(t)
	migrated(t, at)
	var mode string
	require.NoError(t, raw(t, at).QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode))
	assert.Equal(t, "wal", mode)
}

func TestClosedStoreIsUnavailable(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{URL: sqliteURL(t)})
	require.NoError(t, err)
	require.NoError(t, store.Migrate(t.Context(), s))
	require.NoError(t, s.Close())
	assert.NotPanics(t, func() { _ = s.Close() })
	err = s.AppendAudit(t.Context(), models.AuditEvent{Type: models.AuditRequestDenied})
	assert.Equal(t, fault.Unavailable, fault.CodeOf(err), "%v", err)
	assert.Error(t, s.Ping(t.Context()))
}

func TestDamagedSchemaIsInternal(t *testing.T) {
	at := sqliteURL(t)
	s := migrated(t, at)
	exec(t, raw(t, at), "DROP TABLE outbox_events")
	err := s.DelayEvent(t.Context(), 1, "x")
	assert.Equal(t, fault.Internal, fault.CodeOf(err))
	assert.NotContains(t, fault.PublicMessage(err), "outbox")
}

// A cleanly closed database is one file: what copies it alone must not lose what was committed.
func TestClosedSQLiteIsOneFile(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "sluice.db")
	s, err := store.Open(ctx, store.Config{URL: file})
	require.NoError(t, err)
	require.NoError(t, store.Migrate(ctx, s))
	_, err = s.Catalogs(ctx)
	require.NoError(t, err)
	for range 3 { // the writer keeps its statements prepared
		require.NoError(t, s.AppendAudit(ctx, models.AuditEvent{Type: models.AuditRequestDenied}))
	}
	require.NoError(t, s.Close())
	require.NoFileExists(t, file+"-wal")
	require.NoFileExists(t, file+"-shm")
	whole, err := os.Stat(file)
	require.NoError(t, err)
	require.Greater(t, whole.Size(), int64(64<<10))
}
