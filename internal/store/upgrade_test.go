package store_test

import (
	"database/sql"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/migrations"
	"github.com/sluice-data/sluice/models"
)

// migratedTo opens a database as an older Sluice left it.
func migratedTo(t *testing.T, url string, version int64) *sql.DB {
	t.Helper()
	db := raw(t, url)
	_, err := provider(t, db, url).UpTo(t.Context(), version)
	require.NoError(t, err)
	return db
}

func provider(t *testing.T, db *sql.DB, url string) *goose.Provider {
	t.Helper()
	dialect, folder := goose.DialectPostgres, "postgres"
	if strings.HasPrefix(url, "sqlite") {
		dialect, folder = goose.DialectSQLite3, "sqlite"
	}
	files, err := fs.Sub(migrations.Files, folder)
	require.NoError(t, err)
	p, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	require.NoError(t, err)
	return p
}

// insertOld adds a row with the SQL values that are given, and with something in every other column that must have a
// value.
func insertOld(t *testing.T, db *sql.DB, url, table string, values map[string]string) {
	t.Helper()
	for name, nullable := range columns(t, db, url, table) {
		if _, given := values[name]; given || nullable {
			continue
		}
		switch {
		case strings.HasSuffix(name, "_at"):
			values[name] = "CURRENT_TIMESTAMP"
		case name == "version" || name == "format_version":
			values[name] = "1"
		case name == "properties" || name == "allowed_locations":
			values[name] = "'null'"
		case name == "disabled" || strings.HasPrefix(name, "can_"):
			values[name] = "FALSE"
		default:
			values[name] = "'x'"
		}
	}
	names := slices.Sorted(maps.Keys(values))
	texts := make([]string, 0, len(names))
	for _, name := range names {
		texts = append(texts, values[name])
	}
	exec(t, db, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(texts, ", ")+")")
}

// TestIdentitiesFromBeforeManagement: the migration that brings the management API gives the identities, catalogs and
// tokens that are there what they lack, and takes nothing from them.
func TestIdentitiesFromBeforeManagement(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		db := migratedTo(t, at, 9)
		insertOld(t, db, at, "principals", map[string]string{"id": "'1'", "name": "'root'", "client_id": "'a'"})
		insertOld(t, db, at, "principals", map[string]string{"id": "'2'", "name": "'job'", "client_id": "'b'"})
		insertOld(t, db, at, "principal_roles", map[string]string{"id": "'r'", "name": "'service_admin'"})
		exec(t, db, "INSERT INTO principal_role_members (principal_id, principal_role_id) VALUES ('1', 'r')")
		insertOld(t, db, at, "catalogs", map[string]string{"id": "'c'", "name": "'main'", "base_location": "'s3://lake'"})
		insertOld(t, db, at, "catalog_roles", map[string]string{"id": "'cr'", "catalog_id": "'c'"})
		exec(t, db, "INSERT INTO catalog_role_members (principal_role_id, catalog_role_id) VALUES ('r', 'cr')")
		insertOld(t, db, at, "grants", map[string]string{
			"id": "'g'", "catalog_role_id": "'cr'", "catalog_id": "'c'", "scope": "'catalog'", "object_id": "'c'", "privilege": "'TABLE_LIST'",
		})
		insertOld(t, db, at, "tokens", map[string]string{"id": "'t'", "hash": "'h'", "principal_id": "'2'"})

		s := open(t, at)
		require.NoError(t, store.Migrate(t.Context(), s))
		for name, clearance := range map[string]models.Classification{"root": models.Restricted, "job": models.Internal} {
			p, err := s.PrincipalByName(t.Context(), name)
			require.NoError(t, err)
			assert.Equal(t, clearance, p.Clearance)
			assert.False(t, p.RotationRequired)
			assert.Empty(t, p.PreviousSecretHash)
		}
		roles, err := s.RolesOfPrincipal(t.Context(), "1")
		require.NoError(t, err)
		require.Len(t, roles, 1)
		assert.False(t, roles[0].Federated)
		grants, err := s.GrantsOfRoles(t.Context(), []string{"r"})
		require.NoError(t, err)
		require.Len(t, grants, 1)
		assert.Equal(t, models.TableList, grants[0].Privilege)
		cat, err := s.CatalogByName(t.Context(), "main")
		require.NoError(t, err)
		assert.Zero(t, cat.Storage)
		bearer, err := s.Bearer(t.Context(), "h")
		require.NoError(t, err)
		assert.Nil(t, bearer.Token.Roles.V, "it acts with every role, as before")
		assert.Equal(t, "job", bearer.Principal.Name)

		before, err := s.AccessVersion(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.RevokeToken(t.Context(), "t", time.Now(), models.AuditEvent{Type: models.AuditTokenRevoked}))
		after, err := s.AccessVersion(t.Context())
		require.NoError(t, err)
		assert.Greater(t, after, before)
	})
}

// TestCommitsFromBeforeWriters: the migration that brings the writers leaves commits, files and events as they are, without
// a writer and without a claim.
func TestCommitsFromBeforeWriters(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		db := migratedTo(t, at, 12)
		insertOld(t, db, at, "catalogs", map[string]string{"id": "'c'", "name": "'main'", "base_location": "'s3://lake'"})
		insertOld(t, db, at, "namespaces", map[string]string{"id": "'n'", "catalog_id": "'c'", "name_key": "'sales'"})
		insertOld(t, db, at, "tables", map[string]string{
			"id": "'t'", "catalog_id": "'c'", "namespace_id": "'n'", "identity_columns": "'null'", "columns": "'null'", "protected": "FALSE", "foreign_files": "FALSE",
		})
		insertOld(t, db, at, "commits", map[string]string{
			"table_id": "'t'", "snapshot_id": "7", "sequence_number": "1", "summary": "'{}'", "writer": "'{}'", "status": "'pending'", "id": defaultID(at),
		})
		insertOld(t, db, at, "outbox_events", map[string]string{"table_id": "'t'", "snapshot_id": "7", "attempts": "0", "id": defaultID(at)})
		insertOld(t, db, at, "file_records", map[string]string{"id": "'f'", "table_id": "'t'", "snapshot_id": "7", "size": "1", "checked_at": longAgo(at)})

		s := open(t, at)
		require.NoError(t, store.Migrate(t.Context(), s))
		row, err := s.TableByID(t.Context(), "t")
		require.NoError(t, err)
		assert.Equal(t, models.AuditDuplicates, row.DuplicateCommits)
		commit, err := s.Commit(t.Context(), "t", 7)
		require.NoError(t, err)
		assert.Empty(t, commit.WriterID)
		assert.Empty(t, commit.Partitions.V)
		assert.Nil(t, commit.SchemaID)
		events, err := s.ClaimEvents(t.Context(), "dispatcher", time.Minute, 10, 0)
		require.NoError(t, err)
		assert.Len(t, events, 1)
		files, err := s.FilesToCheck(t.Context(), time.Now().Add(time.Hour), 10)
		require.NoError(t, err)
		assert.Len(t, files, 1)
	})
}

// defaultID is the SQL value of a number that the database makes.
func defaultID(url string) string {
	if strings.HasPrefix(url, "sqlite") {
		return "NULL"
	}
	return "DEFAULT"
}

// longAgo is the SQL value of a time.
func longAgo(url string) string {
	if strings.HasPrefix(url, "sqlite") {
		return "0"
	}
	return "'epoch'"
}
