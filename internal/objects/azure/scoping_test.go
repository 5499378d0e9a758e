package azure

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

const lake = "abfss://lake@" + testAccount + ".dfs.core.windows.net"

// world is an account with objects of three tables, and what hands out keys for them.
type world struct {
	endpoint string // as engines see it
	vendor   *Vendor
	now      time.Time
}

var t1 = []models.StorageArea{{Prefix: lake + "/wh/t1"}, {Prefix: lake + "/wh/t1/metadata", Metadata: true}}

// newWorld is one whose keys are signed by the account's key.
func newWorld(t *testing.T) *world {
	t.Helper()
	a := startAzurite(t, false)
	_, endpoint := serveDirectories(t, a)
	w := &world{endpoint: endpoint, now: time.Now()}
	config := Config{Endpoint: a.endpoint(), AccountKey: a.key, Hierarchical: true}
	w.fill(t, a, config)
	var err error
	w.vendor, err = NewVendor(config, parse(t, lake), func() time.Time { return w.now })
	require.NoError(t, err)
	return w
}

// newDelegatedWorld is one whose keys are signed by a user delegation key.
func newDelegatedWorld(t *testing.T) *world {
	t.Helper()
	a := startAzurite(t, true)
	d, endpoint := serveDirectories(t, a)
	w := &world{endpoint: endpoint, now: time.Now()}
	w.fill(t, a, Config{Endpoint: a.endpoint(), AccountKey: a.key, Hierarchical: true})
	w.vendor = &Vendor{account: tokenAccount(t, a, d.learn(t, a.transport())), hierarchical: true, now: func() time.Time { return w.now }}
	return w
}

func (w *world) fill(t *testing.T, a azurite, c Config) {
	t.Helper()
	s, err := newStore(c, parse(t, lake), a.transport())
	require.NoError(t, err)
	for _, name := range []string{"lake", "other"} {
		a.createContainer(t, name)
		for _, key := range []string{"/wh/t1/data/a", "/wh/t1/metadata/m", "/wh/t10/data/a", "/wh/t1x", "/wh/u"} {
			require.NoError(t, s.CreateFile(t.Context(), strings.Replace(lake, "lake@", name+"@", 1)+key, []byte("secret")))
		}
	}
}

func (w *world) vend(t *testing.T, rights models.StorageRights) []objects.Credential {
	t.Helper()
	keys, err := w.vendor.Vend(t.Context(), models.StorageAccess{Table: "ns.t1", Areas: t1, Rights: rights}, objects.VendOptions{Lifetime: time.Hour})
	require.NoError(t, err)
	require.NotEmpty(t, keys)
	return keys
}

// engine reaches containers with a SAS, as an engine does.
func (w *world) engine(t *testing.T, name string, c objects.Credential) *container.Client {
	t.Helper()
	client, err := container.NewClientWithNoCredential(w.endpoint+"/"+name+"?"+token(c), &container.ClientOptions{
		ClientOptions: azcore.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}}})
	require.NoError(t, err)
	return client
}

func token(c objects.Credential) string {
	return c.Config["adls.sas-token."+testAccount+".dfs.core.windows.net"]
}

// try does each thing an engine does at a key and gives the letters of those that went well.
func (w *world) try(t *testing.T, name, key string, c objects.Credential) string {
	t.Helper()
	ctx, client, did := t.Context(), w.engine(t, name, c), ""
	note := func(letter string, err error) {
		if err == nil {
			did += letter
			return
		}
		status, code := answer(err)
		assert.True(t, status == http.StatusForbidden || status == http.StatusUnauthorized, "%s of %s: %v %s", letter, key, err, code)
	}
	at := client.NewBlockBlobClient(key)
	_, err := at.GetProperties(ctx, nil)
	note("h", err)
	resp, err := at.DownloadStream(ctx, nil)
	note("r", err)
	if err == nil {
		_ = resp.Body.Close()
	}
	_, err = client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: to.Ptr(key[:strings.LastIndex(key, "/")+1])}).NextPage(ctx)
	note("l", err)
	fresh := client.NewBlockBlobClient(key + ".new")
	_, err = fresh.Upload(ctx, body("new"), nil)
	note("c", err)
	blocks := client.NewBlockBlobClient(key + ".blocks")
	_, err = blocks.StageBlock(ctx, "YQ==", body("block"), nil)
	if err == nil {
		_, err = blocks.CommitBlockList(ctx, []string{"YQ=="}, nil)
	}
	note("b", err)
	_, err = at.Upload(ctx, body("again"), nil)
	note("o", err)
	_, err = at.Delete(ctx, nil)
	note("d", err)
	return did
}

