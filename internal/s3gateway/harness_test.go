package s3gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/objects"
)

const (
	rootKey    = "sluice-root"
	rootSecret = "a-secret-of-the-root-key"
	lake       = "lake"
)

// endpoint is a running gateway over a folder with the bucket "lake".
type endpoint struct {
	*Gateway
	folder string
}

func start(t *testing.T, change ...func(*Options)) *endpoint {
	t.Helper()
	o := Options{Folder: t.TempDir(), RootKey: rootKey, RootSecret: rootSecret}
	for _, f := range change {
		f(&o)
	}
	g, err := Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(g.Stop)
	require.NoError(t, g.EnsureBucket(lake))
	return &endpoint{Gateway: g, folder: o.Folder}
}

// client is minio-go with static credentials.
func (e *endpoint) client(t *testing.T, v credentials.Value) *minio.Core {
	t.Helper()
	c, err := e.newClient(v)
	require.NoError(t, err)
	return c
}

func (e *endpoint) newClient(v credentials.Value) (*minio.Core, error) {
	return minio.NewCore(strings.TrimPrefix(e.Endpoint(), "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(v.AccessKeyID, v.SecretAccessKey, v.SessionToken), Region: e.Region(), MaxRetries: 1,
	})
}

func rootCredentials() credentials.Value {
	return credentials.Value{AccessKeyID: rootKey, SecretAccessKey: rootSecret}
}

func (e *endpoint) root(t *testing.T) *minio.Core { return e.client(t, rootCredentials()) }

// sdk is the AWS SDK with static credentials, as engines use it: with its checksums and chunked signatures.
func (e *endpoint) sdk(v credentials.Value) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(e.Endpoint()), Region: e.Region(), UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: v.AccessKeyID, SecretAccessKey: v.SecretAccessKey, SessionToken: v.SessionToken}, nil
		}),
	})
}

// assume gets temporary credentials with the session policy.
func (e *endpoint) assume(t *testing.T, policy string, life time.Duration) credentials.Value {
	t.Helper()
	v, err := e.tryAssume(policy, life)
	require.NoError(t, err)
	return v
}

func (e *endpoint) tryAssume(policy string, life time.Duration) (credentials.Value, error) {
	return e.tryAssumeWith(credentials.STSAssumeRoleOptions{
		AccessKey: rootKey, SecretKey: rootSecret, Policy: policy, Location: e.Region(), DurationSeconds: int(life.Seconds()),
		RoleARN: "arn:aws:iam::000000000000:role/sluice", RoleSessionName: "job-1",
	})
}

func (e *endpoint) tryAssumeWith(o credentials.STSAssumeRoleOptions) (credentials.Value, error) {
	c, err := credentials.NewSTSAssumeRole(e.Endpoint(), o)
	if err != nil {
		return credentials.Value{}, err
	}
	return c.GetWithContext(&credentials.CredContext{Client: http.DefaultClient})
}

// statement is one of a policy document.
type statement struct {
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string][]string `json:",omitempty"`
}

func document(statements ...statement) string {
	data, _ := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements})
	return string(data)
}

// tablePolicy is what a table's writer is given: all of its prefix, and nothing else.
func tablePolicy(prefix string) string {
	return document(
		statement{Effect: "Allow", Action: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}, Resource: []string{"arn:aws:s3:::" + lake + "/" + prefix + "/*"}},
		statement{Effect: "Allow", Action: []string{"s3:ListBucket"}, Resource: []string{"arn:aws:s3:::" + lake}, Condition: map[string]map[string][]string{"StringLike": {"s3:prefix": {prefix + "/*"}}}},
		statement{Effect: "Allow", Action: []string{"s3:GetBucketLocation"}, Resource: []string{"arn:aws:s3:::" + lake}},
	)
}

func put(t *testing.T, c *minio.Core, key, content string) {
	t.Helper()
	_, err := c.Client.PutObject(t.Context(), lake, key, strings.NewReader(content), int64(len(content)), minio.PutObjectOptions{})
	require.NoError(t, err, key)
}

func get(t *testing.T, c *minio.Core, key string) string {
	t.Helper()
	content, err := tryGet(t, c, key)
	require.NoError(t, err, key)
	return content
}

func tryGet(t *testing.T, c *minio.Core, key string) (string, error) {
	t.Helper()
	body, _, _, err := c.GetObject(t.Context(), lake, key, minio.GetObjectOptions{})
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(body)
	return string(data), err
}

func keys(t *testing.T, c *minio.Core, prefix string) []string {
	t.Helper()
	found := []string{}
	for object := range c.Client.ListObjects(t.Context(), lake, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		require.NoError(t, object.Err)
		found = append(found, object.Key)
	}
	return found
}

func code(err error) string { return minio.ToErrorResponse(err).Code }

// files opens the same bucket as internal/objects does.
func (e *endpoint) files(t *testing.T) (*objects.FileStore, string) {
	t.Helper()
	base := "file://" + filepath.Join(e.folder, lake)
	loc, err := objects.Parse(base)
	require.NoError(t, err)
	s, err := objects.NewFileStore(t.Context(), loc)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s, base
}

// testLog collects what is logged. It is read when the endpoint has stopped; the handler locks its writes.
type testLog struct{ bytes.Buffer }

func (l *testLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(&l.Buffer, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func many(n int) string { return strings.Repeat("0123456789abcdef", n/16) }

func key(format string, args ...any) string { return fmt.Sprintf(format, args...) }
