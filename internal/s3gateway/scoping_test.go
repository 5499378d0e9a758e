package s3gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const secret = "not for t1"

// tables puts objects of table t1, and what its credentials must not reach.
func tables(t *testing.T, e *endpoint) {
	t.Helper()
	root := e.root(t)
	for _, mine := range []string{"t1/data/a", "t1/data/b c+d%e.parquet", "t1/data/ü/漢字.parquet", "t1/metadata/v1.json"} {
		put(t, root, mine, "mine")
	}
	for _, other := range []string{"t10/data/a", "t1x", "other/t1/data/a", "T1/data/a", "t/a", "top"} {
		put(t, root, other, secret)
	}
	require.NoError(t, e.EnsureBucket("sibling"))
	_, err := root.Client.PutObject(t.Context(), "sibling", "t1/data/a", strings.NewReader(secret), int64(len(secret)), minio.PutObjectOptions{})
	require.NoError(t, err)
}

func TestSessionReachesItsTable(t *testing.T) {
	e := start(t)
	tables(t, e)
	v := e.assume(t, tablePolicy("t1"), time.Hour)
	c, sdk := e.client(t, v), e.sdk(v)

	for _, key := range []string{"t1/data/a", "t1/data/b c+d%e.parquet", "t1/data/ü/漢字.parquet"} {
		assert.Equal(t, "mine", get(t, c, key), key)
		out, err := sdk.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(lake), Key: aws.String(key), Range: aws.String("bytes=1-2")})
		require.NoError(t, err, key)
		data, err := io.ReadAll(out.Body)
		require.NoError(t, err)
		assert.Equal(t, "in", string(data))
		_, err = sdk.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(lake), Key: aws.String(key)})
		require.NoError(t, err, key)
	}
	assert.Len(t, keys(t, c, "t1/"), 4)
	assert.Len(t, keys(t, c, "t1/data/"), 3)
	put(t, c, "t1/data/new", "x")
	_, err := c.Client.CopyObject(t.Context(), minio.CopyDestOptions{Bucket: lake, Object: "t1/data/copy+of a"}, minio.CopySrcOptions{Bucket: lake, Object: "t1/data/b c+d%e.parquet"})
	require.NoError(t, err)
	require.NoError(t, c.RemoveObject(t.Context(), lake, "t1/data/new", minio.RemoveObjectOptions{}))
	_, err = sdk.GetBucketLocation(t.Context(), &s3.GetBucketLocationInput{Bucket: aws.String(lake)})
	require.NoError(t, err)

	id, err := c.NewMultipartUpload(t.Context(), lake, "t1/data/big", minio.PutObjectOptions{})
	require.NoError(t, err)
	part, err := c.PutObjectPart(t.Context(), lake, "t1/data/big", id, 1, strings.NewReader("part"), 4, minio.PutObjectPartOptions{})
	require.NoError(t, err)
	listed, err := c.ListObjectParts(t.Context(), lake, "t1/data/big", id, 0, 10)
	require.NoError(t, err)
	require.Len(t, listed.ObjectParts, 1)
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "t1/data/big", id, []minio.CompletePart{{PartNumber: 1, ETag: part.ETag}}, minio.PutObjectOptions{})
	require.NoError(t, err)

	link, err := c.PresignedGetObject(t.Context(), lake, "t1/data/ü/漢字.parquet", time.Minute, url.Values{})
	require.NoError(t, err)
	status, body := fetchURL(t, http.MethodGet, link.String(), "")
	assert.Equal(t, http.StatusOK, status, body)
	link, err = c.PresignedPutObject(t.Context(), lake, "t1/data/by-link", time.Minute)
	require.NoError(t, err)
	status, body = fetchURL(t, http.MethodPut, link.String(), "linked")
	assert.Equal(t, http.StatusOK, status, body)
	assert.Equal(t, "linked", get(t, c, "t1/data/by-link"))
}

