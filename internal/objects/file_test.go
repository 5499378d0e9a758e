package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestFileStoreStaysInItsFolder(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	require.NoError(t, os.MkdirAll(outside, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	root := "file://" + dir + "/warehouse"
	s := newFileStore(t, root)
	require.NoError(t, s.CreateFile(t.Context(), root+"/in/side", []byte("inside")))
	for name, target := range map[string]string{"abs": outside, "rel": "../outside", "file": "../outside/secret", "loop": "loop", "in/ok": "side"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, "warehouse", name)))
	}

	for _, name := range []string{"abs/secret", "rel/secret", "file", "loop"} {
		_, err := s.ReadFile(t.Context(), root+"/"+name)
		assert.True(t, fault.Is(err, fault.Forbidden), "%s: %v", name, err)
		_, err = s.Stat(t.Context(), root+"/"+name)
		assert.True(t, fault.Is(err, fault.Forbidden), "%s: %v", name, err)
		_, err = s.OpenFile(t.Context(), root+"/"+name)
		assert.True(t, fault.Is(err, fault.Forbidden), "%s: %v", name, err)
		assert.NotContains(t, fault.PublicMessage(err), outside)
	}
	for _, name := range []string{"abs", "rel"} {
		assert.True(t, fault.Is(s.CreateFile(t.Context(), root+"/"+name+"/new", nil), fault.Forbidden))
		assert.True(t, fault.Is(s.CreateFile(t.Context(), root+"/"+name+"/deep/new", nil), fault.Forbidden))
		assert.True(t, fault.Is(s.DeleteFile(t.Context(), root+"/"+name+"/secret"), fault.Forbidden))
		assert.True(t, fault.Is(s.EnsureFolder(t.Context(), root+"/"+name+"/new"), fault.Forbidden))
	}
	assert.True(t, fault.Is(s.CreateFile(t.Context(), root+"/file", nil), fault.AlreadyExists))
	for _, elsewhere := range []string{"file://" + outside + "/secret", "file://" + dir + "/warehouse2/x", "file://" + dir, "s3://bucket/x"} {
		_, err := s.ReadFile(t.Context(), elsewhere)
		assert.True(t, fault.Is(err, fault.Forbidden), "%s: %v", elsewhere, err)
	}

	found, err := s.List(t.Context(), root, "", 0)
	require.NoError(t, err)
	require.Len(t, found, 1, "a listing follows no symbolic link: %v", found)
	data, err := s.ReadFile(t.Context(), root+"/in/ok")
	require.NoError(t, err, "a symbolic link that stays inside is fine")
	assert.Equal(t, "inside", string(data))

	require.NoError(t, s.DeleteFile(t.Context(), root+"/file"))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "outside, all is as it was")
}

func TestFileStoreIsNotBlockedByAPipe(t *testing.T) {
	root := "file://" + t.TempDir()
	s := newFileStore(t, root)
	require.NoError(t, syscall.Mkfifo(mustParse(t, root+"/pipe").Path(), 0o600))
	_, err := s.ReadFile(t.Context(), root+"/pipe")
	assert.True(t, fault.Is(err, fault.NotFound), err)
	found, err := s.List(t.Context(), root, "", 0)
	require.NoError(t, err)
	assert.Empty(t, found)
}

func TestFileStoreReadsNoHugeFileAtOnce(t *testing.T) {
	root := "file://" + t.TempDir()
	s := newFileStore(t, root)
	f, err := os.Create(mustParse(t, root+"/huge").Path())
	require.NoError(t, err)
	require.NoError(t, f.Truncate(MaxReadFile+1))
	require.NoError(t, f.Close())
	_, err = s.ReadFile(t.Context(), root+"/huge")
	assert.True(t, fault.Is(err, fault.TooLarge), err)
}

