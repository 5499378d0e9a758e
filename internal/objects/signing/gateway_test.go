package signing_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/internal/s3gateway"
	"github.com/sluice-data/sluice/models"
)

const (
	rootKey    = "sluice-root"
	rootSecret = "a-secret-of-the-root-key"
	table      = "wh/ns/t1"
)

// lake is a real S3 endpoint with tables t1 and t10 in it, and the profile by which requests to it are signed.
type lake struct {
	url     string
	root    *minio.Client
	profile signing.Profile
}

func newLake(t *testing.T) *lake {
	t.Helper()
	g, err := s3gateway.Start(t.Context(), s3gateway.Options{Folder: t.TempDir(), RootKey: rootKey, RootSecret: rootSecret})
	require.NoError(t, err)
	t.Cleanup(g.Stop)
	require.NoError(t, g.EnsureBucket("lake"))
	require.NoError(t, g.EnsureBucket("sibling"))
	root, err := minio.New(strings.TrimPrefix(g.Endpoint(), "http://"), &minio.Options{Creds: credentials.NewStaticV4(rootKey, rootSecret, ""), Region: g.Region(), MaxRetries: 1})
	require.NoError(t, err)
	l := &lake{url: g.Endpoint(), root: root, profile: signing.Profile{
		Config:  models.StorageConfig{Type: models.S3Storage, Endpoint: g.Endpoint(), Region: g.Region(), PathStyleAccess: true},
		Secrets: models.StorageSecrets{AccessKey: rootKey, SecretKey: rootSecret},
	}}
	for _, key := range []string{table + "/data/f", table + "/metadata/m.json", "wh/ns/t10/data/f", "wh/ns/top", "wh/x/t1/data/f"} {
		l.put(t, "lake", key)
	}
	l.put(t, "sibling", table+"/data/f")
	return l
}

// put puts an object with its own name in it.
func (l *lake) put(t *testing.T, bucket, key string) {
	t.Helper()
	_, err := l.root.PutObject(t.Context(), bucket, key, strings.NewReader(key), int64(len(key)), minio.PutObjectOptions{})
	require.NoError(t, err)
}

func (l *lake) content(t *testing.T, key string) string {
	t.Helper()
	o, err := l.root.GetObject(t.Context(), "lake", key, minio.GetObjectOptions{})
	require.NoError(t, err)
	data, err := io.ReadAll(o)
	require.NoError(t, err, key)
	return string(data)
}

func access(r models.StorageRights) models.StorageAccess {
	return models.StorageAccess{Table: "ns.t1", Rights: r, Areas: []models.StorageArea{
		{Prefix: "s3://lake/" + table}, {Prefix: "s3://lake/" + table + "/metadata", Metadata: true},
	}}
}

func open(overwrite bool) models.StorageRights {
	return models.StorageRights{ReadData: true, ReadMetadata: true, Write: true, Overwrite: overwrite, Delete: overwrite}
}

// sign has a request signed as an engine would.
func (l *lake) sign(r models.StorageRights, method, path, body string, headers ...string) (signing.Signed, map[string][]string, error) {
	own := map[string][]string{}
	for i := 0; i+1 < len(headers); i += 2 {
		own[headers[i]] = []string{headers[i+1]}
	}
	in := signing.Request{Region: "us-east-1", Method: method, URI: l.url + path, Headers: own}
	if strings.HasSuffix(path, "?delete") {
		in.Body = body
	}
	signed, err := signing.New(time.Now).Sign(l.profile, access(r), in)
	return signed, own, err
}

