package gcs

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// cloud answers for Google's hosts: tokens of service accounts, of others to act as, and their exchange.
type cloud struct {
	t           *testing.T
	life        time.Duration // of tokens of the service account
	signIns     atomic.Int32
	exchanged   url.Values // the last exchange
	lifetime    string     // that was asked for to act as another
	refuses     bool
	noExpiresIn bool
}

// RoundTrip implements http.RoundTripper.
func (g *cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	body, err := io.ReadAll(r.Body)
	assert.NoError(g.t, err)
	switch host := r.URL.Hostname(); {
	case host == "oauth2.googleapis.com":
		n := g.signIns.Add(1)
		_, _ = fmt.Fprintf(w, `{"access_token":"own-%d","token_type":"Bearer","expires_in":%d}`, n, int(g.life.Seconds()))
	case host == "iamcredentials.googleapis.com":
		assert.Equal(g.t, "Bearer own-1", r.Header.Get("Authorization"))
		assert.Contains(g.t, r.URL.Path, "other@project.iam.gserviceaccount.com:generateAccessToken")
		var in struct{ Lifetime string }
		assert.NoError(g.t, json.Unmarshal(body, &in))
		g.lifetime = in.Lifetime
		_, _ = fmt.Fprintf(w, `{"accessToken":"other","expireTime":%q}`, time.Now().Add(10*time.Minute).UTC().Format(time.RFC3339))
	case host == "sts.googleapis.com" && g.refuses:
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":"access_denied","error_description":"internal words"}`)
	case host == "sts.googleapis.com":
		g.exchanged, err = url.ParseQuery(string(body))
		assert.NoError(g.t, err)
		if g.noExpiresIn {
			_, _ = io.WriteString(w, `{"access_token":"narrow","token_type":"Bearer"}`)
			break
		}
		_, _ = io.WriteString(w, `{"access_token":"narrow","token_type":"Bearer","expires_in":1800}`)
	default:
		assert.Fail(g.t, "a request to another host", host)
	}
	return w.Result(), nil
}

// serviceKey is one as Google makes it.
func serviceKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	doc, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "project", "client_email": "sluice@project.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	return string(doc)
}

func access(rights models.StorageRights) models.StorageAccess {
	return models.StorageAccess{Table: "ns.t1", Areas: t1, Rights: rights}
}

func TestVendNarrowsItsOwnToken(t *testing.T) {
	g := &cloud{t: t, life: time.Hour}
	v, err := newVendor(Config{ServiceKey: serviceKey(t)}, parse(t, "gs://lake/wh"), g)
	require.NoError(t, err)
	for range 3 {
		keys, err := v.Vend(t.Context(), access(writeOnly), objects.VendOptions{Lifetime: time.Hour, RefreshEndpoint: "v1/main/namespaces/ns/tables/t1/credentials"})
		require.NoError(t, err)
		require.Len(t, keys, 1, "one, whatever folders there are")
		assert.Equal(t, "gs://lake/wh/t1", keys[0].Prefix)
		assert.WithinDuration(t, time.Now().Add(30*time.Minute), keys[0].Expires, time.Minute, "as Google says, not as was asked for")
		assert.Equal(t, map[string]string{
			"gcs.oauth2.token":                        "narrow",
			"gcs.oauth2.token-expires-at":             fmt.Sprint(keys[0].Expires.UnixMilli()),
			"gcs.oauth2.refresh-credentials-endpoint": "v1/main/namespaces/ns/tables/t1/credentials",
			"gcs.project-id":                          "project",
		}, keys[0].Config)
	}
	assert.EqualValues(t, 1, g.signIns.Load(), "Sluice's own token is used again")
	assert.Equal(t, "own-1", g.exchanged.Get("subject_token"))
	want, err := json.Marshal(map[string]any{"accessBoundary": map[string]any{"accessBoundaryRules": rulesOf(t, t1, writeOnly)}})
	require.NoError(t, err)
	assert.JSONEq(t, string(want), g.exchanged.Get("options"))
}

// A token that is narrowed lives no longer than the one before, so that one near its end is not used.
func TestVendTakesNoTokenNearItsEnd(t *testing.T) {
	g := &cloud{t: t, life: 20 * time.Minute}
	v, err := newVendor(Config{ServiceKey: serviceKey(t)}, parse(t, "gs://lake/wh"), g)
	require.NoError(t, err)
	for range 2 {
		_, err = v.Vend(t.Context(), access(reads), objects.VendOptions{})
		require.NoError(t, err)
	}
	assert.EqualValues(t, 2, g.signIns.Load())
}