func TestFileStoreGivesFoldersAndFilesToTheUmask(t *testing.T) {
	old := syscall.Umask(0o002)
	defer syscall.Umask(old)
	root := "file://" + t.TempDir() + "/wh"
	s := newFileStore(t, root)
	require.NoError(t, s.CreateFile(t.Context(), root+"/t/metadata/x", nil))
	require.NoError(t, s.EnsureFolder(t.Context(), root+"/t/data"))
	require.NoError(t, s.EnsureFolder(t.Context(), root+"/t/data"))
	for name, want := range map[string]fs.FileMode{"": 0o775, "/t": 0o775, "/t/metadata": 0o775, "/t/data": 0o775, "/t/metadata/x": 0o664} {
		info, err := os.Stat(mustParse(t, root+name).Path())
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), name)
	}
}

func TestFileStoreSaysThatAFileIsInTheWay(t *testing.T) {
	root := "file://" + t.TempDir()
	s := newFileStore(t, root)
	require.NoError(t, s.CreateFile(t.Context(), root+"/x", nil))
	for _, loc := range []string{root + "/x/y", root + "/x/y/z"} {
		err := s.CreateFile(t.Context(), loc, nil)
		assert.True(t, fault.Is(err, fault.Invalid), err)
		assert.Contains(t, fault.PublicMessage(err), "runs through a file")
		assert.True(t, fault.Is(s.EnsureFolder(t.Context(), loc), fault.Invalid))
	}
	assert.True(t, fault.Is(s.EnsureFolder(t.Context(), root+"/x"), fault.Invalid))
	assert.True(t, fault.Is(s.CreateFile(t.Context(), root+"/"+strings.Repeat("a", 300), nil), fault.Invalid), "a name too long")
	require.NoError(t, s.CreateFile(t.Context(), root+"/t/y", nil))
	assert.True(t, fault.Is(s.CreateFile(t.Context(), root+"/t", nil), fault.AlreadyExists))
	assert.True(t, fault.Is(s.CreateFile(t.Context(), root, nil), fault.AlreadyExists))
}

func TestFileStoreMakesAFolderAnewThatWentAway(t *testing.T) {
	root := "file://" + t.TempDir() + "/wh"
	s := newFileStore(t, root)
	require.NoError(t, s.CreateFile(t.Context(), root+"/a/b/1", nil))
	require.NoError(t, os.RemoveAll(mustParse(t, root+"/a").Path()))
	require.NoError(t, s.CreateFile(t.Context(), root+"/a/b/2", nil))
	found, err := s.List(t.Context(), root, "", 0)
	require.NoError(t, err)
	assert.Len(t, found, 1)
}

func TestFileStoreLeavesNoTemporaryFiles(t *testing.T) {
	root := "file://" + t.TempDir()
	s := newFileStore(t, root)
	require.NoError(t, s.CreateFile(t.Context(), root+"/t/x", []byte("x")))
	require.Error(t, s.CreateFile(t.Context(), root+"/t/x", []byte("y")))
	assert.Equal(t, []string{"x"}, namesIn(t, root+"/t"))

	stale, young := tempPrefix+"stale", tempPrefix+"young"
	for _, name := range []string{stale, young} {
		require.NoError(t, os.WriteFile(mustParse(t, root+"/t/"+name).Path(), nil, 0o600))
	}
	old := time.Now().Add(-2 * tempLife)
	require.NoError(t, os.Chtimes(mustParse(t, root+"/t/"+stale).Path(), old, old))
	found, err := s.List(t.Context(), root, "", 0)
	require.NoError(t, err)
	assert.Len(t, found, 1, "files that are being written are not listed")

	require.NoError(t, newFileStore(t, root).CreateFile(t.Context(), root+"/t/z", nil))
	assert.ElementsMatch(t, []string{"x", "z", young}, namesIn(t, root+"/t"), "the next process removes what a dead one left, not what another one writes")
}

