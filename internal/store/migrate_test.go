package store_test

import (
	"database/sql"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm/schema"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

func TestSchemaVersions(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		s := open(t, at)
		current, want, err := s.SchemaVersion(t.Context())
		require.NoError(t, err)
		assert.Zero(t, current)
		require.Positive(t, want)
		err = s.CheckSchema(t.Context())
		assert.Equal(t, fault.Unavailable, fault.CodeOf(err))
		assert.Regexp(t, "^The database schema is version 0, this build needs [0-9]+: run `sluice migrate`\\.$", fault.PublicMessage(err))

		require.NoError(t, store.Migrate(t.Context(), s))
		require.NoError(t, store.Migrate(t.Context(), s), "again is nothing to do")
		require.NoError(t, s.CheckSchema(t.Context()))

		exec(t, raw(t, at), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)")
		for _, err := range []error{s.CheckSchema(t.Context()), store.Migrate(t.Context(), s)} {
			assert.Equal(t, fault.Unavailable, fault.CodeOf(err))
			assert.Regexp(t, `^The database was written by a newer Sluice \(schema 999; this build knows [0-9]+\): use that version`, fault.PublicMessage(err))
		}
	})
}

func TestConcurrentMigrations(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		var wg sync.WaitGroup
		for range 4 {
			s := open(t, at)
			wg.Go(func() { assert.NoError(t, store.Migrate(t.Context(), s)) })
		}
		wg.Wait()
		require.NoError(t, open(t, at).CheckSchema(t.Context()))
	})
}

func TestMigrationsGoDown(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		migrated(t, at)
		db := raw(t, at)
		versions := provider(t, db, at)
		_, err := versions.DownTo(t.Context(), 0)
		require.NoError(t, err)
		assert.Empty(t, columns(t, db, at, "audit_events"))
		_, err = versions.Up(t.Context())
		require.NoError(t, err)
	})
}

// TestModelsMatchMigrations: every column of a model is in both dialects and every column is in its model, with the
// same idea of what may be absent.
func TestModelsMatchMigrations(t *testing.T) {
	rows := []any{
		models.Catalog{}, models.Namespace{}, models.Table{}, models.Commit{}, models.OutboxEvent{}, models.AuditEvent{},
		models.View{}, models.Identifier{}, models.DroppedTable{}, models.MetricsReport{},
		models.Principal{}, models.PrincipalRole{}, models.CatalogRole{}, models.PrincipalRoleMember{},
		models.CatalogRoleMember{}, models.Grant{}, models.Token{}, models.IdempotencyKey{}, models.Heartbeat{}, models.AccessState{},
		models.SigningKey{}, models.StagedCreate{}, models.StorageRecord{},
		models.Finding{}, models.FileRecord{}, models.TableWriter{}, models.TableCheck{},
		models.AuditCheckpoint{}, models.AuditKey{}, models.AuditState{}, models.Webhook{}, models.WebhookDelivery{},
		models.GovernedWrite{}, models.RowAuditBlock{}, models.DataKey{},
	}
	sealed := []string{"seq", "prev_hash", "hash"} // of the audit: filled by the sealer alone, with SQL of its own
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		migrated(t, at)
		db := raw(t, at)
		var tables []string
		for _, row := range rows {
			parsed, err := schema.Parse(row, &sync.Map{}, schema.NamingStrategy{})
			require.NoError(t, err)
			tables = append(tables, parsed.Table)
			want := map[string]bool{}
			for _, field := range parsed.Fields {
				if field.DBName == "" {
					continue // no column: rows of another table
				}
				want[field.DBName] = field.FieldType.Kind().String() == "ptr"
			}
			got := columns(t, db, at, parsed.Table)
			if parsed.Table == "audit_events" {
				for _, name := range sealed {
					assert.True(t, got[name], "%s is there and nullable", name)
					delete(got, name)
				}
			}
			assert.Equal(t, want, got, parsed.Table)
		}
		assert.ElementsMatch(t, append(tables, "goose_db_version"), tableNames(t, db, at))
	})
}

// columns gives a table's columns and whether each may be NULL.
func columns(t *testing.T, db *sql.DB, url, table string) map[string]bool {
	t.Helper()
	query := `SELECT column_name, is_nullable = 'YES' FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1`
	if strings.HasPrefix(url, "sqlite") {
		query = `SELECT name, NOT "notnull" AND NOT pk FROM pragma_table_info(?)`
	}
	rows, err := db.QueryContext(t.Context(), query, table)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	out := map[string]bool{}
	for rows.Next() {
		var name string
		var nullable bool
		require.NoError(t, rows.Scan(&name, &nullable))
		out[name] = nullable
	}
	require.NoError(t, rows.Err())
	return out
}

func tableNames(t *testing.T, db *sql.DB, url string) []string {
	t.Helper()
	query := "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
	if strings.HasPrefix(url, "sqlite") {
		query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	}
	rows, err := db.QueryContext(t.Context(), query)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	names := map[string]bool{}
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names[name] = true
	}
	require.NoError(t, rows.Err())
	return slices.Collect(maps.Keys(names))
}

// TestAuditIsAppendOnly goes around the store, as somebody with the database's password would.
func TestAuditIsAppendOnly(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		s := migrated(t, at)
		require.NoError(t, s.AppendAudit(t.Context(), models.AuditEvent{Type: models.AuditCommitDenied, Reason: "as it was"}))
		db := raw(t, at)
		refused := []string{
			"UPDATE audit_events SET reason = 'forged'",
			"UPDATE audit_events SET reason = 'forged', seq = 1, hash = 'h'",
			"UPDATE audit_events SET seq = 1",
			"DELETE FROM audit_events",
			"INSERT INTO audit_events SELECT * FROM audit_events",
		}
		if !strings.HasPrefix(at, "sqlite") {
			refused = append(refused, "TRUNCATE audit_events")
		}
		for _, statement := range refused {
			_, err := db.ExecContext(t.Context(), statement)
			assert.Error(t, err, statement)
		}
		exec(t, db, "UPDATE audit_events SET seq = 1, prev_hash = '', hash = 'h'")
		for _, statement := range []string{
			"UPDATE audit_events SET seq = 2, prev_hash = '', hash = 'h'",
			"UPDATE audit_events SET seq = NULL, prev_hash = NULL, hash = NULL",
		} {
			_, err := db.ExecContext(t.Context(), statement)
			assert.Error(t, err, statement)
		}
		events, err := s.AuditEvents(t.Context(), models.AuditFilter{})
		require.NoError(t, err)
		require.Len(t, events, 1)
		assert.Equal(t, "as it was", events[0].Reason)
	})
}
