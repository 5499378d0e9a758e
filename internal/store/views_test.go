package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

// TestTablesFromBeforeViewsKeepTheirNames: the migration that brings views gives the tables that are there their names.
func TestTablesFromBeforeViewsKeepTheirNames(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		at := url(t)
		db := migratedTo(t, at, 3)
		catalogID, namespaceID, tableID := uuid.NewString(), uuid.NewString(), uuid.NewString()
		quote := func(s string) string { return "'" + s + "'" }
		insertOld(t, db, at, "catalogs", map[string]string{"id": quote(catalogID)})
		insertOld(t, db, at, "namespaces", map[string]string{"id": quote(namespaceID), "catalog_id": quote(catalogID)})
		insertOld(t, db, at, "tables", map[string]string{
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
