package s3gateway

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

const metadataFile = "ns/t/metadata/00001-0195f6b2.metadata.json"

func TestFilesAndObjectsAreTheSame(t *testing.T) {
	e := start(t)
	c := e.root(t)
	store, base := e.files(t)

	require.NoError(t, store.CreateFile(t.Context(), base+"/"+metadataFile, []byte(`{"format-version":2}`)))
	assert.Equal(t, `{"format-version":2}`, get(t, c, metadataFile))
	info, err := c.StatObject(t.Context(), lake, metadataFile, minio.StatObjectOptions{})
	require.NoError(t, err)
	assert.NotEmpty(t, info.ETag)
	assert.Contains(t, info.ETag, "-", "nobody takes it for an MD5 sum")

	put(t, c, "ns/t/data/a.parquet", "rows")
	data, err := store.ReadFile(t.Context(), base+"/ns/t/data/a.parquet")
	require.NoError(t, err)
	assert.Equal(t, "rows", string(data))
	assert.Equal(t, []string{"ns/t/data/a.parquet", metadataFile}, keys(t, c, ""))
	assert.Equal(t, []string{"ns/t/data/a.parquet", metadataFile}, listed(t, e))

	o := minio.PutObjectOptions{}
	o.SetMatchETagExcept("*")
	_, err = c.Client.PutObject(t.Context(), lake, metadataFile, strings.NewReader("x"), 1, o)
	assert.Equal(t, "PreconditionFailed", code(err), "what a file store wrote is there for a condition too")
	err = store.CreateFile(t.Context(), base+"/ns/t/data/a.parquet", []byte("x"))
	assert.True(t, fault.Is(err, fault.AlreadyExists), err)
	require.NoError(t, c.RemoveObject(t.Context(), lake, metadataFile, minio.RemoveObjectOptions{}))
	_, err = store.ReadFile(t.Context(), base+"/"+metadataFile)
	assert.True(t, fault.Is(err, fault.NotFound), err)
	require.NoError(t, store.DeleteFile(t.Context(), base+"/ns/t/data/a.parquet"))
	_, err = tryGet(t, c, "ns/t/data/a.parquet")
	assert.Equal(t, "NoSuchKey", code(err))
	assert.Empty(t, keys(t, c, ""), "the folders that are left are no objects")
	require.NoError(t, store.CreateFile(t.Context(), base+"/"+metadataFile, []byte(`{}`)), "they can be used again")
}

// listed gives the keys that internal/objects sees.
func listed(t *testing.T, e *endpoint) []string {
	t.Helper()
	store, base := e.files(t)
	found, err := store.List(t.Context(), base, "", 0)
	require.NoError(t, err)
	names := []string{}
	for _, f := range found {
		names = append(names, strings.TrimPrefix(f.Location, base+"/"))
	}
	return names
}

func TestEmptyFoldersAreNotObjects(t *testing.T) {
	e := start(t)
	c := e.root(t)
	store, base := e.files(t)
	require.NoError(t, store.EnsureFolder(t.Context(), base+"/ns/t/data"))
	assert.Empty(t, keys(t, c, ""))
	assert.Empty(t, keys(t, c, "ns/t/"))
	for _, name := range []string{"ns/t/data", "ns/t/data/", "ns"} {
		_, err := c.StatObject(t.Context(), lake, name, minio.StatObjectOptions{})
		assert.Equal(t, "NoSuchKey", code(err), name)
		require.NoError(t, c.RemoveObject(t.Context(), lake, name, minio.RemoveObjectOptions{}), name)
	}
	assert.DirExists(t, filepath.Join(e.folder, lake, "ns/t/data"), "and cannot be removed as such")

	put(t, c, "marked/folder/", "")
	assert.Equal(t, []string{"marked/folder/"}, keys(t, c, ""), "folder markers, which some file systems over S3 make, are")
	info, err := c.StatObject(t.Context(), lake, "marked/folder/", minio.StatObjectOptions{})
	require.NoError(t, err)
	assert.Zero(t, info.Size)
	assert.Empty(t, get(t, c, "marked/folder/"))
	put(t, c, "marked/folder/x", "x")
	assert.Equal(t, []string{"marked/folder/", "marked/folder/x"}, keys(t, c, "marked/folder/"))
	assert.Equal(t, []string{"marked/folder/x"}, listed(t, e))
	require.NoError(t, c.RemoveObject(t.Context(), lake, "marked/folder/", minio.RemoveObjectOptions{}))
	assert.Equal(t, []string{"marked/folder/x"}, keys(t, c, ""))
	_, err = c.Client.PutObject(t.Context(), lake, "marked/other/", strings.NewReader("x"), 1, minio.PutObjectOptions{})
	assert.Error(t, err)
}

