package objects

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/models"
)

// cloudOf is an installation of which one catalog is in a cloud. Profiles with a database and S3 servers are tried by the
// package validation.
type cloudOf struct {
	cat     models.Catalog
	version int64
	opened  []string // bucket and key of each opening
	closed  atomic.Int32
}

// Catalogs implements Catalogs.
func (c *cloudOf) Catalogs(context.Context) ([]models.Catalog, error) {
	return []models.Catalog{c.cat}, nil
}

// closer is a store that tells when it is closed.
type closer struct {
	Store
	closed *atomic.Int32
}

// Close implements io.Closer.
func (c closer) Close() error {
	c.closed.Add(1)
	return nil
}

func (c *cloudOf) open(_ models.StorageConfig, secrets models.StorageSecrets) OpenFunc {
	return func(_ context.Context, root Location) (Store, error) {
		c.opened = append(c.opened, root.Bucket()+" "+secrets.ServiceKey)
		return closer{closed: &c.closed}, nil
	}
}

func TestAStoreIsOpenedOnceForEachBucketAndProfile(t *testing.T) {
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	seal := func(key string) []byte {
		plain, err := json.Marshal(models.StorageSecrets{ServiceKey: key})
		require.NoError(t, err)
		sealed, err := ring.For("storage").Seal(plain, []byte("id"))
		require.NoError(t, err)
		return sealed
	}
	c := &cloudOf{cat: models.Catalog{ID: "id", Name: "far", BaseLocation: "gs://one/x", AllowedLocations: models.JSON[[]string]{V: []string{"gs://two"}}}}
	c.cat.StorageSecrets = seal("first")
	p, err := NewProfiles(ProfilesDeps{
		Installation: Installation{Config: Config{Roots: []string{"file:///wh"}}, OtherStorage: true},
		Catalogs:     c, Version: func(context.Context) (int64, error) { return c.version, nil }, Sealer: ring.For("storage"),
		Clouds: map[string]CloudFunc{schemeGCS: c.open},
	})
	require.NoError(t, err)
	router := p.Router(NewRouter())
	at := func(location string) error {
		_, err := router.At(t.Context(), location)
		return err
	}
	for _, location := range []string{"gs://one/x/a", "gs://two/b", "gs://one/x/c", "gs://two/d"} {
		require.NoError(t, at(location))
	}
	assert.True(t, fault.Is(at("gs://one/y"), fault.Forbidden))
	assert.True(t, fault.Is(at("file:///wh/a"), fault.Forbidden), "it is of no mount")
	assert.Equal(t, []string{"one first", "two first"}, c.opened)

	c.version++
	require.NoError(t, at("gs://one/x/a"))
	assert.Len(t, c.opened, 2, "nothing about the catalog is another")

	c.cat.StorageSecrets = seal("second")
	require.NoError(t, at("gs://one/x/a"))
	assert.Len(t, c.opened, 2, "no version said so")
	c.version++
	require.NoError(t, at("gs://one/x/a"))
	assert.Equal(t, "one second", c.opened[2])
	c.version--
	require.NoError(t, at("gs://one/x/a"), "of a request that began before")
	assert.Len(t, c.opened, 3)
	assert.Zero(t, c.closed.Load(), "others may still use it")

	c.cat.StorageSecrets = []byte("not sealed")
	c.version += 2
	assert.Equal(t, "The storage keys of catalog far cannot be decrypted. Look at encryption-keys, or set the keys again.", fault.PublicMessage(at("gs://one/x/a")))
	require.NoError(t, router.Close())
	assert.EqualValues(t, 3, c.closed.Load())
}
