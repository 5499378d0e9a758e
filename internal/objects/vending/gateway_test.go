package vending

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/s3gateway"
	"github.com/sluice-data/sluice/models"
)

const (
	rootKey    = "sluice-root"
	rootSecret = "a-secret-of-the-root-key"
)

// lake is a real S3 endpoint that enforces session policies, with tables t1 and t10 in it.
type lake struct {
	url     string
	region  string
	root    *minio.Core
	profile Profile
}

func newLake(t *testing.T) *lake {
	t.Helper()
	g, err := s3gateway.Start(t.Context(), s3gateway.Options{Folder: t.TempDir(), RootKey: rootKey, RootSecret: rootSecret, MinSession: time.Second})
	require.NoError(t, err)
	t.Cleanup(g.Stop)
	l := &lake{url: g.Endpoint(), region: g.Region(), profile: Profile{
		Config:      models.StorageConfig{Type: models.S3Storage, Endpoint: g.Endpoint(), Region: g.Region(), PathStyleAccess: true},
		Secrets:     models.StorageSecrets{AccessKey: rootKey, SecretKey: rootSecret},
		MinLifetime: time.Second,
	}}
	l.root = l.client(t, Credentials{AccessKey: rootKey, SecretKey: rootSecret})
	for _, bucket := range []string{"lake", "sibling"} {
		require.NoError(t, g.EnsureBucket(bucket))
		for _, key := range []string{"wh/ns/t1/data/f", "wh/ns/t1/metadata/m.json", "wh/ns/t10/data/f", "wh/ns/top", "wh/x/t1/f"} {
			require.NoError(t, put(t, l.root, bucket, key))
		}
	}
	return l
}

func (l *lake) client(t *testing.T, c Credentials) *minio.Core {
	t.Helper()
	core, err := minio.NewCore(strings.TrimPrefix(l.url, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.SessionToken), Region: l.region, MaxRetries: 1, BucketLookup: minio.BucketLookupPath,
	})
	require.NoError(t, err)
	return core
}

// vend gives a client with keys for t1.
func (l *lake) vend(t *testing.T, r models.StorageRights) *minio.Core {
	t.Helper()
	keys, err := NewS3(time.Now).Vend(t.Context(), l.profile, Ask{Access: t1(r), Session: "job", Caller: "token", Lifetime: time.Minute})
	require.NoError(t, err)
	return l.client(t, keys)
}

func get(t *testing.T, c *minio.Core, bucket, key string) error {
	body, _, _, err := c.GetObject(t.Context(), bucket, key, minio.GetObjectOptions{})
	if err == nil {
		_, err = io.ReadAll(body)
		body.Close()
	}
	return err
}

func put(t *testing.T, c *minio.Core, bucket, key string) error {
	_, err := c.PutObject(t.Context(), bucket, key, strings.NewReader(key), int64(len(key)), "", "", minio.PutObjectOptions{})
	return err
}

func list(_ *testing.T, c *minio.Core, bucket, prefix string) error {
	_, err := c.ListObjectsV2(bucket, prefix, "", "", "", 100)
	return err
}

func remove(t *testing.T, c *minio.Core, bucket, key string) error {
	return c.RemoveObject(t.Context(), bucket, key, minio.RemoveObjectOptions{})
}

func denied(err error) bool { return minio.ToErrorResponse(err).StatusCode == http.StatusForbidden }

// TestKeysDoWhatTheRightsSay at a store that knows nothing of them but the policy.
func TestKeysDoWhatTheRightsSay(t *testing.T) {
	l := newLake(t)
	for name, c := range map[string]struct {
		rights models.StorageRights
		may    string // of: d read data, m read metadata, l list all, n list metadata, w write, x delete
	}{
		"reader": {reader(), "dmln"}, "write-only": {writeOnly(), "mnw"}, "appender": {appender(), "dmlnw"}, "full": {full(), "dmlnwx"},
	} {
		keys := l.vend(t, c.rights)
		upload := func() error {
			id, err := keys.NewMultipartUpload(t.Context(), "lake", "wh/ns/t1/data/big", minio.PutObjectOptions{})
			if err != nil {
				return err
			}
			part, err := keys.PutObjectPart(t.Context(), "lake", "wh/ns/t1/data/big", id, 1, strings.NewReader("x"), 1, minio.PutObjectPartOptions{})
			if err != nil {
				return err
			}
			if _, err := keys.ListObjectParts(t.Context(), "lake", "wh/ns/t1/data/big", id, 0, 10); err != nil {
				return err
			}
			_, err = keys.CompleteMultipartUpload(t.Context(), "lake", "wh/ns/t1/data/big", id, []minio.CompletePart{{PartNumber: 1, ETag: part.ETag}}, minio.PutObjectOptions{})
			return err
		}
		for what, err := range map[string]error{
			"d read data":     get(t, keys, "lake", "wh/ns/t1/data/f"),
			"m read metadata": get(t, keys, "lake", "wh/ns/t1/metadata/m.json"),
			"l list all":      list(t, keys, "lake", "wh/ns/t1/"),
			"l list data":     list(t, keys, "lake", "wh/ns/t1/data/"),
			"n list metadata": list(t, keys, "lake", "wh/ns/t1/metadata/"),
			"w put":           put(t, keys, "lake", "wh/ns/t1/data/new ü+=%"),
			"w put metadata":  put(t, keys, "lake", "wh/ns/t1/metadata/new"),
			"w upload":        upload(),
			"x delete":        remove(t, keys, "lake", "wh/ns/t1/data/new ü+=%"),
		} {
			if strings.Contains(c.may, what[:1]) {
				assert.NoError(t, err, "%s: %s", name, what)
			} else {
				assert.True(t, denied(err), "%s: %s: %v", name, what, err)
			}
		}
	}
	require.NoError(t, get(t, l.root, "lake", "wh/ns/t1/data/f"))
}

