package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/objectstest"
)

func bucketFolder(t *testing.T) (s *objects.BucketFolder, folder string) {
	t.Helper()
	folder = t.TempDir() + "/lake"
	at, err := objects.Parse("file://" + folder)
	require.NoError(t, err)
	bucket, err := objects.Parse("s3://lake")
	require.NoError(t, err)
	s, err = objects.NewBucketFolder(t.Context(), bucket, at, nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s, folder
}

func TestBucketFolder(t *testing.T) {
	objectstest.Run(t, func(t *testing.T) (objects.Store, string) {
		s, _ := bucketFolder(t)
		return s, "s3://lake/warehouse"
	})
}

// What clients are told names the bucket and never the folder behind it.
func TestBucketFolderSpeaksOfTheBucket(t *testing.T) {
	s, folder := bucketFolder(t)
	ctx := t.Context()
	_, err := s.ReadFile(ctx, "s3://lake/a/b")
	require.Equal(t, fault.NotFound, fault.CodeOf(err))
	assert.Contains(t, fault.PublicMessage(err), "s3://lake/a/b")
	assert.NotContains(t, fault.PublicMessage(err), folder)
	require.NoError(t, s.CreateFile(ctx, "s3a://lake/a/b", []byte("x")))
	err = s.CreateFile(ctx, "s3://lake/a/b", []byte("y"))
	require.Equal(t, fault.AlreadyExists, fault.CodeOf(err))
	assert.NotContains(t, fault.PublicMessage(err), folder)
	for _, outside := range []string{"s3://lakes/a/b", "file://" + folder + "/a/b", "s3://lake/../x", "s3://other/a"} {
		_, err := s.Stat(ctx, outside)
		assert.Contains(t, []fault.Code{fault.Forbidden, fault.Invalid}, fault.CodeOf(err), outside)
	}
	for _, own := range []string{"s3://lake/.sluice-s3/x", "s3://lake/a/.sluice-tmp-1"} {
		assert.Equal(t, fault.Invalid, fault.CodeOf(s.CreateFile(ctx, own, nil)), "a name of the endpoint's own: %s", own)
	}
	info, err := s.Stat(ctx, "s3://lake/a/b")
	require.NoError(t, err)
	assert.Equal(t, "s3://lake/a/b", info.Location)
}
