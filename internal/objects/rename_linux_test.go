package objects

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRenameNoReplace is about file systems without hard links, where a created file gets its name by it.
func TestRenameNoReplace(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"temp", "taken"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
	folder, err := os.Open(dir)
	require.NoError(t, err)
	defer folder.Close()
	require.ErrorIs(t, renameNoReplace(folder, "temp", "taken"), os.ErrExist)
	require.NoError(t, renameNoReplace(folder, "temp", "new"))
	data, err := os.ReadFile(filepath.Join(dir, "new"))
	require.NoError(t, err)
	assert.Equal(t, "temp", string(data))
	assert.NoFileExists(t, filepath.Join(dir, "temp"))
}
