package storetest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
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
		"catalogs get their places one after the other": placesInTurn,
		"an update needs the version it was read at": func(t *testing.T, f *fixture) {
			c, err := f.s.CatalogByID(t.Context(), f.cat.ID)
			require.NoError(t, err)
			c.DefaultWritePolicy = models.OpenFull
			c.DefaultClassification = models.Confidential
			c.AllowedLocations.V = []string{"s3://lake", "s3://extra/größe"}
			c.Storage.V = models.StorageConfig{Type: models.S3Storage, Region: "eu-north-1", PathStyleAccess: true, AllowedKMSKeys: []string{"a"}}
			require.NoError(t, f.s.UpdateCatalog(t.Context(), c, event(models.AuditDefaultPolicyChanged)))
			requireFault(t, f.s.UpdateCatalog(t.Context(), c, event(models.AuditDefaultPolicyChanged)), fault.Conflict, fault.NoSubject)
			got, err := f.s.CatalogByID(t.Context(), f.cat.ID)
			require.NoError(t, err)
			assert.Equal(t, models.OpenFull, got.DefaultWritePolicy)
			assert.Equal(t, models.Confidential, got.DefaultClassification)
			assert.Equal(t, c.AllowedLocations, got.AllowedLocations)
			assert.Equal(t, c.Storage, got.Storage)
			assert.Equal(t, c.Version+1, got.Version)
			assert.Len(t, f.audit(t, models.AuditDefaultPolicyChanged), 1)
			c.ID = uuid.NewString()
			requireFault(t, f.s.UpdateCatalog(t.Context(), c, event(models.AuditDefaultPolicyChanged)), fault.NotFound, fault.Catalog)
		},
	}
}

// placesInTurn: of many who look for a place and take it, each sees what those before took.
func placesInTurn(t *testing.T, f *fixture) {
	const location = "s3://lake/one"
	taken := fault.New(fault.Invalid, "The location is taken.")
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 6 {
		c := models.Catalog{ID: uuid.NewString(), Name: fmt.Sprintf("c%d", i), BaseLocation: location}
		wg.Go(func() {
			err := f.s.PlaceCatalog(t.Context(), func(at management.Places) error {
				all, err := at.Catalogs()
				if err != nil {
					return err
				}
				if slices.ContainsFunc(all, func(c models.Catalog) bool { return c.BaseLocation == location }) {
					return taken
				}
				return at.CreateCatalog(c, nil, event(models.AuditCatalogCreated))
			})
			if err == nil {
				won.Add(1)
				return
			}
			assert.ErrorIs(t, err, taken)
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, won.Load())
	err := f.s.PlaceCatalog(t.Context(), func(at management.Places) error {
		c := f.cat
		c.BaseLocation = "s3://elsewhere"
		if err := at.UpdateCatalog(c, event(models.AuditCatalogUpdated)); err != nil {
			return err
		}
		return taken
	})
	require.ErrorIs(t, err, taken)
	got, err := f.s.CatalogByID(t.Context(), f.cat.ID)
	require.NoError(t, err)
	assert.Equal(t, f.cat.BaseLocation, got.BaseLocation, "nothing stays of what failed")
}

// tableWithin is how a catalog's place is looked at.
func (f *fixture) tableWithin(t *testing.T, location, exceptCatalogID string) (name string) {
	t.Helper()
	require.NoError(t, f.s.PlaceCatalog(t.Context(), func(at management.Places) (err error) {
		name, err = at.TableWithin(location, exceptCatalogID)
		return err
	}))
	return name
}
