package objectstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testETag: as long as nobody writes an object its ETag stays, and another content of the same size has another.
func testETag(t *testing.T, newStore New) {
	s, root := newStore(t)
	loc := root + "/t/data/f.parquet"
	etag := func() string {
		info, err := s.Stat(t.Context(), loc)
		require.NoError(t, err)
		require.NotEmpty(t, info.ETag)
		assert.NotContains(t, info.ETag, `"`)
		return info.ETag
	}
	require.NoError(t, s.CreateFile(t.Context(), loc, []byte("first")))
	was := etag()
	_, err := s.ReadFile(t.Context(), loc)
	require.NoError(t, err)
	assert.Equal(t, was, etag(), "reading changes nothing")

	time.Sleep(20 * time.Millisecond) // clocks of file systems tick slowly
	require.NoError(t, s.DeleteFile(t.Context(), loc))
	require.NoError(t, s.CreateFile(t.Context(), loc, []byte("other")))
	assert.NotEqual(t, was, etag())
}
