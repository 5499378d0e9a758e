package storetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func catalogCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a catalog is read as it was written": func(t *testing.T, f *fixture) {
			got, err := f.s.CatalogByName(t.Context(), "main")
			require.NoError(t, err)
			assert.Equal(t, f.cat.ID, got.ID)
			assert.Equal(t, f.cat.Properties, got.Properties)
			assert.WithinRange(t, got.CreatedAt, f.started, f.started.Add(60e9))
			_, offset := got.CreatedAt.Zone()
			assert.Zero(t, offset)
			byID, err := f.s.CatalogByID(t.Context(), f.cat.ID)
			require.NoError(t, err)
			assert.Equal(t, got, byID)
		},
		"an absent catalog is not found": func(t *testing.T, f *fixture) {
			for _, name := range []string{"MAIN", "", "nul\x00", "\xff"} {
				_, err := f.s.CatalogByName(t.Context(), name)
				requireFault(t, err, fault.NotFound, fault.Catalog)
			}
		},
		"a new catalog is administered by service_admin": func(t *testing.T, f *fixture) {
			second := models.Catalog{ID: uuid.NewString(), Name: "second", BaseLocation: "s3://two", DefaultWritePolicy: models.OpenFull}
			require.NoError(t, f.s.CreateCatalog(t.Context(), second, []models.Privilege{models.TableDrop}, event(models.AuditCatalogCreated)))
			root, err := f.s.PrincipalByName(t.Context(), models.RootPrincipal)
			require.NoError(t, err)
			require.Len(t, f.grantsOf(t, root.ID), 3)
			names, err := f.s.Catalogs(t.Context())
			require.NoError(t, err)
			require.Len(t, names, 2)
			assert.Equal(t, "second", names[1].Name)
			assert.Len(t, f.audit(t, models.AuditCatalogCreated), 2)

			err = f.s.CreateCatalog(t.Context(), models.Catalog{ID: uuid.NewString(), Name: "second"}, nil, event(models.AuditCatalogCreated))
			requireFault(t, err, fault.AlreadyExists, fault.Catalog)
			assert.Len(t, f.audit(t, models.AuditCatalogCreated), 2)
		},
		"an update needs the version it was read at": func(t *testing.T, f *fixture) {
			c, err := f.s.CatalogByID(t.Context(), f.cat.ID)
			require.NoError(t, err)
			c.DefaultWritePolicy = models.OpenFull
			c.AllowedLocations.V = []string{"s3://lake", "s3://extra/größe"}
			c.Storage.V = models.StorageConfig{Type: models.S3Storage, Region: "eu-north-1", PathStyleAccess: true, AllowedKMSKeys: []string{"a"}}
			require.NoError(t, f.s.UpdateCatalog(t.Context(), c, event(models.AuditDefaultPolicyChanged)))
			requireFault(t, f.s.UpdateCatalog(t.Context(), c, event(models.AuditDefaultPolicyChanged)), fault.Conflict, fault.NoSubject)
			got, err := f.s.CatalogByID(t.Context(), f.cat.ID)
			require.NoError(t, err)
			assert.Equal(t, models.OpenFull, got.DefaultWritePolicy)
			assert.Equal(t, c.AllowedLocations, got.AllowedLocations)
			assert.Equal(t, c.Storage, got.Storage)
			assert.Equal(t, c.Version+1, got.Version)
			assert.Len(t, f.audit(t, models.AuditDefaultPolicyChanged), 1)
			c.ID = uuid.NewString()
			requireFault(t, f.s.UpdateCatalog(t.Context(), c, event(models.AuditDefaultPolicyChanged)), fault.NotFound, fault.Catalog)
		},
	}
}