// tokenAccount is the account as one sees it who signs in by token.
func tokenAccount(t *testing.T, a azurite, transport http.RoundTripper) *account {
	t.Helper()
	of, err := newAccount(Config{Endpoint: a.endpoint(), AccountKey: a.key}, parse(t, lake), transport)
	require.NoError(t, err)
	of.key = nil
	of.service, err = service.NewClient(of.endpoint, identity{}, &service.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: &http.Client{Transport: transport}}})
	require.NoError(t, err)
	return of
}

func body(s string) io.ReadSeekCloser { return streaming.NopCloser(bytes.NewReader([]byte(s))) }

func TestASASOpensNothingButItsTable(t *testing.T) {
	for kind, newWorld := range map[string]func(*testing.T) *world{"account key": newWorld, "user delegation key": newDelegatedWorld} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			all := w.vend(t, models.StorageRights{ReadData: true, ReadMetadata: true, Write: true, Overwrite: true, Delete: true})
			require.Len(t, all, 1)
			for _, key := range []string{"wh/t10/data/a", "wh/t1x", "wh/u", "wh/t1", "wh", "u"} {
				assert.Empty(t, w.try(t, "lake", key, all[0]), key)
			}
			assert.Empty(t, w.try(t, "other", "wh/t1/data/a", all[0]), "the same folder of another container")
			w.refusesWholeListings(t, all[0])
			w.refusesOddPaths(t, all[0])
			w.refusesForgeries(t, all[0])
			w.refusesCopies(t, all[0])
			assert.Equal(t, "hrlcbod", w.try(t, "lake", "wh/t1/data/a", all[0]), "while its own folder is open")
		})
	}
}

// refusesWholeListings: of the container, of the parent, and of the prefix that neighbours begin with too.
func (w *world) refusesWholeListings(t *testing.T, c objects.Credential) {
	for _, prefix := range []string{"", "wh", "wh/", "wh/t", "wh/t1", "wh/t10/", "/", "wh//t1/"} {
		_, err := w.engine(t, "lake", c).NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: to.Ptr(prefix)}).NextPage(t.Context())
		status, _ := answer(err)
		assert.Equal(t, http.StatusForbidden, status, "listing of %q", prefix)
	}
}

// refusesOddPaths sends paths as no client library would.
func (w *world) refusesOddPaths(t *testing.T, c objects.Credential) {
	for _, path := range []string{
		"/lake/wh/t1/../t10/data/a", "/lake/wh/t1/%2e%2e/t10/data/a", "/lake/wh/t1%2F..%2Ft10/data/a", "/lake/wh/t1%2f%2e%2e%2ft10%2fdata%2fa",
		"/lake/wh/t1/%252e%252e/t10/data/a", "/lake/wh/t1%5C..%5Ct10/data/a", "/lake/wh/t10%2Fdata/a", "/lake//wh/t1/data/a", "/other/wh/t1/data/a",
		"/lake/wh/t1/../../../other/wh/t1/data/a",
	} {
		u, err := url.Parse(w.endpoint)
		require.NoError(t, err)
		request := &http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: u.Scheme, Host: u.Host, Opaque: "//" + u.Host + u.Path + path, RawQuery: token(c)}, Header: http.Header{"X-Ms-Version": {"2021-12-02"}}}
		resp, err := http.DefaultTransport.RoundTrip(request.WithContext(t.Context()))
		require.NoError(t, err)
		content, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.GreaterOrEqual(t, resp.StatusCode, 400, path)
		assert.NotContains(t, string(content), "secret", path)
	}
}