// TestKeysReachNothingElse: neither a neighbour of the same beginning, nor what is above, nor another catalog's bucket.
func TestKeysReachNothingElse(t *testing.T) {
	l := newLake(t)
	keys := l.vend(t, full())
	for _, at := range [][2]string{{"lake", "wh/ns/t10/data/f"}, {"lake", "wh/ns/top"}, {"lake", "wh/x/t1/f"}, {"sibling", "wh/ns/t1/data/f"}} {
		assert.True(t, denied(get(t, keys, at[0], at[1])), "get %v", at)
		assert.True(t, denied(put(t, keys, at[0], at[1])), "put %v", at)
		assert.True(t, denied(remove(t, keys, at[0], at[1])), "delete %v", at)
		_, err := keys.NewMultipartUpload(t.Context(), at[0], at[1], minio.PutObjectOptions{})
		assert.True(t, denied(err), "upload %v", at)
		_, err = keys.Client.CopyObject(t.Context(), minio.CopyDestOptions{Bucket: "lake", Object: "wh/ns/t1/stolen"}, minio.CopySrcOptions{Bucket: at[0], Object: at[1]})
		assert.True(t, denied(err), "copy %v", at)
		require.NoError(t, get(t, l.root, at[0], at[1]), "%v is as it was", at)
	}
	for _, prefix := range []string{"", "wh/ns/", "wh/ns/t1", "wh/ns/t10/", "wh/", "*", "wh/ns/*"} {
		assert.True(t, denied(list(t, keys, "lake", prefix)), "list %q", prefix)
	}
	assert.True(t, denied(list(t, keys, "sibling", "wh/ns/t1/")))
	removed := keys.RemoveObjects(t.Context(), "lake", objectsNamed("wh/ns/t1/metadata/m.json", "wh/ns/t10/data/f"), minio.RemoveObjectsOptions{})
	for failure := range removed {
		t.Log(failure)
	}
	require.NoError(t, get(t, l.root, "lake", "wh/ns/t10/data/f"))
}

func objectsNamed(names ...string) <-chan minio.ObjectInfo {
	c := make(chan minio.ObjectInfo, len(names))
	for _, name := range names {
		c <- minio.ObjectInfo{Key: name}
	}
	close(c)
	return c
}

// TestEncodedPathsReachNothingElse sends paths as no client would.
func TestEncodedPathsReachNothingElse(t *testing.T) {
	l := newLake(t)
	keys, err := NewS3(time.Now).Vend(t.Context(), l.profile, Ask{Access: t1(full()), Session: "job", Caller: "token", Lifetime: time.Minute})
	require.NoError(t, err)
	for _, path := range []string{
		"/lake/wh/ns/t1/../t10/data/f", "/lake/wh/ns/t1/%2e%2e/t10/data/f", "/lake/wh/ns/t1/%2E%2E%2Ft10%2Fdata%2Ff", "/lake/wh/ns/t1%2F..%2Ft10/data/f",
		"/lake/wh/ns/t1/%252e%252e/t10/data/f", "/lake/wh/ns/t1//../../t10/data/f", "/lake/./wh/ns/t10/data/f", "/lake/wh%2Fns%2Ft10/data/f",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.url, nil)
		require.NoError(t, err)
		req.URL.Opaque = "//" + req.URL.Host + path // sent as it is
		plain, err := url.PathUnescape(path)
		require.NoError(t, err)
		req.URL.Path = plain
		req.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		req = signer.SignV4(*req, keys.AccessKey, keys.SecretKey, keys.SessionToken, l.region)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		res.Body.Close()
		assert.GreaterOrEqual(t, res.StatusCode, 400, path)
		assert.NotEqual(t, "wh/ns/t10/data/f", string(body), path)
	}
}

func TestKeysDieAndNewOnesFollow(t *testing.T) {
	l := newLake(t)
	v := NewS3(time.Now)
	ask := Ask{Access: t1(reader()), Session: "job", Caller: "token", Lifetime: 2 * time.Second}
	keys, err := v.Vend(t.Context(), l.profile, ask)
	require.NoError(t, err)
	old := l.client(t, keys)
	require.NoError(t, get(t, old, "lake", "wh/ns/t1/data/f"))
	require.Eventually(t, func() bool { return get(t, old, "lake", "wh/ns/t1/data/f") != nil }, 10*time.Second, 200*time.Millisecond)
	ask.Fresh, ask.Lifetime = true, time.Minute
	again, err := v.Vend(t.Context(), l.profile, ask)
	require.NoError(t, err)
	assert.True(t, again.ExpiresAt.After(keys.ExpiresAt))
	require.NoError(t, get(t, l.client(t, again), "lake", "wh/ns/t1/data/f"))
}

func TestARefusalByTheRealTokenService(t *testing.T) {
	l := newLake(t)
	l.profile.Secrets.SecretKey = "a-secret-that-is-wrong"
	_, err := NewS3(time.Now).Vend(t.Context(), l.profile, Ask{Access: t1(reader()), Session: "job", Caller: "token"})
	assert.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	assert.ErrorContains(t, err, "SignatureDoesNotMatch")
}
