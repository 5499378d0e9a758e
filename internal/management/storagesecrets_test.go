package management_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// storageDesk is a desk whose catalogs may have storage of their own.
type storageDesk struct {
	*desk
	sealer *keyring.Sealer
}

func newStorageDesk(t *testing.T, other bool, validator management.StorageValidator) *storageDesk {
	t.Helper()
	d := &storageDesk{desk: newDesk(t)}
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	d.sealer = ring.For("storage")
	d.Service = management.New(management.Deps{
		Store: d.store, Locations: objects.Rules{}, Secrets: secrets{}, Warehouses: []string{warehouse, "s3://lake/sluice"},
		OtherStorage: other, Sealer: d.sealer, Validator: validator, Now: func() time.Time { return d.now },
	})
	return d
}

func (d *storageDesk) make(name, base string, allowed ...string) error {
	_, err := d.CreateCatalog(d.t.Context(), d.root(), management.NewCatalog{Name: name, BaseLocation: base, AllowedLocations: allowed})
	return err
}

func s3Secrets() models.StorageSecrets {
	return models.StorageSecrets{AccessKey: "AKIAEXAMPLE", SecretKey: "the-very-secret"}
}

func TestCatalogsOutsideTheWarehouses(t *testing.T) {
	d := newStorageDesk(t, true, nil)
	require.NoError(t, d.make("away", "s3://elsewhere/x", "s3://third/y"))
	require.NoError(t, d.make("inside", "s3://lake/sluice/a"))
	for base, says := range map[string]string{
		"file:///etc":          "none of this installation's warehouses",
		"s3://elsewhere/x/y/z": "", // below another catalog, where nothing is yet
		"s3://elsewhere":       "lies above one",
	} {
		err := d.make("c"+base[len(base)-1:], base)
		if says == "" {
			require.NoError(t, err)
			continue
		}
		requireFault(t, err, fault.Invalid, says)
	}
	requireFault(t, d.make("mixed", "s3://lake/sluice/b", "s3://elsewhere/b"), fault.Invalid, "not both in this installation's warehouses")
	requireFault(t, d.make("mixed", "s3://elsewhere/b", "s3://lake/sluice/b"), fault.Invalid, "not both in this installation's warehouses")

	cat := d.catalog("inside")
	_, err := d.UpdateCatalog(t.Context(), d.root(), "inside", management.CatalogChange{Version: cat.Version, AllowedLocations: []string{"s3://elsewhere/c"}})
	requireFault(t, err, fault.Invalid, "not both")

	off := newStorageDesk(t, false, nil)
	requireFault(t, off.make("away", "s3://elsewhere/x"), fault.Invalid, "allow-other-storage")
}

func requireFault(t *testing.T, err error, code fault.Code, says string) {
	t.Helper()
	require.True(t, fault.Is(err, code), "%v", err)
	require.Contains(t, fault.PublicMessage(err), says)
}

func TestStorageSecretsAreSealedAndAudited(t *testing.T) {
	d := newStorageDesk(t, true, nil)
	ctx := t.Context()
	require.NoError(t, d.make("away", "s3://elsewhere/x"))
	require.NoError(t, d.SetStorageSecrets(ctx, d.root(), "away", s3Secrets()))
	cat := d.catalog("away")
	require.NotContains(t, string(cat.StorageSecrets), "the-very-secret")
	plain, err := d.sealer.Open(cat.StorageSecrets, []byte(cat.ID))
	require.NoError(t, err)
	var kept models.StorageSecrets
	require.NoError(t, json.Unmarshal(plain, &kept))
	require.Equal(t, s3Secrets(), kept)
	_, err = d.sealer.Open(cat.StorageSecrets, []byte("another catalog"))
	require.Error(t, err, "they cannot be moved to another row")

	event := d.only(models.AuditStorageSecretsChanged)
	require.Equal(t, "away", event.Catalog)
	require.Equal(t, []any{"accessKey", "secretKey"}, event.Details.V["keys"])
	require.NotContains(t, fmt.Sprint(event.Details.V), "AKIA")

	require.NoError(t, d.RemoveStorageSecrets(ctx, d.root(), "away"))
	require.Empty(t, d.catalog("away").StorageSecrets)
	require.NoError(t, d.RemoveStorageSecrets(ctx, d.root(), "away"), "there are none any more")
	require.Len(t, d.events(models.AuditStorageSecretsChanged), 2)
}

