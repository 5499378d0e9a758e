package objects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/s3gateway"
	"github.com/sluice-data/sluice/internal/s3gateway/folder"
)

// TestABucketFolderHasTheETagsOfItsEndpoint, so that what an engine puts back byte for byte is the same file again.
func TestABucketFolderHasTheETagsOfItsEndpoint(t *testing.T) {
	root := t.TempDir()
	g, err := s3gateway.Start(t.Context(), s3gateway.Options{Folder: root, RootKey: "root", RootSecret: "a-secret-of-the-root"})
	require.NoError(t, err)
	t.Cleanup(g.Stop)
	require.NoError(t, g.EnsureBucket("lake"))
	core, err := minio.NewCore(strings.TrimPrefix(g.Endpoint(), "http://"), &minio.Options{
		Creds: credentials.NewStaticV4("root", "a-secret-of-the-root", ""), Region: g.Region(), BucketLookup: minio.BucketLookupPath,
	})
	require.NoError(t, err)
	remote, err := objects.NewS3Store(objects.S3Config{
		Endpoint: g.Endpoint(), Region: g.Region(), PathStyle: true, AccessKey: "root", SecretKey: "a-secret-of-the-root",
	})
	require.NoError(t, err)
	bucket, err := objects.Parse("s3://lake")
	require.NoError(t, err)
	at, err := objects.Parse("file://" + filepath.Join(root, "lake"))
	require.NoError(t, err)
	local, err := objects.NewBucketFolder(t.Context(), bucket, at, folder.ETag)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, local.Close()) })

	put := func(content string) string {
		t.Helper()
		time.Sleep(10 * time.Millisecond) // clocks of file systems tick slowly
		_, err := core.PutObject(t.Context(), "lake", "t/f", strings.NewReader(content), int64(len(content)), "", "", minio.PutObjectOptions{})
		require.NoError(t, err)
		here, err := local.Stat(t.Context(), "s3://lake/t/f")
		require.NoError(t, err)
		there, err := remote.Stat(t.Context(), "s3://lake/t/f")
		require.NoError(t, err)
		require.NotEmpty(t, here.ETag)
		assert.Equal(t, there.ETag, here.ETag)
		return here.ETag
	}
	first := put("first")
	assert.NotEqual(t, first, put("other"))
	assert.Equal(t, first, put("first"), "the same bytes")

	file := filepath.Join(root, "lake", "t", "f")
	require.NoError(t, os.WriteFile(file, []byte("forge"), 0o600)) // past the endpoint, and of the same size
	here, err := local.Stat(t.Context(), "s3://lake/t/f")
	require.NoError(t, err)
	assert.NotEqual(t, first, here.ETag)
}
