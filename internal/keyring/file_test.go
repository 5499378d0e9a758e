package keyring

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestReadOrCreateMakesOneRing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "encryption.key")
	const many = 16
	ids := make([]string, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			r, err := ReadOrCreate(path)
			if err == nil {
				ids[i] = r.IDs()[0] + string(r.keys[0].secret)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		require.NotEmpty(t, id)
		require.Equal(t, ids[0], id, "two processes have different keys")
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is left beside the file")
}

func TestReadOrCreateReadsRotatedKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "encryption.key")
	text := "new:" + encoded("1") + ",\nold:" + encoded("2") + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o400))
	r, err := ReadOrCreate(path)
	require.NoError(t, err)
	require.Equal(t, []string{"new", "old"}, r.IDs())
}

func TestReadOrCreateRefuses(t *testing.T) {
	good := "k1:" + encoded("1")
	write := func(text string, mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			require.NoError(t, os.Chmod(path, mode))
		}
	}
	for name, c := range map[string]struct {
		prepare func(*testing.T, string)
		says    string
	}{
		"what the group reads":  {write(good, 0o640), "chmod 600"},
		"what others write":     {write(good, 0o602), "chmod 600"},
		"an empty file":         {write("", 0o600), "no encryption key"},
		"what is no key":        {write("k1:"+encoded("1")[:30], 0o600), "key 1"},
		"a folder":              {func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, "no file"},
		"what is much too long": {write(string(make([]byte, fileLimit+1)), 0o600), "too long"},
		"a link that leads nowhere": {func(t *testing.T, path string) {
			require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "gone"), path))
		}, "cannot be opened"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "encryption.key")
			c.prepare(t, path)
			_, err := ReadOrCreate(path)
			require.Error(t, err)
			message := fault.PublicMessage(err)
			require.Contains(t, message, c.says)
			require.Contains(t, message, path)
			require.NotContains(t, err.Error(), encoded("1")[:12])
		})
	}
	_, err := ReadOrCreate(filepath.Join(t.TempDir(), "no such folder", "encryption.key"))
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
}
