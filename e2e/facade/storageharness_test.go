package facade

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/delegation"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/internal/objects/vending"
	"github.com/sluice-data/sluice/internal/s3gateway"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

const (
	rootKey    = "test-root"
	rootSecret = "a secret of the test's own store"
	bucket     = "lake"

	delegationHeader = "X-Iceberg-Access-Delegation"
	vended           = "vended-credentials"
	signed           = "remote-signing"
)

// storeSite is a site whose warehouse is a bucket of a real S3 server, with the namespace db.
type storeSite struct {
	*site
	endpoint string
	sts      *callCounter // what the site asks of token services
}

// callCounter is a token service that gives nothing and counts who asks.
type callCounter struct{ calls atomic.Int64 }

func (c *callCounter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	c.calls.Add(1)
	w.WriteHeader(http.StatusForbidden)
}

func newStoreSite(t *testing.T, change ...func(*setup)) *storeSite {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	gateway, err := s3gateway.Start(ctx, s3gateway.Options{Folder: filepath.Join(dir, "buckets"), RootKey: rootKey, RootSecret: rootSecret})
	require.NoError(t, err)
	t.Cleanup(gateway.Stop)
	require.NoError(t, gateway.EnsureBucket(bucket))
	db, err := store.Open(ctx, store.Config{URL: filepath.Join(dir, "sluice.db") + "?synchronous=normal"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, store.Migrate(ctx, db))
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)

	l := &lake{db: db, ring: ring, warehouse: "s3://" + bucket + "/main"}
	config := objects.Config{Roots: []string{"s3://" + bucket}, S3: objects.S3Config{
		Endpoint: gateway.Endpoint(), Region: gateway.Region(), PathStyle: true, AccessKey: rootKey, SecretKey: rootSecret,
	}}
	l.files, err = objects.Open(ctx, config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.files.Close() })
	boot, creds := access.NewBootstrap("main", []string{l.warehouse}, models.OpenFull, time.Now().UTC())
	require.NoError(t, db.Bootstrap(ctx, boot))
	l.creds = creds
	l.token = l.login(t, creds, "")
	profiles, err := objects.NewProfiles(objects.ProfilesDeps{
		Installation: objects.Installation{Config: config, MinLifetime: time.Minute}, Catalogs: db, Version: db.AccessVersion, Sealer: ring.For("storage"),
	})
	require.NoError(t, err)
	keys := delegation.New(delegation.Deps{Profiles: profiles, S3: vending.NewS3(time.Now), Signer: signing.New(time.Now), Lifetime: time.Minute})
	s := &storeSite{endpoint: gateway.Endpoint(), sts: &callCounter{}}
	s.site = l.serve(t, append([]func(*setup){func(s *setup) {
		s.core.StorageKeys = keys
		s.api.Catalog.Scans = scan.New(l.files)
	}}, change...)...)
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["db"]}`))
	return s
}

// catalog changes the catalog main.
func (s *storeSite) catalog(t *testing.T, change func(*models.Catalog)) {
	t.Helper()
	cat, err := s.db.CatalogByName(t.Context(), "main")
	require.NoError(t, err)
	if cat.Properties.V == nil {
		cat.Properties.V = map[string]string{}
	}
	change(&cat)
	require.NoError(t, s.db.UpdateCatalog(t.Context(), cat, models.AuditEvent{EventID: fmt.Sprint(time.Now().UnixNano()), Type: models.AuditCatalogUpdated, At: time.Now(), Allowed: true}))
}

// property sets one of the catalog main.
func (s *storeSite) property(t *testing.T, key, value string) {
	t.Helper()
	s.catalog(t, func(c *models.Catalog) { c.Properties.V[key] = value })
}

// policy sets the write policy of a table.
func (s *storeSite) policy(t *testing.T, name string, p models.WritePolicy) {
	t.Helper()
	s.govern(t, "PUT", "/tables/main.db."+name+"/write-policy", fmt.Sprintf(`{"policy":%q}`, p))
}

func (s *storeSite) govern(t *testing.T, method, path, body string) {
	t.Helper()
	r, err := s.sendTo(t.Context(), method, s.url+governed+path, body)
	require.NoError(t, err)
	require.Equal(t, 200, r.StatusCode, "body: %s", r.body)
}

// manage asks for something of the management API as root.
func (s *storeSite) manage(t *testing.T, method, path, body string) reply {
	t.Helper()
	r, err := s.sendTo(t.Context(), method, s.url+managed+path, body)
	require.NoError(t, err)
	require.Less(t, r.StatusCode, 300, "body: %s", r.body)
	return r
}

// person makes a principal with privileges on the catalog, and gives the site as it is for it.
func (s *storeSite) person(t *testing.T, name string, clearance models.Classification, privileges ...models.Privilege) *storeSite {
	t.Helper()
	var made struct {
		Credentials struct{ ClientID, ClientSecret string }
	}
	s.manage(t, "POST", "/principals", fmt.Sprintf(`{"principal":{"name":%q,"clearance":%q}}`, name, clearance)).into(t, &made)
	s.manage(t, "POST", "/principal-roles", fmt.Sprintf(`{"principalRole":{"name":"%s_role"}}`, name))
	s.manage(t, "PUT", "/principals/"+name+"/principal-roles", fmt.Sprintf(`{"principalRole":{"name":"%s_role"}}`, name))
	s.manage(t, "POST", "/catalogs/main/catalog-roles", fmt.Sprintf(`{"catalogRole":{"name":"%s_grants"}}`, name))
	s.manage(t, "PUT", "/principal-roles/"+name+"_role/catalog-roles/main", fmt.Sprintf(`{"catalogRole":{"name":"%s_grants"}}`, name))
	for _, p := range privileges {
		s.grant(t, "PUT", name, p)
	}
	return s.as(s.login(t, access.Credentials(made.Credentials), ""))
}

// grant gives a person a privilege on the catalog (PUT) or takes it away (POST).
func (s *storeSite) grant(t *testing.T, method, name string, p models.Privilege) {
	t.Helper()
	s.manage(t, method, "/catalogs/main/catalog-roles/"+name+"_grants/grants", fmt.Sprintf(`{"grant":{"type":"catalog","privilege":%q}}`, p))
}

// as gives the site as it is for who has a token.
func (s *storeSite) as(token string) *storeSite {
	l := *s.lake
	l.token = token
	with := *s.site
	with.lake = &l
	return &storeSite{site: &with, endpoint: s.endpoint, sts: s.sts}
}

// opening is what a load gives besides the metadata.
type opening struct {
	Config      map[string]string
	Credentials []struct {
		Prefix string
		Config map[string]string
	} `json:"storage-credentials"`
	Signing  *json.RawMessage `json:"remote-signing-config"`
	Metadata struct {
		Location string
		UUID     string `json:"table-uuid"`
	}
}

func (s *storeSite) open(t *testing.T, name, way string) opening {
	t.Helper()
	var o opening
	s.want(t, 200, s.get(t, tablePath(name), delegationHeader, way)).into(t, &o)
	return o
}

// inBucket gives the key of a location in the bucket.
func inBucket(location string) string { return strings.TrimPrefix(location, "s3://"+bucket+"/") }

// keysOnly gives the s3.* properties.
func keysOnly(config map[string]string) map[string]string {
	out := maps.Clone(config)
	maps.DeleteFunc(out, func(k, _ string) bool { return !strings.HasPrefix(k, "s3.") })
	return out
}

// client reaches the store with vended keys.
func (s *storeSite) client(t *testing.T, config map[string]string) *minio.Client {
	t.Helper()
	require.NotEmpty(t, config["s3.session-token"], "%v", config)
	return s3Client(t, config["s3.endpoint"], config["s3.access-key-id"], config["s3.secret-access-key"], config["s3.session-token"], config["client.region"])
}

// own reaches the store with Sluice's keys.
func (s *storeSite) own(t *testing.T) *minio.Client {
	t.Helper()
	return s3Client(t, s.endpoint, rootKey, rootSecret, "", "us-east-1")
}

func s3Client(t *testing.T, endpoint, access, secret, session, region string) *minio.Client {
	t.Helper()
	c, err := minio.New(strings.TrimPrefix(endpoint, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(access, secret, session), Region: region, BucketLookup: minio.BucketLookupPath, MaxRetries: 1,
	})
	require.NoError(t, err)
	return c
}

// The four things that are done to objects. What fails gives the store's code.

func put(ctx context.Context, c *minio.Client, key string) string {
	_, err := c.PutObject(ctx, bucket, key, strings.NewReader("x"), 1, minio.PutObjectOptions{})
	return code(err)
}

func get(ctx context.Context, c *minio.Client, key string) string {
	o, err := c.GetObject(ctx, bucket, key, minio.GetObjectOptions{})
	if err == nil {
		_, err = io.ReadAll(o)
	}
	return code(err)
}

func list(ctx context.Context, c *minio.Client, prefix string) string {
	for o := range c.ListObjects(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		return code(o.Err)
	}
	return ""
}

func remove(ctx context.Context, c *minio.Client, key string) string {
	return code(c.RemoveObject(ctx, bucket, key, minio.RemoveObjectOptions{}))
}

func code(err error) string {
	if err == nil {
		return ""
	}
	var e minio.ErrorResponse
	if errors.As(err, &e) {
		return e.Code
	}
	return err.Error()
}

// signBody is a request for a signature as an engine sends it.
func signBody(method, uri string, body []byte, headers map[string][]string) string {
	sum := sha256.Sum256(body)
	h := map[string][]string{"x-amz-content-sha256": {hex.EncodeToString(sum[:])}}
	maps.Copy(h, headers)
	in := map[string]any{"method": method, "uri": uri, "region": "us-east-1", "headers": h}
	if method == http.MethodPost && strings.Contains(uri, "?delete") {
		in["body"] = string(body)
	}
	return toJSON(in)
}

// bySigner sends a request to the store as the signer signs it. refused is the signer's answer when that is no signature.
func (s *storeSite) bySigner(t *testing.T, name, method, keyAndQuery string, body []byte, headers map[string][]string) (status int, refused reply) {
	t.Helper()
	uri := s.endpoint + "/" + bucket + "/" + keyAndQuery
	r := s.post(t, tablePath(name)+"/sign", signBody(method, uri, body, headers))
	if r.StatusCode != 200 {
		return 0, r
	}
	return s.follow(t, method, r, body), r
}

// follow sends the request that was signed.
func (s *storeSite) follow(t *testing.T, method string, signature reply, body []byte) int {
	t.Helper()
	var in struct {
		URI     string
		Headers map[string][]string
	}
	signature.into(t, &in)
	request, err := http.NewRequestWithContext(t.Context(), method, in.URI, bytes.NewReader(body))
	require.NoError(t, err)
	for name, values := range in.Headers {
		if !strings.EqualFold(name, "host") {
			request.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, answer.Body)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}
