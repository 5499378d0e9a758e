package azure

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

const file = lake + "/wh/t/metadata/00001-a.metadata.json"

// refuse answers as Azure does.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("x-ms-error-code", code)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>internal words of the store</Message></Error>", code)
}

func TestFaultsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		status       int
		code         string
		read, create fault.Code
		says         string
	}{
		{404, "BlobNotFound", fault.NotFound, fault.Unavailable, "Failed to open"},
		{404, "ContainerNotFound", fault.Unavailable, fault.Unavailable, `Container "lake" does not exist`},
		{404, "FilesystemNotFound", fault.Unavailable, fault.Unavailable, `Container "lake" does not exist`},
		{409, "ResourceTypeMismatch", fault.NotFound, fault.Unavailable, "Failed to open"},
		{409, "BlobImmutableDueToPolicy", fault.Unavailable, fault.Unavailable, "conflict"},
		{409, "PathAlreadyExists", fault.Unavailable, fault.AlreadyExists, "conflict"},
		{403, "AuthorizationPermissionMismatch", fault.Unavailable, fault.Unavailable, "Storage Blob Data Contributor"},
		{401, "InvalidAuthenticationInfo", fault.Unavailable, fault.Unavailable, "refused"},
		{400, "InvalidInput", fault.Unavailable, fault.Unavailable, "did not do"},
	} {
		s := at(t, false, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w, c.status, c.code) }))
		_, err := s.ReadFile(t.Context(), file)
		assert.Equal(t, c.read, fault.CodeOf(err), c.code)
		assert.Contains(t, fault.PublicMessage(err), c.says, c.code)
		assert.NotContains(t, fault.PublicMessage(err), "internal words")
		assert.Equal(t, c.create, fault.CodeOf(s.CreateFile(t.Context(), file, []byte("x"))), c.code)
	}
}

func TestABusyAccountIsAskedAgain(t *testing.T) {
	var asked atomic.Int32
	s := at(t, false, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			refuse(w, http.StatusServiceUnavailable, "ServerBusy")
			return
		}
		_, _ = io.WriteString(w, "content")
	}))
	data, err := s.ReadFile(t.Context(), file)
	require.NoError(t, err)
	assert.Equal(t, "content", string(data))
	assert.EqualValues(t, 3, asked.Load())
}

// The first Put succeeds and its answer is lost: the retry's condition fails by our own object.
func TestCreateKnowsItsOwnObject(t *testing.T) {
	for stored, want := range map[string]fault.Code{"content": "", "CONTENT": fault.AlreadyExists} {
		var puts atomic.Int32
		s := at(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				assert.Equal(t, "*", r.Header.Get("If-None-Match"))
				if puts.Add(1) == 1 {
					panic(http.ErrAbortHandler)
				}
				refuse(w, http.StatusConflict, "BlobAlreadyExists")
				return
			}
			_, _ = io.WriteString(w, stored)
		}))
		assert.Equal(t, want, fault.CodeOf(s.CreateFile(t.Context(), file, []byte("content"))))
	}
}

// A folder of a hierarchical account is no object, and deleting its name leaves what is in it.
func TestAFolderIsNoObject(t *testing.T) {
	s := at(t, true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			refuse(w, http.StatusConflict, "DirectoryIsNotEmpty")
			return
		}
		w.Header().Set("x-ms-meta-hdi_isfolder", "true")
	}))
	_, err := s.Stat(t.Context(), file)
	assert.True(t, fault.Is(err, fault.NotFound), err)
	_, err = s.ReadFile(t.Context(), file)
	assert.True(t, fault.Is(err, fault.NotFound), err)
	assert.NoError(t, s.DeleteFile(t.Context(), file))
}

func TestAnOpenFileThatIsReplacedSaysSo(t *testing.T) {
	s := at(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.Header().Set("ETag", `"first"`)
			w.Header().Set("Content-Length", "4")
			return
		}
		assert.Equal(t, `"first"`, r.Header.Get("If-Match"))
		refuse(w, http.StatusPreconditionFailed, "ConditionNotMet")
	}))
	f, err := s.OpenFile(t.Context(), file)
	require.NoError(t, err)
	_, err = f.ReadAt(make([]byte, 2), 0)
	assert.True(t, fault.Is(err, fault.Unavailable), err)
	assert.Contains(t, fault.PublicMessage(err), "replaced")
}

func TestAStoreKeepsToItsAccount(t *testing.T) {
	s := at(t, false, http.NotFoundHandler())
	for _, loc := range []string{"abfss://lake@another.dfs.core.windows.net/x", "s3://lake/x", "/x"} {
		_, err := s.ReadFile(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.Forbidden), err)
		_, err = s.List(t.Context(), loc, "", 1)
		assert.True(t, fault.Is(err, fault.Forbidden), err)
	}
	_, err := s.ReadFile(t.Context(), lake)
	assert.True(t, fault.Is(err, fault.Invalid), err)
}