// TestSessionReachesNothingElse tries every way out of the table that we know.
func TestSessionReachesNothingElse(t *testing.T) {
	e := start(t)
	tables(t, e)
	root := e.root(t)
	foreign, err := root.NewMultipartUpload(t.Context(), lake, "t10/data/big", minio.PutObjectOptions{})
	require.NoError(t, err)
	v := e.assume(t, tablePolicy("t1"), time.Hour)
	c, sdk := e.client(t, v), e.sdk(v)
	ctx := t.Context()
	own, err := c.NewMultipartUpload(ctx, lake, "t1/data/big", minio.PutObjectOptions{})
	require.NoError(t, err)
	bucket := aws.String(lake)
	listing := func(prefix *string) error {
		_, err := sdk.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: prefix})
		return err
	}
	copying := func(source, target string) error {
		_, err := sdk.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: &target, CopySource: &source})
		return err
	}
	attempts := map[string]func() error{
		"list buckets":       func() error { _, err := c.ListBuckets(ctx); return err },
		"head bucket":        func() error { _, err := sdk.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: bucket}); return err },
		"list all":           func() error { return listing(nil) },
		"list empty prefix":  func() error { return listing(aws.String("")) },
		"list look-alikes":   func() error { return listing(aws.String("t1")) },
		"list another":       func() error { return listing(aws.String("t10/")) },
		"list parent":        func() error { return listing(aws.String("t")) },
		"list wildcard":      func() error { return listing(aws.String("*")) },
		"list case":          func() error { return listing(aws.String("T1/")) },
		"list slash":         func() error { return listing(aws.String("/t1/")) },
		"list first version": func() error { _, err := c.ListObjects(lake, "t10/", "", "", 10); return err },
		"list versions": func() error {
			_, err := sdk.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: bucket, Prefix: aws.String("t1/")})
			return err
		},
		"list uploads":        func() error { _, err := c.ListMultipartUploads(ctx, lake, "", "", "", "", 10); return err },
		"copy from another":   func() error { return copying(lake+"/t10/data/a", "t1/data/stolen") },
		"copy encoded":        func() error { return copying(lake+"%2Ft10%2Fdata%2Fa", "t1/data/stolen") },
		"copy with slash":     func() error { return copying("/"+lake+"/t10/data/a", "t1/data/stolen") },
		"copy with dots":      func() error { return copying(lake+"/t1/../t10/data/a", "t1/data/stolen") },
		"copy twice encoded":  func() error { return copying(lake+"/t1/%2e%2e/t10/data/a", "t1/data/stolen") },
		"copy to another":     func() error { return copying(lake+"/t1/data/a", "t10/data/new") },
		"copy from a sibling": func() error { return copying("sibling/t1/data/a", "t1/data/stolen") },
		"copy a version":      func() error { return copying(lake+"/t1/data/a?versionId=1", "t1/data/stolen") },
		"copy a part": func() error {
			_, err := sdk.UploadPartCopy(ctx, &s3.UploadPartCopyInput{Bucket: bucket, Key: aws.String("t1/data/big"), UploadId: &own, PartNumber: aws.Int32(1), CopySource: aws.String(lake + "/t10/data/a")})
			return err
		},
		"begin an upload": func() error {
			_, err := c.NewMultipartUpload(ctx, lake, "t10/data/x", minio.PutObjectOptions{})
			return err
		},
		"add a part": func() error {
			_, err := c.PutObjectPart(ctx, lake, "t10/data/big", foreign, 1, strings.NewReader("x"), 1, minio.PutObjectPartOptions{})
			return err
		},
		"add a part under an own key": func() error {
			_, err := c.PutObjectPart(ctx, lake, "t1/data/big", foreign, 1, strings.NewReader("x"), 1, minio.PutObjectPartOptions{})
			return err
		},
		"an upload id that is a path": func() error {
			_, err := c.PutObjectPart(ctx, lake, "t1/data/big", "../../t10", 1, strings.NewReader("x"), 1, minio.PutObjectPartOptions{})
			return err
		},
		"list parts":    func() error { _, err := c.ListObjectParts(ctx, lake, "t10/data/big", foreign, 0, 10); return err },
		"abort":         func() error { return c.AbortMultipartUpload(ctx, lake, "t10/data/big", foreign) },
		"make a bucket": func() error { return c.MakeBucket(ctx, "mine", minio.MakeBucketOptions{}) },
		"drop a bucket": func() error { return c.RemoveBucket(ctx, lake) },
		"set a policy": func() error {
			return c.SetBucketPolicy(ctx, lake, `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::lake/*"}]}`)
		},
		"set an ACL": func() error {
			_, err := sdk.PutObjectAcl(ctx, &s3.PutObjectAclInput{Bucket: bucket, Key: aws.String("t10/data/a"), ACL: types.ObjectCannedACLPublicRead})
			return err
		},
		"work folder": func() error { _, err := tryGet(t, c, ".sluice-s3/x"); return err },
	}
	for _, key := range []string{"t10/data/a", "t1x", "other/t1/data/a", "T1/data/a", "t/a", "top", "t1"} {
		attempts["get "+key] = func() error { _, err := tryGet(t, c, key); return err }
		attempts["head "+key] = func() error { _, err := c.StatObject(ctx, lake, key, minio.StatObjectOptions{}); return err }
		attempts["put "+key] = func() error {
			_, err := c.Client.PutObject(ctx, lake, key, strings.NewReader("x"), 1, minio.PutObjectOptions{})
			return err
		}
		attempts["delete "+key] = func() error { return c.RemoveObject(ctx, lake, key, minio.RemoveObjectOptions{}) }
	}
	for name, attempt := range attempts {
		assert.Error(t, attempt(), name)
	}
	for _, key := range []string{"t10/data/a", "t1x", "other/t1/data/a", "T1/data/a", "t/a", "top"} {
		assert.Equal(t, secret, get(t, root, key), key)
	}
	_, err = tryGet(t, root, "t1/data/stolen")
	assert.Equal(t, "NoSuchKey", code(err), err)
	uploads, err := root.ListMultipartUploads(ctx, lake, "t10/", "", "", "", 10)
	require.NoError(t, err)
	assert.Len(t, uploads.Uploads, 1, "the upload of another table is still there")
}

