package objectstest

import (
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

func testIcebergIO(t *testing.T, newStore New) {
	s, root := newStore(t)
	at, err := objects.Parse(root)
	require.NoError(t, err)
	loc := root + "/t/snap.avro"
	require.NoError(t, s.CreateFile(t.Context(), loc, []byte("manifest list")))
	i := objects.NewIcebergIO(t.Context(), objects.NewRouter(objects.Mount{Root: at, Store: s}))

	f, err := i.Open(loc)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	assert.EqualValues(t, 13, info.Size())
	assert.Equal(t, "snap.avro", info.Name())
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, "manifest list", string(data))
	require.NoError(t, f.Close())

	data, err = i.ReadFile(loc)
	require.NoError(t, err)
	assert.Equal(t, "manifest list", string(data))
	info, err = i.Stat(loc)
	require.NoError(t, err)
	assert.EqualValues(t, 13, info.Size())
	assert.False(t, info.IsDir())

	_, err = i.Open(root + "/t/absent")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.True(t, fault.Is(err, fault.NotFound), err)
	_, err = i.ReadFile("s3://elsewhere/x")
	assert.True(t, fault.Is(err, fault.Forbidden), err)

	_, err = i.Create(root + "/t/new")
	assert.ErrorIs(t, err, fs.ErrPermission)
	assert.ErrorIs(t, i.WriteFile(loc, nil), fs.ErrPermission)
	err = i.Remove(loc)
	assert.ErrorIs(t, err, fs.ErrPermission)
	assert.Contains(t, fault.PublicMessage(err), "not written or removed")
	_, err = s.Stat(t.Context(), loc)
	assert.NoError(t, err, "nothing was removed")
}
