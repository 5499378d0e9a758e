package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinksResolve(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(withoutCode(read(t, page)), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			if target != "" && !assert.True(t, exists(page, target), "%s links to %s", page, m[1]) {
				continue
			}
			file := page
			if target != "" {
				file = path.Join(path.Dir(page), target)
			}
			if anchor != "" {
				assert.Contains(t, anchors(read(t, file)), anchor, "%s links to %s", page, m[1])
			}
		}
	}
}

func TestEveryPageIsReachable(t *testing.T) {
	t.Parallel()
	for _, index := range []struct{ page, prefix string }{
		{"docs/README.md", "docs/"}, {"docs/adr/README.md", "docs/adr/"}, {"CONTRIBUTING.md", "contributing/"},
	} {
		text := read(t, index.page)
		for _, page := range pages(t) {
			if rest, ok := strings.CutPrefix(page, index.prefix); ok && page != index.page && !strings.Contains(rest, "/") {
				name := strings.TrimPrefix(page, path.Dir(index.page)+"/")
				assert.Contains(t, text, "]("+name+")", "%s lists %s", index.page, page)
			}
		}
	}
}

var fence = regexp.MustCompile("(?ms)^```.*?^```") //nolint:gochecknoglobals // compiled once

func withoutCode(text string) string { return fence.ReplaceAllString(text, "") }

// anchors gives the names that GitHub gives the headings of a page.
func anchors(text string) []string {
	var names []string
	for line := range strings.SplitSeq(withoutCode(text), "\n") {
		marks, title, ok := strings.Cut(line, " ")
		if !ok || marks == "" || strings.Trim(marks, "#") != "" {
			continue
		}
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, title))
	}
	return names
}

// TestNamedTestsAndPathsExist: what stands in backticks and looks like a test or a path of the repository is one.
func TestNamedTestsAndPathsExist(t *testing.T) {
	t.Parallel()
	tests := testNames(t)
	repoPath := regexp.MustCompile(`^(activities|api|bench|cmd|deploy|docs|e2e|internal|migrations|models|worker|workflows)/[\w./-]+$`)
	for _, page := range pages(t) {
		for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(withoutCode(read(t, page)), -1) {
			switch {
			case regexp.MustCompile(`^(Test|Benchmark|Fuzz)[A-Z]\w+$`).MatchString(m[1]):
				assert.True(t, tests[m[1]], "%s names %s", page, m[1])
			case repoPath.MatchString(m[1]):
				assert.True(t, exists("README.md", m[1]), "%s names %s", page, m[1])
			}
		}
	}
}

func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, "_test.go") {
			return err
		}
		data, err := os.ReadFile(p)
		for _, m := range declared.FindAllSubmatch(data, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	require.NoError(t, err)
	return names
}