// send sends a request with the headers of its own and the signed ones.
func (l *lake) send(t *testing.T, method, uri, body string, headers ...map[string][]string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, uri, strings.NewReader(body))
	require.NoError(t, err)
	for _, set := range headers {
		for name, values := range set {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(data)
}

// do signs and sends.
func (l *lake) do(t *testing.T, r models.StorageRights, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	signed, own, err := l.sign(r, method, path, body, headers...)
	require.NoError(t, err, "%s %s", method, path)
	return l.send(t, method, signed.URI, body, own, signed.Headers)
}

func TestStoreTakesSignedRequests(t *testing.T) {
	l := newLake(t)
	status, body := l.do(t, open(false), "GET", "/lake/"+table+"/data/f", "")
	assert.Equal(t, http.StatusOK, status, body)
	assert.Equal(t, table+"/data/f", body)
	status, body = l.do(t, open(false), "GET", "/lake/"+table+"/data/f", "", "Range", "bytes=0-1")
	assert.Equal(t, http.StatusPartialContent, status)
	assert.Equal(t, "wh", body)
	status, _ = l.do(t, open(false), "HEAD", "/lake/"+table+"/metadata/m.json", "")
	assert.Equal(t, http.StatusOK, status)
	status, _ = l.do(t, open(false), "HEAD", "/lake/"+table+"/data/none", "")
	assert.Equal(t, http.StatusNotFound, status)
	for i, escaped := range []string{"a%20b", "a%2Bb", "a%3Db%3Ac%40d", "a~b", "%C3%BC%2C", "%E6%97%A5/%E6%9C%AC", "p%3Da%252Fb", "%F0%9F%8E%88", "%2A%28%29%21%27%24%26"} {
		path := "/lake/" + table + "/data/" + escaped
		status, body = l.do(t, open(false), "PUT", path, fmt.Sprint("x", i), "Content-Type", "application/octet-stream", "Expect", "100-continue", "x-amz-meta-a", "b  c")
		assert.Equal(t, http.StatusOK, status, "%s: %s", escaped, body)
		status, body = l.do(t, open(false), "GET", path, "")
		assert.Equal(t, http.StatusOK, status, escaped)
		assert.Equal(t, fmt.Sprint("x", i), body)
	}
	status, body = l.do(t, open(false), "PUT", "/lake/"+table+"/data/sum", "", "Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg==", "x-amz-checksum-crc32", "AAAAAA==", "x-amz-sdk-checksum-algorithm", "CRC32")
	assert.Equal(t, http.StatusOK, status, body)
}

// TestAppendersReplaceAndDeleteNothing, whatever they make of what was signed.
func TestAppendersReplaceAndDeleteNothing(t *testing.T) {
	l := newLake(t)
	const object = "/lake/" + table + "/data/f"
	status, body := l.do(t, open(false), "PUT", object, "other")
	assert.Equal(t, http.StatusPreconditionFailed, status, body)

	signed, own, err := l.sign(open(false), "PUT", object, "other")
	require.NoError(t, err)
	delete(signed.Headers, "If-None-Match")
	status, _ = l.send(t, "PUT", signed.URI, "other", own, signed.Headers)
	assert.Equal(t, http.StatusForbidden, status, "without the condition the signature is wrong")
	status, _ = l.send(t, "DELETE", signed.URI, "", own, signed.Headers)
	assert.Equal(t, http.StatusForbidden, status)
	status, _ = l.send(t, "PUT", signed.URI+"?partNumber=1&uploadId=x", "other", own, signed.Headers)
	assert.Equal(t, http.StatusForbidden, status)

	for _, path := range []string{object, "/lake/" + table + "/metadata/m.json"} {
		_, _, err = l.sign(open(false), "DELETE", path, "")
		assert.True(t, fault.Is(err, fault.Forbidden))
	}
	_, _, err = l.sign(open(false), "POST", "/lake?delete", "<Delete><Object><Key>"+table+"/data/f</Key></Object></Delete>")
	assert.True(t, fault.Is(err, fault.Forbidden))

	// By an upload in parts to the same name.
	_, body = l.do(t, open(false), "POST", object+"?uploads", "")
	_, id, _ := strings.Cut(body, "<UploadId>")
	id, _, _ = strings.Cut(id, "</UploadId>")
	require.NotEmpty(t, id, body)
	status, body = l.do(t, open(false), "PUT", object+"?partNumber=1&uploadId="+id, "other")
	require.Equal(t, http.StatusOK, status, body)
	parts, err := minio.Core{Client: l.root}.ListObjectParts(t.Context(), "lake", table+"/data/f", id, 0, 10)
	require.NoError(t, err)
	status, _ = l.do(t, open(false), "GET", object+"?uploadId="+id, "")
	assert.Equal(t, http.StatusOK, status)
	status, body = l.do(t, open(false), "POST", object+"?uploadId="+id,
		"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"+parts.ObjectParts[0].ETag+"</ETag></Part></CompleteMultipartUpload>")
	assert.Equal(t, http.StatusPreconditionFailed, status, body)
	status, _ = l.do(t, open(false), "DELETE", object+"?uploadId="+id, "")
	assert.Equal(t, http.StatusNoContent, status)
	assert.Equal(t, table+"/data/f", l.content(t, table+"/data/f"))
}

// TestSignaturesAreGoodForNothingElse changes signed requests so that they would reach beyond the table.
func TestSignaturesAreGoodForNothingElse(t *testing.T) {
	l := newLake(t)
	get, own, err := l.sign(open(true), "GET", "/lake/"+table+"/data/f", "")
	require.NoError(t, err)
	for _, other := range []string{
		"/lake/wh/ns/t10/data/f", "/lake/wh/ns/top", "/sibling/" + table + "/data/f", "/lake/" + table + "/../t10/data/f",
		"/lake/" + table + "/%2e%2e/t10/data/f", "/lake/" + table + "%2F..%2Ft10/data/f", "/lake/" + table + "/data/f?acl", "/lake?list-type=2", "/lake",
	} {
		status, body := l.send(t, "GET", l.url+other, "", own, get.Headers)
		assert.GreaterOrEqual(t, status, 400, "%s: %s", other, body)
		assert.NotContains(t, body, "/data/f\n")
		_, _, err := l.sign(open(true), "GET", other, "")
		assert.Error(t, err, other)
	}

	put, own, err := l.sign(open(true), "PUT", "/lake/"+table+"/data/stolen", "")
	require.NoError(t, err)
	status, body := l.send(t, "PUT", put.URI, "", own, put.Headers, map[string][]string{"X-Amz-Copy-Source": {"/lake/wh/ns/t10/data/f"}})
	assert.Equal(t, http.StatusForbidden, status, "a copy that was not signed: %s", body)
	status, body = l.send(t, "PUT", put.URI, "", own, put.Headers, map[string][]string{"X-Amz-Acl": {"public-read"}})
	assert.Equal(t, http.StatusForbidden, status, body)

	list, own, err := l.sign(open(true), "GET", "/lake?list-type=2&prefix="+table, "")
	require.NoError(t, err)
	status, body = l.send(t, "GET", list.URI, "", own, list.Headers)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, "<Key>"+table+"/data/f</Key>")
	assert.NotContains(t, body, "t10", "the neighbour that begins with the same letters is not listed")
	for _, prefix := range []string{"", "&prefix=", "&prefix=wh%2Fns%2Ft10%2F", "&prefix=wh%2F"} {
		status, _ = l.send(t, "GET", l.url+"/lake?list-type=2"+prefix, "", own, list.Headers)
		assert.Equal(t, http.StatusForbidden, status, prefix)
	}

	mine, foreign := "<Delete><Object><Key>"+table+"/data/f</Key></Object></Delete>", "<Delete><Object><Key>wh/ns/t10/data/f</Key></Object></Delete>"
	remove, own, err := l.sign(open(true), "POST", "/lake?delete", mine, "x-amz-checksum-crc32", "AAAAAA==")
	require.NoError(t, err)
	status, body = l.send(t, "POST", remove.URI, foreign, own, remove.Headers)
	assert.GreaterOrEqual(t, status, 400, "another list: %s", body)
	assert.Equal(t, "wh/ns/t10/data/f", l.content(t, "wh/ns/t10/data/f"))
	_, _, err = l.sign(open(true), "POST", "/lake?delete", "<Delete><Object><Key>"+table+"/data/f</Key></Object><Object><Key>wh/ns/t10/data/f</Key></Object></Delete>")
	assert.True(t, fault.Is(err, fault.Forbidden))
	assert.Equal(t, table+"/data/f", l.content(t, table+"/data/f"))
}

