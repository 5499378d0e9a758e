package validation_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

func TestCatalogsLieInStoresOfTheirOwn(t *testing.T) {
	databases(t, func(t *testing.T, url string) {
		ctx, home, away, far := t.Context(), startS3(t), startS3(t), startS3(t)
		in := newInstallation(t, url, home.config(), "s3://lake/wh")
		one, two := in.process(t), in.process(t)
		one.catalog(t, "main", "s3://lake/wh/main", models.StorageConfig{}, models.StorageSecrets{})
		one.catalog(t, "away", "s3://lake/other", s3At(away.Endpoint()), away.keys())
		one.catalog(t, "inner", "s3://lake/other/inner", s3At(far.Endpoint()), far.keys())
		one.catalog(t, "back", "s3://lake/wh/main/back", s3At(away.Endpoint()), away.keys())

		// Buckets of one name on three servers: the innermost catalog says which is meant.
		for location, at := range map[string]s3{
			"s3://lake/wh/main/a": home, "s3://lake/other/a": away, "s3://lake/other/inner/a": far,
			"s3a://lake/other/innermost/a": away, "s3://lake/wh/main/back/a": away,
		} {
			require.NoError(t, one.files.CreateFile(ctx, location, []byte(location)))
			found, err := two.files.ReadFile(ctx, location)
			require.NoError(t, err, location)
			assert.Equal(t, location, string(found))
			for _, server := range []s3{home, away, far} {
				_, err := server.direct(t).ReadFile(ctx, location)
				assert.Equal(t, server.key == at.key, err == nil, "%s on %s", location, server.Endpoint())
			}
		}
		err := one.files.CreateFile(ctx, "s3://lake/nobody/a", nil)
		assert.True(t, fault.Is(err, fault.Forbidden), "%v", err)
		assert.NotContains(t, err.Error(), "other", "where other catalogs lie is not for everybody to know")
	})
}

func TestAChangedSecretCountsAtOnceEverywhere(t *testing.T) {
	databases(t, func(t *testing.T, url string) {
		ctx, home, away := t.Context(), startS3(t), startS3(t)
		in := newInstallation(t, url, home.config(), "s3://lake/wh")
		one, two := in.process(t), in.process(t)
		one.catalog(t, "away", "s3://lake/other", s3At(away.Endpoint()), models.StorageSecrets{AccessKey: "wrong", SecretKey: "wrong-as-well"})
		err := two.files.CreateFile(ctx, "s3://lake/other/a", []byte("x"))
		assert.True(t, fault.Is(err, fault.Unavailable))
		assert.Equal(t, "The object store refused Sluice access to s3://lake/other/a. Check its storage credentials and their policy.", fault.PublicMessage(err))

		one.setSecrets(t, "away", away.keys())
		require.NoError(t, two.files.CreateFile(ctx, "s3://lake/other/a", []byte("x")))

		cat, err := one.store.CatalogByName(ctx, "away")
		require.NoError(t, err)
		require.NoError(t, one.store.SetStorageSecrets(ctx, cat.ID, cat.Version, nil, event(models.AuditStorageSecretsChanged)))
		_, err = two.files.ReadFile(ctx, "s3://lake/other/a")
		assert.Equal(t, "Catalog away lies outside this installation's warehouses and has no keys for its storage. Set them with `sluice storage set-secrets`.", fault.PublicMessage(err))

		require.NoError(t, one.store.DeleteCatalog(ctx, cat.ID, event(models.AuditCatalogDeleted)))
		_, err = two.files.ReadFile(ctx, "s3://lake/other/a")
		assert.True(t, fault.Is(err, fault.Forbidden), "it is nobody's now: %v", err)
	})
}

func TestOtherStorageIsOffUnlessItIsAllowed(t *testing.T) {
	ctx, home, away := t.Context(), startS3(t), startS3(t)
	in := newInstallation(t, "sqlite://"+t.TempDir()+"/s.db", home.config(), "s3://lake/wh")
	in.OtherStorage = false
	p := in.process(t)
	p.catalog(t, "away", "s3://lake/other", s3At(away.Endpoint()), away.keys())
	_, err := p.files.ReadFile(ctx, "s3://lake/other/a")
	assert.Contains(t, fault.PublicMessage(err), "allow-other-storage")
	cat, err := p.store.CatalogByName(ctx, "away")
	require.NoError(t, err)
	_, err = p.profiles.Vending(ctx, cat)
	assert.Contains(t, fault.PublicMessage(err), "allow-other-storage")
	require.NoError(t, p.files.CreateFile(ctx, "s3://lake/wh/a", nil), "the installation's own goes on")
}

