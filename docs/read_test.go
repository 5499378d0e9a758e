package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository, seen from the folder that tests of this package run in.
const root = ".."

const modulePath = "github.com/sluice-data/sluice"

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(data)
}

// pages gives the paths of all documentation.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"README.md", "CONTRIBUTING.md"}
	for _, folder := range []string{"docs", "contributing"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(p string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(p, ".md") {
				rel, relErr := filepath.Rel(root, p)
				require.NoError(t, relErr)
				found = append(found, filepath.ToSlash(rel))
			}
			return err
		})
		require.NoError(t, err)
	}
	return found
}

// section gives the text between a heading and the next one of its level or above.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	lines := strings.Split(read(t, page), "\n")
	from := slices.Index(lines, heading)
	require.GreaterOrEqual(t, from, 0, "%s has no line %q", page, heading)
	level := strings.Count(strings.Fields(heading)[0], "#")
	for i := from + 1; i < len(lines); i++ {
		if marks, _, ok := strings.Cut(lines[i], " "); ok && marks != "" && strings.Trim(marks, "#") == "" && len(marks) <= level {
			return strings.Join(lines[from+1:i], "\n")
		}
	}
	return strings.Join(lines[from+1:], "\n")
}

// firstCells gives what stands in backticks in the first column of every table row of a text, in order.
func firstCells(text string) []string {
	var cells []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		first, _, _ := strings.Cut(line[2:], " |")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
			cells = append(cells, m[1])
		}
	}
	return cells
}

// goFiles gives the paths of the Go files below a folder, tests left out.
func goFiles(t *testing.T, folder string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(folder)), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go") {
			rel, err := filepath.Rel(root, p)
			files = append(files, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	require.NoError(t, err)
	return files
}

func parse(t *testing.T, file string, mode parser.Mode) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(file)), nil, mode)
	require.NoError(t, err)
	return f
}

// exists tells whether a path, relative to a page, names something in the repository.
func exists(page, target string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(page), target))))
	return err == nil
}