func TestVendActsAsAnotherForAsLongAsAsked(t *testing.T) {
	g := &cloud{t: t, life: time.Hour, noExpiresIn: true}
	v, err := newVendor(Config{ServiceKey: serviceKey(t), ServiceAccount: "other@project.iam.gserviceaccount.com"}, parse(t, "gs://lake/wh"), g)
	require.NoError(t, err)
	for lifetime, want := range map[time.Duration]string{10 * time.Minute: "600s", time.Second: "60s", 24 * time.Hour: "3600s"} {
		keys, err := v.Vend(t.Context(), access(reads), objects.VendOptions{Lifetime: lifetime})
		require.NoError(t, err)
		assert.Equal(t, "other", g.exchanged.Get("subject_token"))
		assert.Equal(t, want, g.lifetime)
		assert.WithinDuration(t, time.Now().Add(10*time.Minute), keys[0].Expires, time.Minute)
	}
}

func TestVendGivesNothingWhereNothingMayBeGiven(t *testing.T) {
	g := &cloud{t: t, life: time.Hour}
	v, err := newVendor(Config{ServiceKey: serviceKey(t)}, parse(t, "gs://lake/wh"), g)
	require.NoError(t, err)
	keys, err := v.Vend(t.Context(), access(models.StorageRights{}), objects.VendOptions{})
	require.NoError(t, err)
	assert.Empty(t, keys)
	assert.Zero(t, g.signIns.Load(), "and Google is not asked")

	g.refuses = true
	_, err = v.Vend(t.Context(), access(reads), objects.VendOptions{})
	assert.True(t, fault.Is(err, fault.Unavailable), err)
	assert.NotContains(t, fault.PublicMessage(err), "internal words")

	anonymous, err := newVendor(Config{Anonymous: true, Endpoint: "http://127.0.0.1:1"}, parse(t, "gs://lake/wh"), g)
	require.NoError(t, err)
	_, err = anonymous.Vend(t.Context(), access(reads), objects.VendOptions{})
	assert.ErrorIs(t, err, objects.ErrNoScopedKeys)
}

func TestCommonPrefix(t *testing.T) {
	for want, prefixes := range map[string][]string{
		"gs://lake/wh/t1": {"gs://lake/wh/t1", "gs://lake/wh/t1/metadata"},
		"gs://lake/wh":    {"gs://lake/wh/t1", "gs://lake/wh/t10"},
		"gs://lake":       {"gs://lake/a", "gs://lake/b"},
		"gs://":           {"gs://lake/a", "gs://lake2/a", "gs://lake/a"},
	} {
		var areas []models.StorageArea
		for _, prefix := range prefixes {
			areas = append(areas, models.StorageArea{Prefix: prefix})
		}
		assert.Equal(t, want, commonPrefix(models.StorageAccess{Areas: areas}))
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, c := range map[string]Config{
		"a key that is no JSON":        {ServiceKey: "not JSON"},
		"a key of another kind":        {ServiceKey: `{"type":"external_account","client_email":"x"}`},
		"a key that is half":           {ServiceKey: `{"type":"service_account"}`},
		"key and anonymous":            {ServiceKey: `{"type":"service_account","client_email":"x"}`, Anonymous: true},
		"http beyond this machine":     {Endpoint: "http://store.example"},
		"an endpoint with a path":      {Endpoint: "https://store.example/storage/v1"},
		"an endpoint that is no URL":   {Endpoint: "store.example"},
		"an endpoint of another kind":  {Endpoint: "ftp://store.example"},
		"an endpoint with a user name": {Endpoint: "https://user@store.example"},
		"another host than Google's":   {Endpoint: "https://evil.example"},
		"one that looks like it":       {Endpoint: "https://evilgoogleapis.com"},
		"this machine, for a token":    {Endpoint: "http://127.0.0.1:4443"},
		"a key for another issuer":     {ServiceKey: `{"type":"service_account","client_email":"x","token_uri":"http://169.254.169.254/token"}`},
	} {
		_, err := New(t.Context(), c, parse(t, "gs://lake"))
		require.True(t, fault.Is(err, fault.Invalid), "%s: %v", name, err)
		_, err = NewVendor(c, parse(t, "gs://lake"))
		assert.True(t, fault.Is(err, fault.Invalid), "%s: %v", name, err)
	}
	for _, c := range []Config{
		{Endpoint: "https://storage-lake.p.googleapis.com"}, {Endpoint: "https://store.example", Anonymous: true},
		{Endpoint: "https://store.example", ServiceKey: `{"type":"service_account","client_email":"x"}`},
	} {
		_, err := New(t.Context(), c, parse(t, "gs://lake"))
		assert.NoError(t, err, c)
	}
	_, err := New(t.Context(), Config{}, parse(t, "s3://lake"))
	assert.True(t, fault.Is(err, fault.Invalid), err)
	store, err := Opener(Config{})(t.Context(), parse(t, "gs://lake"))
	require.NoError(t, err, "Google is not asked yet")
	assert.NotNil(t, store)
}

func TestConfigHidesItsKey(t *testing.T) {
	c := Config{ServiceKey: "hidden"}
	for _, shown := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), c.LogValue().String()} {
		assert.False(t, strings.Contains(shown, "hidden"), shown)
	}
}