func TestConfigIsChecked(t *testing.T) {
	for name, c := range map[string]Config{
		"a key that is no base64":     {AccountKey: "not base64!"},
		"key and secret":              {AccountKey: "a2V5", TenantID: "t", ClientID: "c", ClientSecret: "s"},
		"a secret without its id":     {TenantID: "t", ClientSecret: "s"},
		"http beyond this machine":    {AccountKey: "a2V5", Endpoint: "http://store.example/account"},
		"an endpoint with a query":    {AccountKey: "a2V5", Endpoint: "https://store.example/?sig=x"},
		"an endpoint of another kind": {AccountKey: "a2V5", Endpoint: "ftp://store.example"},
		"an endpoint with a user":     {AccountKey: "a2V5", Endpoint: "https://user@store.example"},
		"an endpoint that is no URL":  {AccountKey: "a2V5", Endpoint: "store.example"},
		"a tenant that is no tenant":  {TenantID: "a tenant", ClientID: "c", ClientSecret: "s"},
	} {
		_, err := New(c, parse(t, lake))
		assert.True(t, fault.Is(err, fault.Invalid), "%s: %v", name, err)
	}
	for _, own := range []struct{ root, endpoint string }{
		{"abfss://lake@account.dfs.evil.example/wh", ""}, {"abfss://lake@account.dfs.core.windows.net.example/wh", ""}, {lake, "https://evil.example"},
		{lake, "https://evil.example/.core.windows.net"}, {lake, "http://127.0.0.1:10000/x"},
	} {
		_, err := New(Config{Endpoint: own.endpoint}, parse(t, own.root))
		require.True(t, fault.Is(err, fault.Invalid), "the machine's identity is not shown to %v: %v", own, err)
		assert.Contains(t, fault.PublicMessage(err), "Azure's own hosts")
		_, err = New(Config{Endpoint: own.endpoint, AccountKey: "a2V5"}, parse(t, own.root))
		assert.NoError(t, err, "a key of the account's own is")
	}
	_, err := New(Config{AccountKey: "a2V5"}, parse(t, "s3://bucket"))
	assert.True(t, fault.Is(err, fault.Invalid), err)
	_, err = New(Config{TenantID: "00000000-0000-0000-0000-000000000001", ClientID: "c", ClientSecret: "s"}, parse(t, lake))
	assert.NoError(t, err, "nothing is asked of Azure yet")
	_, err = Opener(Config{})(t.Context(), parse(t, lake))
	assert.NoError(t, err, "with what the machine has")
}

func TestConfigHidesItsKeys(t *testing.T) {
	c := Config{AccountKey: "QWNjb3VudEtleQ==", ClientSecret: "hidden"}
	for _, shown := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), c.LogValue().String()} {
		assert.NotContains(t, shown, "QWNjb3VudEtleQ")
		assert.NotContains(t, shown, "hidden")
	}
}

func TestVendGivesTheKeysOfIcebergsClients(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	v, err := NewVendor(Config{AccountKey: "a2V5", Hierarchical: true}, parse(t, lake), func() time.Time { return now })
	require.NoError(t, err)
	access := models.StorageAccess{Table: "ns.t1", Areas: t1, Rights: models.StorageRights{ReadData: true, ReadMetadata: true}}
	keys, err := v.Vend(t.Context(), access, objects.VendOptions{Lifetime: time.Hour, RefreshEndpoint: "v1/main/namespaces/ns/tables/t1/credentials"})
	require.NoError(t, err)
	require.Len(t, keys, 1)
	assert.Equal(t, lake+"/wh/t1", keys[0].Prefix)
	assert.Equal(t, time.Date(2026, 1, 2, 4, 4, 5, 0, time.UTC), keys[0].Expires)
	sasToken := keys[0].Config["adls.sas-token.sluicetest.dfs.core.windows.net"]
	assert.Contains(t, sasToken, "sr=d")
	assert.Contains(t, sasToken, "sdd=2")
	assert.Contains(t, sasToken, "sp=rl")
	assert.Contains(t, sasToken, "spr=https&")
	assert.Equal(t, map[string]string{
		"adls.sas-token.sluicetest.dfs.core.windows.net":                sasToken,
		"adls.sas-token.sluicetest.blob.core.windows.net":               sasToken,
		"adls.sas-token-expires-at-ms.sluicetest.dfs.core.windows.net":  "1767326645000",
		"adls.sas-token-expires-at-ms.sluicetest.blob.core.windows.net": "1767326645000",
		"adls.refresh-credentials-endpoint":                             "v1/main/namespaces/ns/tables/t1/credentials",
	}, keys[0].Config)

	access.Rights = models.StorageRights{}
	keys, err = v.Vend(t.Context(), access, objects.VendOptions{Lifetime: time.Hour})
	require.NoError(t, err)
	assert.Empty(t, keys, "no rights, no keys")
}

func TestVendGivesNothingThatIsNotOfOneTable(t *testing.T) {
	flat, err := NewVendor(Config{AccountKey: "a2V5"}, parse(t, lake), time.Now)
	require.NoError(t, err)
	rights := models.StorageRights{ReadData: true, ReadMetadata: true}
	_, err = flat.Vend(t.Context(), models.StorageAccess{Table: "ns.t1", Areas: t1, Rights: rights}, objects.VendOptions{})
	assert.ErrorIs(t, err, ErrNoScopedSAS)
	assert.ErrorIs(t, err, objects.ErrNoScopedKeys)
	v, err := NewVendor(Config{AccountKey: "a2V5", Hierarchical: true}, parse(t, lake), time.Now)
	require.NoError(t, err)
	_, err = v.Vend(t.Context(), models.StorageAccess{Table: "ns.t1", Areas: []models.StorageArea{{Prefix: lake}}, Rights: rights}, objects.VendOptions{})
	assert.True(t, fault.Is(err, fault.Unprocessable), "a whole container: %v", err)
	_, err = v.Vend(t.Context(), models.StorageAccess{Table: "ns.t1", Areas: []models.StorageArea{{Prefix: "abfss://lake@another.dfs.core.windows.net/x"}}, Rights: rights}, objects.VendOptions{})
	assert.True(t, fault.Is(err, fault.Forbidden), "another account: %v", err)
}