// refusesForgeries changes what is signed.
func (w *world) refusesForgeries(t *testing.T, c objects.Credential) {
	for name, change := range map[string]func(url.Values){
		"a shorter depth":       func(q url.Values) { q.Set("sdd", "1") },
		"a longer depth":        func(q url.Values) { q.Set("sdd", "3") },
		"the whole container":   func(q url.Values) { q.Set("sr", "c"); q.Del("sdd") },
		"one blob":              func(q url.Values) { q.Set("sr", "b"); q.Del("sdd") },
		"more permissions":      func(q url.Values) { q.Set("sp", q.Get("sp")+"m") },
		"a later end":           func(q url.Values) { q.Set("se", "2099-01-01T00:00:00Z") },
		"no signature":          func(q url.Values) { q.Del("sig") },
		"another's signature":   func(q url.Values) { q.Set("sig", "AAAA") },
		"a protocol beside its": func(q url.Values) { q.Set("spr", "http") },
	} {
		q, err := url.ParseQuery(token(c))
		require.NoError(t, err)
		change(q)
		forged := objects.Credential{Config: map[string]string{"adls.sas-token." + testAccount + ".dfs.core.windows.net": q.Encode()}}
		_, err = w.engine(t, "lake", forged).NewBlobClient("wh/t1/data/a").GetProperties(t.Context(), nil)
		assert.Error(t, err, name)
	}
}

// refusesCopies: a key opens no source of a copy beyond its table. (A source without any key is refused by Azure; Azurite
// does not look at those in its own account.)
func (w *world) refusesCopies(t *testing.T, c objects.Credential) {
	_, err := w.engine(t, "lake", c).NewBlobClient("wh/t1/data/copy").StartCopyFromURL(t.Context(), w.endpoint+"/lake/wh/t10/data/a?"+token(c), nil)
	assert.Error(t, err)
}

func TestASASAllowsWhatThePolicyDoes(t *testing.T) {
	w := newWorld(t)
	read := w.vend(t, models.StorageRights{ReadData: true, ReadMetadata: true})
	require.Len(t, read, 1)
	assert.Equal(t, "hrl", w.try(t, "lake", "wh/t1/data/a", read[0]))

	appends := w.vend(t, models.StorageRights{ReadData: true, ReadMetadata: true, Write: true})
	require.Len(t, appends, 1)
	assert.Equal(t, "hrlcbo", w.try(t, "lake", "wh/t1/data/a", appends[0]), "nothing is deleted; Azure cannot keep from replacing")

	writeOnly := w.vend(t, models.StorageRights{ReadMetadata: true, Write: true})
	require.Len(t, writeOnly, 2)
	assert.Equal(t, lake+"/wh/t1", writeOnly[0].Prefix)
	assert.Equal(t, "cbo", w.try(t, "lake", "wh/t1/data/a", writeOnly[0]))
	assert.Equal(t, "cbo", w.try(t, "lake", "wh/t1/metadata/m", writeOnly[0]))
	assert.Equal(t, lake+"/wh/t1/metadata", writeOnly[1].Prefix)
	assert.Equal(t, "hrlcbo", w.try(t, "lake", "wh/t1/metadata/m", writeOnly[1]))
	assert.Empty(t, w.try(t, "lake", "wh/t1/data/a", writeOnly[1]))
}

// One delegation key signs many SAS, until half of its life is over.
func TestADelegationKeyIsUsedAgain(t *testing.T) {
	a := startAzurite(t, true)
	d := &directories{azurite: a, keys: map[string]string{}}
	w := &world{now: time.Now()}
	w.vendor = &Vendor{account: tokenAccount(t, a, d.learn(t, a.transport())), hierarchical: true, now: func() time.Time { return w.now }}
	reads := models.StorageRights{ReadData: true, ReadMetadata: true}
	for range 3 {
		assert.Contains(t, token(w.vend(t, reads)[0]), "sr=d")
	}
	assert.Len(t, d.keys, 1)
	w.now = w.now.Add(keyLifetime/2 + time.Minute)
	w.vend(t, reads)
	assert.Len(t, d.keys, 2)
}

func TestASASEnds(t *testing.T) {
	w := newWorld(t)
	w.now = time.Now().Add(-time.Hour - time.Second) // keys of an hour that was over a second ago
	old := w.vend(t, models.StorageRights{ReadData: true, ReadMetadata: true})
	assert.True(t, old[0].Expires.Before(time.Now()))
	assert.Empty(t, w.try(t, "lake", "wh/t1/data/a", old[0]))
}

// A SAS of a folder that reaches an account without folders opens nothing at all.
func TestASASOfAFolderOpensNothingInAFlatAccount(t *testing.T) {
	w := newWorld(t)
	w.endpoint = w.vendor.account.endpoint
	all := w.vend(t, models.StorageRights{ReadData: true, ReadMetadata: true, Write: true, Overwrite: true, Delete: true})
	assert.Empty(t, w.try(t, "lake", "wh/t1/data/a", all[0]))
}
