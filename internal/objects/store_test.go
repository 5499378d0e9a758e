package objects_test

import (
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/objectstest"
)

func TestFileStore(t *testing.T) {
	objectstest.Run(t, func(t *testing.T) (objects.Store, string) {
		root := "file://" + t.TempDir() + "/warehouse"
		at, err := objects.Parse(root)
		require.NoError(t, err)
		s, err := objects.NewFileStore(t.Context(), at)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return s, root
	})
}

func TestRouterIsAStore(t *testing.T) {
	objectstest.Run(t, func(t *testing.T) (objects.Store, string) {
		root := "file://" + t.TempDir() + "/warehouse"
		r, err := objects.Open(t.Context(), objects.Config{Roots: []string{root}})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, r.Close()) })
		return r, root
	})
}

func TestS3Store(t *testing.T) {
	c := objects.S3Config{Endpoint: os.Getenv("SLUICE_TEST_S3_ENDPOINT"), AccessKey: os.Getenv("SLUICE_TEST_S3_ACCESS"), SecretKey: os.Getenv("SLUICE_TEST_S3_SECRET"), PathStyle: true}
	bucket := os.Getenv("SLUICE_TEST_S3_BUCKET")
	if c.Endpoint == "" || bucket == "" {
		t.Skip("set SLUICE_TEST_S3_ENDPOINT, _ACCESS, _SECRET and _BUCKET to test against a real S3-compatible store")
	}
	objectstest.Run(t, func(t *testing.T) (objects.Store, string) {
		s, err := objects.NewS3Store(c)
		require.NoError(t, err)
		return s, "s3://" + bucket + "/sluice-test-" + uuid.NewString()
	})
}
