package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFolderMapMatchesTheFolders(t *testing.T) {
	t.Parallel()
	mapped := firstCells(section(t, "README.md", "## Folders"))
	assert.ElementsMatch(t, folders(t), mapped, "the table under Folders in README.md")
}

// folders gives the top-level folders and those of internal, as far as they hold files that are kept.
func folders(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, parent := range []string{"", "internal"} {
		entries, err := os.ReadDir(filepath.Join(root, parent))
		require.NoError(t, err)
		for _, e := range entries {
			name := filepath.ToSlash(filepath.Join(parent, e.Name()))
			if e.IsDir() && name != "internal" && !strings.HasPrefix(e.Name(), ".") && !ignored(t, name) && holdsFiles(t, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// ignored tells whether .gitignore leaves a folder out.
func ignored(t *testing.T, folder string) bool {
	return slices.Contains(strings.Split(read(t, ".gitignore"), "\n"), "/"+folder+"/")
}

func holdsFiles(t *testing.T, folder string) bool {
	t.Helper()
	holds := false
	err := filepath.WalkDir(filepath.Join(root, folder), func(_ string, d fs.DirEntry, err error) error {
		holds = holds || err == nil && !d.IsDir()
		return err
	})
	require.NoError(t, err)
	return holds
}

func TestReadmeNamesTheTestCommand(t *testing.T) {
	t.Parallel()
	lines := strings.Split(read(t, "README.md"), "\n")
	first := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "go test ") })
	require.Positive(t, first, "README.md has a line that starts with go test")
	assert.Equal(t, "```sh", lines[first-1], "the test command stands alone in a block")
	assert.Equal(t, "```", lines[first+1])
}