// remote is a signer of the AWS SDK that asks ours, as the SDK inside engines does.
type remote struct {
	l      *lake
	rights models.StorageRights
}

// SignHTTP implements v4.HTTPSigner.
func (r remote) SignHTTP(ctx context.Context, _ aws.Credentials, req *http.Request, _, _, region string, _ time.Time, _ ...func(*v4.SignerOptions)) error {
	in := signing.Request{Region: region, Method: req.Method, URI: req.URL.String(), Headers: req.Header.Clone()}
	if req.URL.Query().Has("delete") {
		in.Body, _ = ctx.Value(bodyKey{}).(string)
	}
	signed, err := signing.New(time.Now).Sign(r.l.profile, access(r.rights), in)
	if err != nil {
		return err
	}
	parsed, err := http.NewRequest(req.Method, signed.URI, nil)
	if err != nil {
		return err
	}
	req.URL = parsed.URL
	for name, values := range signed.Headers {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	return nil
}

// bodyKey is the context key of a request's body.
type bodyKey struct{}

// keepBody gives the signer the body, which the SDK puts on the request only after it is signed.
func keepBody(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("keepBody", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		if req, ok := in.Request.(*smithyhttp.Request); ok && req.GetStream() != nil {
			body, err := io.ReadAll(req.GetStream())
			if err != nil {
				return middleware.FinalizeOutput{}, middleware.Metadata{}, err
			}
			if err := req.RewindStream(); err != nil {
				return middleware.FinalizeOutput{}, middleware.Metadata{}, err
			}
			ctx = context.WithValue(ctx, bodyKey{}, string(body))
		}
		return next.HandleFinalize(ctx, in)
	}), "Signing", middleware.Before)
}