func TestSessionDeletesOnlyItsKeysOfAList(t *testing.T) {
	e := start(t)
	tables(t, e)
	sdk := e.sdk(e.assume(t, tablePolicy("t1"), time.Hour))
	ids := []types.ObjectIdentifier{}
	asked := []string{"t1/data/a", "t10/data/a", "t1/../t10/data/a", "t1//data/a", "t1x", "/t10/data/a", "t1/./data/a", "t1/gone"}
	for _, key := range asked {
		ids = append(ids, types.ObjectIdentifier{Key: aws.String(key)})
	}
	out, err := sdk.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{Bucket: aws.String(lake), Delete: &types.Delete{Objects: ids}})
	require.NoError(t, err)
	var deleted []string
	for _, d := range out.Deleted {
		deleted = append(deleted, *d.Key)
	}
	assert.ElementsMatch(t, []string{"t1/data/a", "t1/gone"}, deleted)
	assert.Len(t, out.Errors, len(asked)-2)
	assert.Equal(t, secret, get(t, e.root(t), "t10/data/a"))
}

// TestPathsThatDoNotMeanThemselves sends paths as they are, signed for what they are.
func TestPathsThatDoNotMeanThemselves(t *testing.T) {
	e := start(t)
	tables(t, e)
	mine := e.assume(t, tablePolicy("t1"), time.Hour)
	for _, path := range []string{
		"/lake/t1/../t10/data/a", "/lake/t1/%2e%2e/t10/data/a", "/lake/t1/%2E%2e/t10/data/a", "/lake/t1%2f..%2ft10/data/a",
		"/lake/t1/..%2Ft10%2Fdata%2Fa", "/lake/t1/./../t10/data/a", "/lake//t10/data/a", "/lake/t1//../t10/data/a",
		"//lake/t10/data/a", "/lake/../sibling/t1/data/a", "/lake/t1/../../sibling/t1/data/a", "/lake/t1/%00/../t10/data/a",
		"/lake/t1/..", "/lake/t10%2Fdata%2Fa", "/lake%2Ft10/data/a", "/lake/t1/%c0%ae%c0%ae/t10/data/a",
		"/lake/t1/data//a", "/lake/t1/data/./a", "/lake/.sluice-s3/x", "/lake/%2Fetc/passwd", "/lake/t1/%",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodPut} {
			status, body := e.raw(t, mine, method, path, "x")
			assert.GreaterOrEqual(t, status, 400, "%s %s", method, path)
			assert.NotContains(t, body, secret, path)
		}
		if !strings.Contains(path, "sibling") && !strings.Contains(path, "%2Fdata%2Fa") && !strings.Contains(path, "lake%2F") {
			status, body := e.raw(t, rootCredentials(), http.MethodPut, path, "x")
			assert.GreaterOrEqual(t, status, 400, "root: %s %s", path, body)
		}
	}
	root := e.root(t)
	assert.Equal(t, secret, get(t, root, "t10/data/a"))
	assert.Equal(t, "mine", get(t, root, "t1/data/a"))
	status, body := e.raw(t, mine, http.MethodPut, "/lake/t1/%252e%252e/t10/data/a", "x")
	assert.Equal(t, http.StatusOK, status, body)
	assert.Equal(t, []string{"t1/%2e%2e/t10/data/a"}, keys(t, root, "t1/%"), "what is encoded twice is decoded once: text, not a way up")
	assert.Equal(t, secret, get(t, root, "t10/data/a"))
	status, body = e.raw(t, mine, http.MethodGet, "/lake/t1%2Fdata%2Fa", "")
	assert.True(t, status == 200 && body == "mine" || strings.Contains(body, "SignatureDoesNotMatch"), "an encoded slash is a slash: %s", body)
}