func namesIn(t *testing.T, location string) []string {
	t.Helper()
	entries, err := os.ReadDir(mustParse(t, location).Path())
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestFileStoreSurvivesKill kills processes that create files and looks at what they left under final names.
func TestFileStoreSurvivesKill(t *testing.T) {
	content := bytes.Repeat([]byte("sluice"), 100_000)
	if root := os.Getenv("SLUICE_TEST_CREATE_IN"); root != "" {
		s := newFileStore(t, root)
		for i := 0; ; i++ {
			_ = s.CreateFile(context.Background(), fmt.Sprintf("%s/%d/%d-%d", root, i%3, os.Getpid(), i), content)
		}
	}
	root := "file://" + t.TempDir()
	for range 5 {
		child := exec.Command(os.Args[0], "-test.run=^TestFileStoreSurvivesKill$")
		child.Env = append(os.Environ(), "SLUICE_TEST_CREATE_IN="+root)
		require.NoError(t, child.Start())
		time.Sleep(200 * time.Millisecond)
		require.NoError(t, child.Process.Kill())
		_ = child.Wait() // killed
	}
	s := newFileStore(t, root)
	found, err := s.List(t.Context(), root, "", 0)
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, info := range found {
		data, err := s.ReadFile(t.Context(), info.Location)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, data), "%s is whole", info.Location)
	}
}

func TestFileFaultsSayWhatToDo(t *testing.T) {
	loc := mustParse(t, "/wh/t/x")
	pathErr := func(errno syscall.Errno) error {
		return &fs.PathError{Op: "open", Path: "/private/path", Err: errno}
	}
	for _, c := range []struct {
		err  error
		code fault.Code
		says string
	}{
		{pathErr(syscall.ENOSPC), fault.Unavailable, "is full"},
		{pathErr(syscall.EDQUOT), fault.Unavailable, "is full"},
		{pathErr(syscall.EROFS), fault.Unavailable, "read-only"},
		{pathErr(syscall.EACCES), fault.Unavailable, "permissions"},
		{&os.LinkError{Op: "link", Old: "a", New: "b", Err: syscall.EPERM}, fault.Unavailable, "permissions"},
		{pathErr(syscall.EMFILE), fault.Unavailable, "Too many files"},
		{pathErr(syscall.ENAMETOOLONG), fault.Invalid, "longer"},
		{pathErr(syscall.ELOOP), fault.Forbidden, "symbolic link"},
		{pathErr(syscall.EIO), fault.Unavailable, "Try again"},
		{errors.New("anything"), fault.Unavailable, "Try again"},
	} {
		for _, mapped := range []error{readFault(loc, c.err), writeFault(loc, c.err)} {
			assert.Equal(t, c.code, fault.CodeOf(mapped), "%v", c.err)
			assert.Contains(t, fault.PublicMessage(mapped), c.says)
			assert.NotContains(t, fault.PublicMessage(mapped), "/private")
			assert.ErrorIs(t, mapped, c.err, "the cause is kept for the log")
		}
	}
	assert.Equal(t, fault.NotFound, fault.CodeOf(readFault(loc, pathErr(syscall.ENOTDIR))))
	assert.Equal(t, fault.Unavailable, fault.CodeOf(writeFault(loc, pathErr(syscall.ENOENT))), "a write finds nothing missing")
}

func TestFileStoreNeedsToWrite(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	for _, root := range []string{dir, dir + "/wh"} {
		_, err := NewFileStore(t.Context(), mustParse(t, root))
		assert.True(t, fault.Is(err, fault.Unavailable), err)
		assert.Contains(t, fault.PublicMessage(err), "permissions")
	}
}

func BenchmarkFileStore(b *testing.B) {
	root := "file://" + b.TempDir()
	s := newFileStore(b, root)
	data := bytes.Repeat([]byte("x"), 16<<10)
	b.Run("CreateFile 16 KiB", func(b *testing.B) {
		b.ReportAllocs()
		run := time.Now().UnixNano()
		for i := 0; b.Loop(); i++ {
			if err := s.CreateFile(b.Context(), fmt.Sprintf("%s/t/metadata/%d-%d", root, run, i), data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ReadFile 16 KiB", func(b *testing.B) {
		require.NoError(b, s.CreateFile(b.Context(), fmt.Sprintf("%s/t/metadata/%d", root, time.Now().UnixNano()), data))
		found, err := s.List(b.Context(), root, "", 1)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.ReadFile(b.Context(), found[0].Location); err != nil {
				b.Fatal(err)
			}
		}
	})
}