// TestAnSDKWorksThroughSigning: the requests are those that a real client makes, checksums and all.
func TestAnSDKWorksThroughSigning(t *testing.T) {
	l, ctx := newLake(t), t.Context()
	client := func(rights models.StorageRights) *s3.Client {
		return s3.New(s3.Options{
			Region: "us-east-1", BaseEndpoint: &l.url, UsePathStyle: true, HTTPSignerV4: remote{l, rights}, RetryMaxAttempts: 1, APIOptions: []func(*middleware.Stack) error{keepBody},
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "none", SecretAccessKey: "none"}, nil
			}),
		})
	}
	bucket, key := aws.String("lake"), aws.String(table+"/data/day=2026-03-01 12:00/a+b ü.parquet")
	appender, owner := client(open(false)), client(open(true))
	_, err := appender.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("rows"), ContentType: aws.String("a/b")})
	require.NoError(t, err)
	_, err = appender.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("other")})
	require.ErrorContains(t, err, "412")
	got, err := appender.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: key, Range: aws.String("bytes=1-2")})
	require.NoError(t, err)
	data, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	assert.Equal(t, "ow", string(data))
	_, err = appender.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: key})
	require.NoError(t, err)

	big := aws.String(table + "/data/big")
	upload, err := appender.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: big, ChecksumAlgorithm: types.ChecksumAlgorithmCrc32})
	require.NoError(t, err)
	part, err := appender.UploadPart(ctx, &s3.UploadPartInput{Bucket: bucket, Key: big, UploadId: upload.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader("part"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32})
	require.NoError(t, err)
	_, err = appender.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: bucket, Key: big, UploadId: upload.UploadId,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32}}}})
	require.NoError(t, err)

	pages := s3.NewListObjectsV2Paginator(appender, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String(table + "/"), MaxKeys: aws.Int32(2)})
	var keys []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		require.NoError(t, err)
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	assert.ElementsMatch(t, []string{*key, *big, table + "/data/f", table + "/metadata/m.json"}, keys)

	_, err = appender.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: key})
	require.ErrorContains(t, err, "lets nobody delete")
	_, err = owner.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: aws.String(table + "/data/copy"), CopySource: aws.String("lake/" + table + "/data/f")})
	require.NoError(t, err)
	removed, err := owner.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: key}, {Key: big}}}})
	require.NoError(t, err)
	assert.Len(t, removed.Deleted, 2)
	_, err = owner.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: aws.String(table + "/data/copy")})
	require.NoError(t, err)
	_, err = owner.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: aws.String("wh/ns/t10/data/f")})
	require.ErrorContains(t, err, "does not lie in table")
}
