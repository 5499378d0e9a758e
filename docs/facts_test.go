package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/models"
)

// stringsIn gives the text of every string literal in a file.
func stringsIn(t *testing.T, file string) []string {
	t.Helper()
	var found []string
	ast.Inspect(parse(t, file, parser.SkipObjectResolution), func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}

func TestGovernanceRoutesAreDocumented(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, file := range goFiles(t, "api/governance") {
		text.WriteString(read(t, file))
	}
	paths := map[string]string{} // by the name of the constant
	for _, m := range regexp.MustCompile(`const (\w+) = ("/[^"]*")`).FindAllStringSubmatch(text.String(), -1) {
		paths[m[1]] = m[2]
	}
	var routes []string
	for _, m := range regexp.MustCompile(`\.(GET|POST|PUT|DELETE|PATCH)\((\w+|"[^"]+"), `).FindAllStringSubmatch(text.String(), -1) {
		path := m[2]
		if named, ok := paths[path]; ok {
			path = named
		}
		routes = append(routes, m[1]+" "+regexp.MustCompile(`:(\w+)`).ReplaceAllString(strings.Trim(path, `"`), "{$1}"))
	}
	assert.ElementsMatch(t, routes, firstCells(section(t, "docs/governance-api.md", "## Routes")))
}

// TestFindingsAreDocumented: each kind has its severity in the table, and a heading that alerts and rows link to.
func TestFindingsAreDocumented(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/findings.md")
	headings := anchors(page)
	for _, kind := range models.FindingKinds() {
		assert.Contains(t, headings, string(kind), "docs/findings.md has no section %s", kind)
		assert.Contains(t, page, fmt.Sprintf("| [`%[1]s`](#%[1]s) | %s |", kind, kind.Severity()))
	}
	assert.Equal(t, len(models.FindingKinds()), strings.Count(page, "| [`"), "kinds in the table of docs/findings.md")
}

func TestAuditEventsAreDocumented(t *testing.T) {
	t.Parallel()
	var events []string
	ast.Inspect(parse(t, "models/audit.go", parser.SkipObjectResolution), func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "AuditType" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				assert.NoError(t, err)
				events = append(events, text)
			}
		}
		return true
	})
	assert.ElementsMatch(t, events, firstCells(section(t, "docs/audit.md", "## Events")))
}

// TestSettingsAreDocumented holds the table of settings to the very words of the program.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	var want, have []string
	for _, s := range config.Default().Settings() {
		value := s.Value.String()
		if value != "" {
			value = "`" + value + "`"
		}
		want = append(want, "| `"+s.Name+"` | "+value+" | "+scopeName(s.Scope)+" | "+s.Usage+" |")
	}
	for line := range strings.SplitSeq(section(t, "docs/operations.md", "## Settings"), "\n") {
		if strings.HasPrefix(line, "| `") {
			have = append(have, line)
		}
	}
	for _, line := range want {
		assert.True(t, slices.Contains(have, line), "docs/operations.md lacks the setting\n%s", line)
	}
	assert.Len(t, have, len(want), "settings in docs/operations.md")
}

func scopeName(s config.Scope) string {
	switch s {
	case config.Embedded:
		return "serve"
	case config.External:
		return "api, worker"
	case config.Serving:
		return "serve, api"
	case config.Governing:
		return "serve, worker"
	case config.Founding:
		return "serve, root create"
	}
	return "all"
}

func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^sluice_[a-z_]+$`)
	var metrics []string
	for _, folder := range []string{"api", "internal", "cmd", "worker"} {
		for _, file := range goFiles(t, folder) {
			if strings.HasPrefix(file, "internal/setup/") { // members of its files have such names
				continue
			}
			for _, text := range stringsIn(t, file) {
				if text == "sluice_system" { // a namespace
					continue
				}
				if name.MatchString(text) && !slices.Contains(metrics, text) {
					metrics = append(metrics, text)
				}
			}
		}
	}
	assert.ElementsMatch(t, metrics, firstCells(section(t, "docs/operations.md", "## Metrics")))
}

// TestImportTableHolds compares the table of docs/architecture.md with what each folder really imports of ours. The
// linter proves the forbidden half of it; this proves that the table itself is neither too short nor out of date.
func TestImportTableHolds(t *testing.T) {
	t.Parallel()
	allowed := importTable(t)
	used := map[string][]string{}
	forTests := regexp.MustCompile(`test/[^/]+$`) // helpers such as internal/store/storetest
	for _, file := range goFiles(t, "") {
		folder := ruleOf(file, allowed)
		if folder == "" || forTests.MatchString(file) {
			continue
		}
		for _, spec := range parse(t, file, parser.ImportsOnly).Imports {
			imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), modulePath+"/")
			if !ours || imported == folder || strings.HasPrefix(imported, folder+"/") {
				continue
			}
			used[folder] = append(used[folder], imported)
			assert.Contains(t, allowed[folder], imported, "%s imports %s; the table in docs/architecture.md does not say that %s may", file, imported, folder)
		}
	}
	for folder, may := range allowed {
		for _, imported := range may {
			assert.Contains(t, used[folder], imported, "docs/architecture.md says that %s imports %s", folder, imported)
		}
	}
}

// importTable reads the rows of the table: a folder, and in its second column what it imports.
func importTable(t *testing.T) map[string][]string {
	t.Helper()
	table := map[string][]string{}
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.SplitSeq(section(t, "docs/architecture.md", "## What may import what"), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		folder := quoted.FindStringSubmatch(cells[1])[1]
		table[folder] = nil
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			table[folder] = append(table[folder], m[1])
		}
	}
	return table
}

// ruleOf gives the row that a file falls under: the longest folder that it lies in.
func ruleOf(file string, table map[string][]string) string {
	best := ""
	for folder := range table {
		if strings.HasPrefix(file, folder+"/") && len(folder) > len(best) {
			best = folder
		}
	}
	return best
}

func TestDataRoutesAreDocumented(t *testing.T) {
	t.Parallel()
	text := read(t, "api/data/handler.go")
	paths := map[string]string{} // by the name of the constant
	for _, m := range regexp.MustCompile(`(\w+Path) += ("/[^"]*")`).FindAllStringSubmatch(text, -1) {
		paths[m[1]] = m[2]
	}
	var routes []string
	for _, m := range regexp.MustCompile(`\.(GET|POST|PUT|DELETE|PATCH)\((\w+|"[^"]+"), `).FindAllStringSubmatch(text, -1) {
		path := m[2]
		if named, ok := paths[path]; ok {
			path = named
		}
		routes = append(routes, m[1]+" "+regexp.MustCompile(`:(\w+)`).ReplaceAllString(strings.Trim(path, `"`), "{$1}"))
	}
	assert.ElementsMatch(t, routes, firstCells(section(t, "docs/rows.md", "## Routes")))
}
