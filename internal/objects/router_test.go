package objects

import (
	"context"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func newFileStore(t testing.TB, root string) *FileStore {
	t.Helper()
	s, err := NewFileStore(context.Background(), mustParse(t, root))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func TestRouterRefusesWhatIsOutsideItsRoots(t *testing.T) {
	dir := t.TempDir()
	a, b := "file://"+dir+"/a", "file://"+dir+"/b"
	r, err := Open(t.Context(), Config{Roots: []string{a, b}})
	require.NoError(t, err)
	defer r.Close()
	for _, loc := range []string{"file://" + dir + "/ab", "file://" + dir, "file:///etc/passwd", "s3://bucket/x"} {
		_, err := r.ReadFile(t.Context(), loc)
		require.True(t, fault.Is(err, fault.Forbidden), "%s: %v", loc, err)
		assert.Contains(t, fault.PublicMessage(err), a+", "+b, "the message names where one may go")
		assert.True(t, fault.Is(r.CreateFile(t.Context(), loc, nil), fault.Forbidden))
		assert.True(t, fault.Is(r.DeleteFile(t.Context(), loc), fault.Forbidden))
		_, err = r.Stat(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.Forbidden))
		_, err = r.OpenFile(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.Forbidden))
		_, err = r.List(t.Context(), loc, "", 1)
		assert.True(t, fault.Is(err, fault.Forbidden))
		assert.True(t, fault.Is(r.EnsureFolder(t.Context(), loc), fault.Forbidden))
		assert.True(t, fault.Is(r.Allows(t.Context(), loc), fault.Forbidden))
	}
	assert.True(t, fault.Is(r.Allows(t.Context(), a+"/../b/x"), fault.Invalid))
	assert.NoError(t, r.Allows(t.Context(), "file:"+dir+"/a/x"), "another spelling of an allowed place")
	assert.Len(t, r.Roots(), 2)
	assert.True(t, fault.Is(NewRouter().Allows(t.Context(), a), fault.Forbidden))
}

func TestRouterPrefersTheInnermostRoot(t *testing.T) {
	outer, inner := newFileStore(t, "file://"+t.TempDir()), newFileStore(t, "file://"+t.TempDir())
	r := NewRouter(Mount{Root: mustParse(t, "s3://bucket/wh"), Store: outer}, Mount{Root: mustParse(t, "s3://bucket/wh/in"), Store: inner})
	for loc, want := range map[string]Store{"s3://bucket/wh/x": outer, "s3a://bucket/wh/in/x": inner, "s3://bucket/wh/inner": outer} {
		got, err := r.route(t.Context(), loc)
		require.NoError(t, err)
		assert.Same(t, want, got, loc)
	}
}

func TestOpenSaysWhatTheConfigurationHasWrong(t *testing.T) {
	file := t.TempDir() + "/file"
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, roots := range [][]string{nil, {""}, {"gs://bucket"}, {"abfss://lake@account.dfs.core.windows.net"}, {"/"}, {file}, {file + "/x"}, {"file://" + t.TempDir(), "relative"}} {
		_, err := Open(t.Context(), Config{Roots: roots})
		assert.True(t, fault.Is(err, fault.Invalid), "%v: %v", roots, err)
	}
	_, err := Open(t.Context(), Config{Roots: []string{"s3://bucket/wh"}, S3: S3Config{SecretKey: "alone"}})
	assert.True(t, fault.Is(err, fault.Invalid), err)
	r, err := Open(t.Context(), Config{Roots: []string{"s3a://bucket/wh", t.TempDir()}})
	require.NoError(t, err, "a store may be opened before its endpoint is there")
	assert.NoError(t, r.Close())
}

func TestOpenAsksForAStoreOnceForEachPlace(t *testing.T) {
	var asked []string
	open := func(_ context.Context, root Location) (Store, error) {
		asked = append(asked, root.String())
		return newFileStore(t, "file://"+t.TempDir()), nil
	}
	r, err := Open(t.Context(), Config{
		Roots:  []string{"gs://b1/wh", "gs://b1/other", "gs://b2", "wasbs://lake@account.blob.core.windows.net/x", "abfss://lake@account.dfs.core.windows.net/y"},
		Clouds: map[string]OpenFunc{"gs": open, "abfss": open},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"gs://b1/wh", "gs://b2", "abfss://lake@account.dfs.core.windows.net/x"}, asked)
	assert.Len(t, r.Roots(), 5)
}

func TestCheckFindsAStoreThatOverwrites(t *testing.T) {
	deleted := false
	s := s3At(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			deleted = true
			w.WriteHeader(http.StatusNoContent)
		}
	})
	err := Check(t.Context(), s, "s3://bucket/wh")
	assert.True(t, fault.Is(err, fault.Unavailable), err)
	assert.Contains(t, fault.PublicMessage(err), "If-None-Match")
	assert.True(t, deleted, "the probe is removed all the same")
}
