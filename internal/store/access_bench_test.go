package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/models"
)

// BenchmarkAccess measures what authorisation asks of the database with 1,000 principals and 100,000 grants: the version,
// which every request reads, and the grants of one principal, which are read again after a change.
func BenchmarkAccess(b *testing.B) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": sqliteURL, "postgres": pgtest.Database} {
		b.Run(name, func(b *testing.B) {
			at := url(b)
			s := migrated(b, at)
			many, one := benchGrants(b, s, at)
			for roles, want := range map[string]int{one: 100, many: 1000} {
				// As right after a bulk load: PostgreSQL gathers statistics by itself within a minute.
				b.Run(fmt.Sprintf("grants=%d/unanalyzed", want), func(b *testing.B) { benchRights(b, s, roles, want) })
			}
			exec(b, raw(b, at), "ANALYZE")
			b.Run("version", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.AccessVersion(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("version/parallel", func(b *testing.B) {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, err := s.AccessVersion(b.Context()); err != nil {
							b.Error(err)
						}
					}
				})
			})
			for roles, want := range map[string]int{one: 100, many: 1000} {
				b.Run(fmt.Sprintf("grants=%d", want), func(b *testing.B) { benchRights(b, s, roles, want) })
			}
		})
	}
}

func benchRights(b *testing.B, s *store.Store, role string, want int) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		grants, err := s.GrantsOfRoles(b.Context(), []string{role})
		if err != nil || len(grants) != want {
			b.Fatal(len(grants), err)
		}
	}
}

// Rights are read by indexes also where the database knows nothing yet of how much there is, as after a bulk load.
func TestRightsAreReadByIndexes(t *testing.T) {
	at := pgtest.Database(t)
	s := migrated(t, at)
	role, _ := benchGrants(t, s, at)
	grants, namespaces := store.RightsQueries()
	grants = strings.ReplaceAll(grants, "?", "('"+role+"')")
	namespaces = strings.Replace(strings.Replace(namespaces, "?", `'["parent1"]'`, 1), "?", "('x')", 1)
	for _, query := range []string{grants, namespaces} {
		rows, err := raw(t, at).QueryContext(t.Context(), "EXPLAIN "+query)
		require.NoError(t, err)
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			for _, large := range []string{"grants", "tables", "namespaces"} {
				require.NotContains(t, line, "Seq Scan on "+large)
			}
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
}

// benchGrants makes 1,000 namespaces of two levels with a table each, and 1,000 principals with a role of their own and
// 100 grants, half on namespaces and half on tables. Of the principal roles it gives one that holds ten of the catalog
// roles, and one that holds one.
func benchGrants(b testing.TB, s *store.Store, url string) (many, one string) {
	b.Helper()
	cat := models.Catalog{ID: uuid.NewString(), Name: "main", BaseLocation: "s3://lake", DefaultWritePolicy: models.OpenAppend}
	require.NoError(b, s.Bootstrap(b.Context(), access.Bootstrap{
		Root: models.Principal{ID: uuid.NewString(), Name: models.RootPrincipal, ClientID: "root"}, Catalog: cat,
	}))
	db := raw(b, url)
	numbers := func(n int) string { // numbers(n) is a table i of 0 to n-1, in both dialects
		return fmt.Sprintf("WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < %d) ", n-1)
	}
	times := "'2026-01-01', '2026-01-01'"
	if strings.HasPrefix(url, "sqlite") {
		times = "0, 0"
	}
	once, _, _ := strings.Cut(times, ",")
	const size = 1000
	into := func(table, columns, query string) {
		exec(b, db, fmt.Sprintf("INSERT INTO %s (%s) %s", table, columns, query))
	}
	quoted := "'" + cat.ID + "'"
	const sep = "\x1f"
	into("namespaces", "id, catalog_id, name_key, parent_key, properties, version, created_at, updated_at",
		numbers(size)+"SELECT 'p' || i, "+quoted+", 'parent' || i, '', '{}', 1, "+times+" FROM numbers")
	into("namespaces", "id, catalog_id, name_key, parent_key, properties, version, created_at, updated_at",
		numbers(size)+"SELECT 'n' || i, "+quoted+", 'parent' || i || '"+sep+"child', 'parent' || i, '{}', 1, "+times+" FROM numbers")
	into("tables", `id, catalog_id, namespace_id, name, table_uuid, location, metadata_location, format_version, write_policy, classification,
		identity_columns, columns, version, created_at, updated_at`,
		numbers(size)+"SELECT 't' || i, "+quoted+", 'n' || i, 'orders', 'u' || i, 's3://lake/' || i, 'm', 2, 'open_append', 'internal', '[]', '{}', 1, "+times+" FROM numbers")
	into("principals", "id, name, client_id, secret_hash, disabled, properties, version, created_at, updated_at",
		numbers(size)+"SELECT 'a' || i, 'principal' || i, 'client' || i, '', (1 = 0), '{}', 1, "+times+" FROM numbers")
	into("principal_roles", "id, name, properties, version, created_at, updated_at",
		numbers(size)+"SELECT 'r' || i, 'role' || i, '{}', 1, "+times+" FROM numbers")
	into("catalog_roles", "id, catalog_id, name, properties, version, created_at, updated_at",
		numbers(size)+"SELECT 'c' || i, "+quoted+", 'role' || i, '{}', 1, "+times+" FROM numbers")
	into("principal_role_members", "principal_id, principal_role_id", numbers(size)+"SELECT 'a' || i, 'r' || i FROM numbers")
	into("catalog_role_members", "principal_role_id, catalog_role_id", numbers(size)+"SELECT 'r' || i, 'c' || i FROM numbers")
	into("catalog_role_members", "principal_role_id, catalog_role_id", numbers(10)+"SELECT 'r0', 'c' || i FROM numbers WHERE i > 0")
	grants := numbers(size) + `, each (j) AS (SELECT i FROM numbers WHERE i < 50)
		SELECT '%[1]s' || i || '-' || j, 'c' || i, ` + quoted + `, '%[2]s', '%[1]s' || ((i * 50 + j) %% 1000), 'TABLE_READ_DATA', ` + once + ` FROM numbers, each`
	into("grants", "id, catalog_role_id, catalog_id, scope, object_id, privilege, created_at", fmt.Sprintf(grants, "t", "table"))
	into("grants", "id, catalog_role_id, catalog_id, scope, object_id, privilege, created_at", fmt.Sprintf(grants, "n", "namespace"))
	return "r0", "r1"
}
