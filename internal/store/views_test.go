package store_test

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/migrations"
	"github.com/sluice-data/sluice/models"
)

// TestTablesFromBeforeViewsKeepTheirNames: the migration that brings views gives the tables that are there their names.
func TestTablesFromBeforeViewsKeepTheirNames(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		db := raw(t, at)
		dialect, folder := goose.DialectPostgres, "postgres"
		if strings.HasPrefix(at, "sqlite") {
			dialect, folder = goose.DialectSQLite3, "sqlite"
		}
		files, err := fs.Sub(migrations.Files, folder)
		require.NoError(t, err)
		provider, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
		require.NoError(t, err)
		_, err = provider.UpTo(t.Context(), 3)
		require.NoError(t, err)
		catalogID, namespaceID, tableID := uuid.NewString(), uuid.NewString(), uuid.NewString()
		const some = "'x'" // for what this test does not look at; every dialect takes it
		insert := func(table string, values map[string]string) {
			for name, nullable := range columns(t, db, at, table) {
				if _, given := values[name]; given || nullable {
					continue
				}
				switch {
				case strings.HasSuffix(name, "_at"):
					values[name] = "CURRENT_TIMESTAMP"
				case name == "version" || name == "format_version":
					values[name] = "1"
				default:
					values[name] = some
				}
			}
			names := slices.Sorted(maps.Keys(values))
			texts := make([]string, 0, len(names))
			for _, name := range names {
				texts = append(texts, values[name])
			}
			exec(t, db, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(texts, ", ")+")")
		}
		quote := func(s string) string { return "'" + s + "'" }
		insert("catalogs", map[string]string{"id": quote(catalogID)})
		insert("namespaces", map[string]string{"id": quote(namespaceID), "catalog_id": quote(catalogID)})
		insert("tables", map[string]string{
			"id": quote(tableID), "catalog_id": quote(catalogID), "namespace_id": quote(namespaceID), "name": "'orders'",
		})

		s := open(t, at)
		require.NoError(t, store.Migrate(t.Context(), s))
		got, err := s.IdentifierByName(t.Context(), namespaceID, "orders")
		require.NoError(t, err)
		assert.Equal(t, models.Identifier{NamespaceID: namespaceID, Name: "orders", Kind: models.TableIdentifier, EntityID: tableID}, got)
		err = s.CreateView(t.Context(), models.View{
			ID: uuid.NewString(), CatalogID: catalogID, NamespaceID: namespaceID, Name: "orders", Location: "s3://lake/v", Version: 1,
		}, models.AuditEvent{Type: models.AuditViewCreated})
		assert.Equal(t, fault.AlreadyExists, fault.CodeOf(err), "%v", err)
	})
}