func TestStorageSecretsFitTheStorage(t *testing.T) {
	d := newStorageDesk(t, true, nil)
	require.NoError(t, d.make("s3", "s3://elsewhere/x"))
	require.NoError(t, d.make("azure", "abfss://lake@account.dfs.core.windows.net/x"))
	require.NoError(t, d.make("gcs", "gs://bucket/x"))
	for i, c := range []struct {
		catalog string
		secrets models.StorageSecrets
		says    string // "" where they fit
	}{
		{"s3", s3Secrets(), ""},
		{"s3", models.StorageSecrets{AccessKey: "alone"}, "accessKey and secretKey"},
		{"s3", models.StorageSecrets{}, "accessKey and secretKey"},
		{"s3", models.StorageSecrets{AccessKey: "a", SecretKey: "b", AccountKey: "c"}, "nothing else"},
		{"s3", models.StorageSecrets{AccessKey: "a", SecretKey: "with space"}, "space"},
		{"azure", models.StorageSecrets{AccountKey: "a2V5"}, ""},
		{"azure", models.StorageSecrets{ClientID: "id", ClientSecret: "s"}, ""},
		{"azure", models.StorageSecrets{AccountKey: "a2V5", ClientID: "id", ClientSecret: "s"}, "accountKey, or clientId and clientSecret"},
		{"azure", s3Secrets(), "accountKey, or clientId and clientSecret"},
		{"gcs", models.StorageSecrets{ServiceKey: `{"type":"service_account"}`}, ""},
		{"gcs", models.StorageSecrets{ServiceKey: "no JSON"}, "serviceKey"},
		{"main", s3Secrets(), "local folders"},
	} {
		err := d.SetStorageSecrets(t.Context(), d.root(), c.catalog, c.secrets)
		if c.says == "" {
			require.NoError(t, err, "case %d", i)
			continue
		}
		requireFault(t, err, fault.Invalid, c.says)
		require.NotContains(t, err.Error(), "with space")
	}
}

func TestWhoMayChangeHowCatalogsAreStored(t *testing.T) {
	d := newStorageDesk(t, true, tried{})
	ctx := t.Context()
	require.NoError(t, d.make("away", "s3://elsewhere/x"))
	d.principal("admin", onCatalog(models.CatalogManageAccess), onCatalog(models.CatalogManageContent))
	bound, readOnly, job := d.root(), d.root(), d.root()
	bound.CatalogID = d.catalog("away").ID
	readOnly.ReadOnly, job.CanGovern = true, false
	for name, c := range map[string]struct {
		caller             policy.Caller
		catalog            string
		code               fault.Code
		says               string
		mayValidateInstead bool
	}{
		"who administers a catalog alone":          {d.as("admin"), "main", fault.Forbidden, "SERVICE_MANAGE_ACCESS", false},
		"who does not see the catalog":             {d.as("admin"), "away", fault.NotFound, "Catalog does not exist: away", false},
		"a token of one catalog":                   {bound, "away", fault.Forbidden, "bound to one catalog", false},
		"a read-only token":                        {readOnly, "away", fault.Forbidden, "read-only", false},
		"a job's token, which may write to stores": {job, "away", fault.Forbidden, "canGovern", true},
	} {
		requireFault(t, d.SetStorageSecrets(ctx, c.caller, c.catalog, s3Secrets()), c.code, c.says)
		requireFault(t, d.RemoveStorageSecrets(ctx, c.caller, c.catalog), c.code, c.says)
		_, err := d.ValidateStorage(ctx, c.caller, c.catalog)
		if c.mayValidateInstead {
			require.NoError(t, err, name)
			continue
		}
		requireFault(t, err, c.code, c.says)
	}
	require.Empty(t, d.events(models.AuditStorageSecretsChanged))

	steps, err := d.ValidateStorage(ctx, d.root(), "away")
	require.NoError(t, err)
	require.Equal(t, "put in away", steps[0].Name)
	off := newStorageDesk(t, false, nil)
	requireFault(t, off.SetStorageSecrets(ctx, off.root(), "main", s3Secrets()), fault.Forbidden, "allow-other-storage")
}

// tried stands in for the validator, which has tests of its own.
type tried struct{}

// Validate tells what it was asked.
func (tried) Validate(_ context.Context, cat models.Catalog) ([]models.StorageStep, error) {
	return []models.StorageStep{{Name: "put in " + cat.Name, OK: true}}, nil
}
