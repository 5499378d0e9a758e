package delegation

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/internal/objects/vending"
	"github.com/sluice-data/sluice/models"
)

// oneProfile is the store of every catalog.
type oneProfile struct{ objects.Profile }

func (p oneProfile) Vending(context.Context, models.Catalog) (objects.Profile, error) {
	return p.Profile, nil
}

func (p oneProfile) Signing(context.Context, models.Catalog) (objects.Profile, error) {
	return p.Profile, nil
}

func routes() catalog.StorageRoutes {
	return catalog.StorageRoutes{Sign: "v1/main/namespaces/db/tables/t/sign", Credentials: "v1/main/namespaces/db/tables/t/credentials"}
}

func useOf(location string, mode catalog.Delegation) catalog.StorageUse {
	return catalog.StorageUse{
		Location: location, Choice: catalog.StorageChoice{Mode: mode},
		Access: models.StorageAccess{
			Table: "db.t", Areas: []models.StorageArea{{Prefix: location}},
			Rights: models.StorageRights{ReadData: true, ReadMetadata: true, Write: true},
		},
	}
}

// tokenService counts who asks it for keys, and gives none.
func tokenService(t *testing.T) (url string, calls *atomic.Int64) {
	t.Helper()
	calls = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	return server.URL, calls
}

func keysOf(p objects.Profile, open map[models.StorageType]OpenVendor) *Keys {
	return New(Deps{Profiles: oneProfile{p}, S3: vending.NewS3(time.Now), Signer: signing.New(time.Now), Vendors: open})
}

func s3Profile(endpoint string) objects.Profile {
	return objects.Profile{
		Config:  models.StorageConfig{Type: models.S3Storage, Endpoint: endpoint, PathStyleAccess: true, STSEndpoint: endpoint},
		Secrets: models.StorageSecrets{AccessKey: "key", SecretKey: "secret"},
	}
}

// TestCaseD11: without a token service nobody is asked for keys, and requests are signed.
func TestCaseD11(t *testing.T) {
	url, calls := tokenService(t)
	p := s3Profile(url)
	p.Config.STSUnavailable = true
	k := keysOf(p, nil)
	choice, err := k.Choose(t.Context(), models.Catalog{}, []catalog.Delegation{catalog.Vending})
	require.NoError(t, err)
	require.Equal(t, catalog.Signing, choice.Mode)
	for _, mode := range []catalog.Delegation{catalog.Vending, catalog.Signing} {
		open, err := k.Open(t.Context(), useOf("s3://b/t", mode), routes())
		require.NoError(t, err)
		require.Equal(t, catalog.Signing, open.Mode)
		require.Equal(t, routes().Sign, open.Config["signer.endpoint"])
	}
	list, err := k.Renew(t.Context(), useOf("s3://b/t", catalog.Vending), routes())
	require.NoError(t, err)
	require.Empty(t, list)
	require.Zero(t, calls.Load())
}

// TestATokenServiceThatRefuses is an error to tell and no reason to give something else: tried again it may work.
func TestATokenServiceThatRefuses(t *testing.T) {
	url, calls := tokenService(t)
	_, err := keysOf(s3Profile(url), nil).Open(t.Context(), useOf("s3://b/t", catalog.Vending), routes())
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.NotZero(t, calls.Load())
}

// TestATableWhosePolicyIsTooLong has its requests signed: no later try could give it keys.
func TestATableWhosePolicyIsTooLong(t *testing.T) {
	url, calls := tokenService(t)
	long := "s3://b/" + strings.Repeat("a-folder-of-some-length/", 40) + "t"
	open, err := keysOf(s3Profile(url), nil).Open(t.Context(), useOf(long, catalog.Vending), routes())
	require.NoError(t, err)
	require.Equal(t, catalog.Signing, open.Mode)
	require.Zero(t, calls.Load())
}

// vendor gives what it holds.
type vendor struct {
	list []objects.Credential
	err  error
	last objects.VendOptions
}

func (v *vendor) Vend(_ context.Context, _ models.StorageAccess, o objects.VendOptions) ([]objects.Credential, error) {
	v.last = o
	return v.list, v.err
}