func TestWhatIsBeingWrittenIsNotShown(t *testing.T) {
	e := start(t)
	c := e.root(t)
	id, err := c.NewMultipartUpload(t.Context(), lake, "t/big", minio.PutObjectOptions{})
	require.NoError(t, err)
	_, err = c.PutObjectPart(t.Context(), lake, "t/big", id, 1, strings.NewReader("x"), 1, minio.PutObjectPartOptions{})
	require.NoError(t, err)
	work := filepath.Join(e.folder, lake, ".sluice-s3")
	stale, young := filepath.Join(work, ".sluice-tmp-stale"), filepath.Join(work, ".sluice-tmp-young")
	for _, name := range []string{stale, young} {
		require.NoError(t, os.WriteFile(name, []byte("half"), 0o600))
	}
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(stale, old, old))
	assert.Empty(t, keys(t, c, ""))
	assert.Empty(t, listed(t, e), "internal/objects does not see it either")
	_, err = tryGet(t, c, ".sluice-s3/.sluice-tmp-young")
	assert.Equal(t, "InvalidArgument", code(err))
	e.Stop()

	again := start(t, func(o *Options) { o.Folder = e.folder })
	assert.NoFileExists(t, stale, "the next process removes what a dead one left")
	assert.FileExists(t, young)
	require.NoError(t, again.root(t).AbortMultipartUpload(t.Context(), lake, "t/big", id))
	assert.NoDirExists(t, filepath.Join(work, id))
}

func TestABrokenUploadLeavesNothing(t *testing.T) {
	e := start(t)
	c := e.root(t)
	put(t, c, "x", "before")
	link, err := c.PresignedPutObject(t.Context(), lake, "x", time.Minute)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, link.String(), &broken{left: 1 << 20})
	require.NoError(t, err)
	req.ContentLength = 10 << 20
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		_ = res.Body.Close()
	}
	assert.Equal(t, "before", get(t, c, "x"))
	assert.Eventually(t, func() bool {
		left, err := os.ReadDir(filepath.Join(e.folder, lake, ".sluice-s3"))
		return err == nil && len(left) == 0
	}, 5*time.Second, 10*time.Millisecond, "and no temporary file")
}

// broken is a body that ends with an error.
type broken struct{ left int }

func (b *broken) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, os.ErrDeadlineExceeded
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}

func TestAChangeByAnotherProgramChangesTheETag(t *testing.T) {
	e := start(t)
	c := e.root(t)
	put(t, c, "x", "12345")
	etag := func() string {
		info, err := c.StatObject(t.Context(), lake, "x", minio.StatObjectOptions{})
		require.NoError(t, err)
		return info.ETag
	}
	seen := map[string]bool{etag(): true}
	file := filepath.Join(e.folder, lake, "x")
	for i, change := range []func() error{
		func() error { return os.WriteFile(file, []byte("other"), 0o600) }, // of the same size
		func() error { return os.WriteFile(file, []byte("longer content"), 0o600) },
		func() error { return os.Rename(newFile(t, e, "longer content"), file) },
	} {
		time.Sleep(10 * time.Millisecond)
		require.NoError(t, change())
		assert.False(t, seen[etag()], "change %d", i)
		seen[etag()] = true
		assert.Equal(t, etag(), etag())
	}
}