func TestDuplicateParametersDoNotMisleadThePolicy(t *testing.T) {
	e := start(t)
	tables(t, e)
	mine := e.assume(t, tablePolicy("t1"), time.Hour)
	for _, query := range []string{"list-type=2&prefix=t10/&prefix=t1/", "list-type=2&prefix=t1/&prefix=t10/", "list-type=2&prefix=t1/&Prefix=t10/", "prefix=t1/..%2Ft10/&list-type=2", "list-type=2&prefix=t1/%2e%2e/t10/"} {
		_, body := e.raw(t, mine, http.MethodGet, "/lake?"+query, "")
		assert.NotContains(t, body, "<Key>t10", query)
		_, body = e.raw(t, rootCredentials(), http.MethodGet, "/lake?prefix=t1/..%2Ft10/&list-type=2", "")
		assert.NotContains(t, body, "<Key>", "no key begins like that")
	}
}

func TestPresignedLinksAreForOneKeyAndOneMethod(t *testing.T) {
	e := start(t)
	tables(t, e)
	c := e.client(t, e.assume(t, tablePolicy("t1"), time.Hour))
	link, err := c.PresignedGetObject(t.Context(), lake, "t1/data/a", time.Minute, url.Values{})
	require.NoError(t, err)
	for name, changed := range map[string]string{
		"another table": strings.Replace(link.String(), "/t1/", "/t10/", 1),
		"another key":   strings.Replace(link.String(), "/data/a", "/metadata/v1.json", 1),
		"no token":      without(*link, "X-Amz-Security-Token"),
		"longer":        strings.Replace(link.String(), "X-Amz-Expires=60", "X-Amz-Expires=600", 1),
		"no signature":  without(*link, "X-Amz-Signature"),
	} {
		status, body := fetchURL(t, http.MethodGet, changed, "")
		assert.GreaterOrEqual(t, status, 400, name)
		assert.NotContains(t, body, secret, name)
	}
	status, _ := fetchURL(t, http.MethodDelete, link.String(), "")
	assert.Equal(t, http.StatusForbidden, status)
	link, err = c.PresignedGetObject(t.Context(), lake, "t10/data/a", time.Minute, url.Values{})
	require.NoError(t, err)
	status, body := fetchURL(t, http.MethodGet, link.String(), "")
	assert.Equal(t, http.StatusForbidden, status, "a signature does not allow what the policy does not")
	assert.NotContains(t, body, secret)
	short, err := c.PresignedGetObject(t.Context(), lake, "t1/data/a", time.Second, url.Values{})
	require.NoError(t, err)
	time.Sleep(2100 * time.Millisecond)
	status, _ = fetchURL(t, http.MethodGet, short.String(), "")
	assert.Equal(t, http.StatusForbidden, status, "the link has expired")
}

func TestNothingIsPublic(t *testing.T) {
	e := start(t)
	tables(t, e)
	for method, path := range map[string]string{"GET": "/lake/t1/data/a", "PUT": "/lake/x", "DELETE": "/lake/t1/data/a", "HEAD": "/lake", "POST": "/lake?delete"} {
		status, body := fetchURL(t, method, e.Endpoint()+path, "x")
		assert.Equal(t, http.StatusForbidden, status, method)
		if method != "HEAD" {
			assert.Contains(t, body, "AccessDenied", method)
		}
	}
	status, _ := fetchURL(t, http.MethodGet, e.Endpoint()+"/", "")
	assert.Equal(t, http.StatusForbidden, status)
	wrong := rootCredentials()
	wrong.SecretAccessKey += "x"
	_, err := tryGet(t, e.client(t, wrong), "t1/data/a")
	assert.Equal(t, "SignatureDoesNotMatch", code(err))
	_, err = tryGet(t, e.client(t, credentials.Value{AccessKeyID: "nobody", SecretAccessKey: rootSecret}), "t1/data/a")
	assert.Equal(t, "InvalidAccessKeyId", code(err))
}

// raw sends a request whose path and query are exactly as given, with a signature for them.
func (e *endpoint) raw(t *testing.T, v credentials.Value, method, pathAndQuery, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, e.Endpoint(), strings.NewReader(body))
	require.NoError(t, err)
	path, query, _ := strings.Cut(pathAndQuery, "?")
	req.URL.Opaque = "//" + req.URL.Host + path
	req.URL.RawQuery = query
	sum := sha256.Sum256([]byte(body))
	req.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	creds := aws.Credentials{AccessKeyID: v.AccessKeyID, SecretAccessKey: v.SecretAccessKey, SessionToken: v.SessionToken}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	require.NoError(t, signer.SignHTTP(context.Background(), creds, req, hex.EncodeToString(sum[:]), "s3", e.Region(), time.Now()))
	return send(t, req)
}

func fetchURL(t *testing.T, method, link, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, link, bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	return send(t, req)
}

func send(t *testing.T, req *http.Request) (int, string) {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(data)
}

func without(link url.URL, parameter string) string {
	query := link.Query()
	query.Del(parameter)
	link.RawQuery = query.Encode()
	return link.String()
}