// TestOtherClouds: their keys are passed on, each account is opened once, and an account without keys for one table gives
// nothing. It is not signed for them.
func TestOtherClouds(t *testing.T) {
	v := &vendor{list: []objects.Credential{{Prefix: "gs://b/t", Config: map[string]string{"gcs.oauth2.token": "x"}}}}
	opened := 0
	open := map[models.StorageType]OpenVendor{models.GCSStorage: func(models.StorageConfig, models.StorageSecrets, objects.Location) (Vendor, error) {
		opened++
		return v, nil
	}}
	p := objects.Profile{Config: models.StorageConfig{Type: models.GCSStorage}}
	k := keysOf(p, open)
	choice, err := k.Choose(t.Context(), models.Catalog{}, []catalog.Delegation{catalog.Signing})
	require.NoError(t, err)
	require.Equal(t, catalog.StorageChoice{Mode: catalog.Vending, Able: true, Life: 15 * time.Minute, Store: choice.Store}, choice)
	for range 2 {
		got, err := k.Open(t.Context(), useOf("gs://b/t", catalog.Vending), routes())
		require.NoError(t, err)
		require.Equal(t, "x", got.Config["gcs.oauth2.token"])
		require.Equal(t, "x", got.Credentials[0].Config["gcs.oauth2.token"])
	}
	require.Equal(t, 1, opened)
	require.Equal(t, objects.VendOptions{Lifetime: 15 * time.Minute, RefreshEndpoint: routes().Credentials}, v.last)

	v.list, v.err = nil, objects.ErrNoScopedKeys
	got, err := k.Open(t.Context(), useOf("gs://b/t", catalog.Vending), routes())
	require.NoError(t, err)
	require.Equal(t, catalog.StorageOpening{}, got)
	_, err = k.Sign(t.Context(), useOf("gs://b/t", ""), catalog.SignInput{Method: "GET", URI: "https://storage.googleapis.com/b/t/f"})
	require.True(t, fault.Is(err, fault.Unsupported), "%v", err)
}

// TestALocalFolderGivesNothing to engines, whatever they ask for.
func TestALocalFolderGivesNothing(t *testing.T) {
	k := keysOf(objects.Profile{Config: models.StorageConfig{Type: models.FileStorage}}, nil)
	choice, err := k.Choose(t.Context(), models.Catalog{}, []catalog.Delegation{catalog.Vending, catalog.Signing})
	require.NoError(t, err)
	require.False(t, choice.Able)
	require.Equal(t, catalog.NoDelegation, choice.Mode)
	open, err := k.Open(t.Context(), useOf("file:///t", catalog.Vending), routes())
	require.NoError(t, err)
	require.Equal(t, catalog.StorageOpening{}, open)
}

// TestATableBesideTheStore is given nothing of a store that it is not in.
func TestATableBesideTheStore(t *testing.T) {
	url, calls := tokenService(t)
	for location, p := range map[string]objects.Profile{
		"file:///warehouse/t": s3Profile(url), "gs://b/t": s3Profile(url), "not a location": s3Profile(url),
		"s3://b/t": {Config: models.StorageConfig{Type: models.GCSStorage}},
	} {
		for _, mode := range []catalog.Delegation{catalog.Vending, catalog.Signing} {
			open, err := keysOf(p, nil).Open(t.Context(), useOf(location, mode), routes())
			require.NoError(t, err)
			require.Equal(t, catalog.StorageOpening{}, open, location)
			list, err := keysOf(p, nil).Renew(t.Context(), useOf(location, mode), routes())
			require.NoError(t, err)
			require.Empty(t, list)
		}
	}
	require.Zero(t, calls.Load())
}

// TestTheStoreIsPartOfTheChoice: after a restart on another port, or with other keys, a client is not told to go on with what
// it has.
func TestTheStoreIsPartOfTheChoice(t *testing.T) {
	for _, asked := range [][]catalog.Delegation{{catalog.Vending}, {catalog.Signing}} {
		epochs := map[string]bool{}
		for _, p := range []objects.Profile{s3Profile("http://store.example:1"), s3Profile("http://store.example:2"), s3Profile("http://store.example:2")} {
			p.Secrets.SecretKey += strconv.Itoa(len(epochs) / 2)
			choice, err := keysOf(p, nil).Choose(t.Context(), models.Catalog{}, asked)
			require.NoError(t, err)
			require.NotContains(t, choice.Store, "secret")
			epochs[catalog.StorageUse{Choice: choice}.Epoch()] = true
		}
		require.Len(t, epochs, 3)
	}
}

// TestOtherProviders are not signed for.
func TestOtherProviders(t *testing.T) {
	k := keysOf(s3Profile("http://store.example"), nil)
	in := catalog.SignInput{Provider: "gcs", Region: "r", Method: "GET", URI: "http://store.example/b/t/f"}
	_, err := k.Sign(t.Context(), useOf("s3://b/t", ""), in)
	require.True(t, fault.Is(err, fault.Unsupported), "%v", err)
	in.Provider = ""
	_, err = k.Sign(t.Context(), useOf("s3://b/t", ""), in)
	require.NoError(t, err)
	at, err := k.Locate(t.Context(), models.Catalog{}, in)
	require.NoError(t, err)
	require.Equal(t, "s3://b/t/f", at)
}