func TestTheInstallationsKeysGoToItsOwnAddressesAlone(t *testing.T) {
	ctx, home, away := t.Context(), startS3(t), startS3(t)
	in := newInstallation(t, "sqlite://"+t.TempDir()+"/s.db", home.config(), "s3://lake/wh")
	in.Storage.STSEndpoint = home.roles(t)
	p := in.process(t)
	elsewhere := s3At(away.Endpoint())
	elsewhere.STSEndpoint, elsewhere.EndpointInternal, elsewhere.RoleARN = away.Endpoint(), away.Endpoint(), "arn:aws:iam::1:role/x"
	p.catalog(t, "main", "s3://lake/wh/main", elsewhere, models.StorageSecrets{})
	p.catalog(t, "role", "s3://lake/role", elsewhere, models.StorageSecrets{})
	for _, name := range []string{"main", "role"} {
		cat, err := p.store.CatalogByName(ctx, name)
		require.NoError(t, err)
		of, err := p.profiles.Vending(ctx, cat)
		require.NoError(t, err)
		assert.Equal(t, home.key, of.Secrets.AccessKey)
		assert.Equal(t, home.Endpoint(), of.Config.EndpointInternal)
		assert.Equal(t, in.Storage.STSEndpoint, of.Config.STSEndpoint)
		assert.Equal(t, away.Endpoint(), of.Config.Endpoint, "engines are told what the catalog says")
		assert.Equal(t, "arn:aws:iam::1:role/x", of.Config.RoleARN)
		require.NoError(t, p.files.CreateFile(ctx, cat.BaseLocation+"/a", []byte("x")))
		_, err = home.direct(t).ReadFile(ctx, cat.BaseLocation+"/a")
		require.NoError(t, err)
	}

	cat, err := p.store.CatalogByName(ctx, "role")
	require.NoError(t, err)
	of, err := p.profiles.Signing(ctx, cat)
	require.NoError(t, err)
	assert.NotEqual(t, home.key, of.Secrets.AccessKey, "what is outside the warehouses is reached by the role alone")
	assert.NotEmpty(t, of.Secrets.SessionToken)
}

func TestARoleThatCannotBeTakenOnIsSaid(t *testing.T) {
	home := startS3(t)
	p := newOne(t, home) // whose token service wants a session policy
	storage := s3At("")
	storage.RoleARN = "arn:aws:iam::1:role/x"
	p.catalog(t, "role", "s3://lake/role", storage, models.StorageSecrets{})
	step := p.validate(t, "role")["put"]
	assert.False(t, step.OK)
	assert.Contains(t, step.Detail, "Sluice cannot take on the role arn:aws:iam::1:role/x")
}

func TestNoSecretIsPrinted(t *testing.T) {
	home, away := startS3(t), startS3(t)
	in := newInstallation(t, "sqlite://"+t.TempDir()+"/s.db", home.config(), "s3://lake/wh")
	p := in.process(t)
	p.catalog(t, "away", "s3://lake/other", s3At(away.Endpoint()), away.keys())
	cat, err := p.store.CatalogByName(t.Context(), "away")
	require.NoError(t, err)
	of, err := p.profiles.Signing(t.Context(), cat)
	require.NoError(t, err)
	require.Equal(t, away.secret, of.Secrets.SecretKey)
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("profile", "profile", of, "secrets", of.Secrets)
	for _, text := range []string{
		logged.String(), fmt.Sprint(of, of.Secrets), fmt.Sprintf("%+v %#v %s %q", of, of.Secrets, of.Secrets, of),
		fmt.Sprintf("%+v", cat), fmt.Sprintf("%v", []objects.Profile{of}),
	} {
		assert.NotContains(t, text, away.secret)
		assert.NotContains(t, text, away.key)
	}
}