func newFile(t *testing.T, e *endpoint, content string) string {
	t.Helper()
	name := filepath.Join(e.folder, "new")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

func TestLinksAndPipesAreNotObjects(t *testing.T) {
	e := start(t)
	tables(t, e)
	dir := filepath.Join(e.folder, lake)
	outside := filepath.Join(e.folder, "outside")
	require.NoError(t, os.WriteFile(outside, []byte(secret), 0o600))
	for link, target := range map[string]string{
		"t1/abs": outside, "t1/rel": "../../outside", "t1/file": "../t10/data/a", "t1/dir": "../t10", "t1/up": "..", "t1/loop": "loop",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "t1/pipe"), 0o600))
	for _, name := range []string{"new\nline", "not\xffUTF-8", ".sluice-tmp-1"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "t1", name), nil, 0o600))
	}
	c := e.client(t, e.assume(t, tablePolicy("t1"), time.Hour))
	for _, key := range []string{"t1/abs", "t1/rel", "t1/file", "t1/dir/data/a", "t1/up/t10/data/a", "t1/loop", "t1/pipe"} {
		_, err := tryGet(t, c, key)
		assert.Equal(t, "NoSuchKey", code(err), key)
	}
	assert.Len(t, keys(t, c, "t1/"), 4, "nor are they listed, nor are names that no request can have")
	assert.Empty(t, keys(t, c, "t1/dir/"))
	assert.Empty(t, keys(t, c, "t1/up/t10/"))
	for _, key := range []string{"t1/dir/data/a", "t1/up/t10/data/a", "t1/dir/new"} {
		_, err := c.Client.PutObject(t.Context(), lake, key, strings.NewReader("x"), 1, minio.PutObjectOptions{})
		assert.Error(t, err, key)
		_ = c.RemoveObject(t.Context(), lake, key, minio.RemoveObjectOptions{})
	}
	put(t, c, "t1/abs", "mine") // takes the link's place
	left, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, secret, string(left))
	assert.Equal(t, secret, get(t, e.root(t), "t10/data/a"))
}

func TestAKeyIsAPath(t *testing.T) {
	e := start(t)
	c := e.root(t)
	put(t, c, "a/b", "x")
	try := func(key string) string {
		_, err := c.Client.PutObject(t.Context(), lake, key, strings.NewReader("x"), 1, minio.PutObjectOptions{})
		return code(err)
	}
	assert.Equal(t, "ExistingObjectIsDirectory", try("a"))
	assert.Equal(t, "ObjectParentIsFile", try("a/b/c"))
	assert.Equal(t, "InvalidArgument", try("a/"+strings.Repeat("x", 256)))
	_, body := e.raw(t, rootCredentials(), http.MethodPut, "/lake/"+strings.Repeat("x/", 512)+"x", "x")
	assert.Contains(t, body, "KeyTooLong")
	require.NoError(t, c.RemoveObject(t.Context(), lake, "a/b/c", minio.RemoveObjectOptions{}))
	_, err := tryGet(t, c, "a/b/c")
	assert.Equal(t, "NoSuchKey", code(err))
	assert.Equal(t, "x", get(t, c, "a/b"))
}

func TestModesAreTheUmasks(t *testing.T) {
	old := syscall.Umask(0o002)
	defer syscall.Umask(old)
	e := start(t)
	put(t, e.root(t), "ns/t/data/x", "x")
	for name, want := range map[string]os.FileMode{"": 0o775, "ns": 0o775, "ns/t/data": 0o775, "ns/t/data/x": 0o664} {
		info, err := os.Stat(filepath.Join(e.folder, lake, name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), name)
	}
}
