package docs_test

import (
	"go/ast"
	"go/parser"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/config"
)

// command is one command of cmd/sluice, as its source declares it.
type command struct {
	name     string
	children []string // names of the methods that make them
}

func TestQuotedCommandsExist(t *testing.T) {
	t.Parallel()
	commands, flags := declared(t)
	quoted := 0
	for _, page := range pages(t) {
		for _, line := range commandLines(read(t, page)) {
			quoted++
			assertCommand(t, page, line, commands)
			for _, m := range regexp.MustCompile(`(?:^|\s)--([a-z0-9-]+)`).FindAllStringSubmatch(line, -1) {
				assert.True(t, flags[m[1]], "%s quotes `sluice %s`, and there is no flag --%s", page, line, m[1])
			}
		}
	}
	assert.Greater(t, quoted, 10, "command lines were found at all")
}

func assertCommand(t *testing.T, page, line string, commands map[string]command) {
	t.Helper()
	at := commands["root"]
	for _, word := range strings.Fields(line) {
		next, ok := child(commands, at, word)
		if !ok {
			unknown := len(at.children) > 0 && !strings.HasPrefix(word, "-")
			assert.False(t, unknown, "%s quotes `sluice %s`, and there is no command %q", page, line, word)
			return
		}
		at = next
	}
}

func child(commands map[string]command, of command, name string) (command, bool) {
	for _, method := range of.children {
		if commands[method].name == name {
			return commands[method], true
		}
	}
	return command{}, false
}

// commandLines gives what follows the program's name in code: lines of blocks, and inline code.
func commandLines(text string) []string {
	program := regexp.MustCompile(`(?:^|\$\()(?:go run \./cmd/sluice|(?:bin/)?sluice) ([^|#)]+)`)
	var lines []string
	find := func(code string) {
		if m := program.FindStringSubmatch(strings.TrimSpace(code)); m != nil {
			lines = append(lines, m[1])
		}
	}
	for _, block := range fence.FindAllString(text, -1) {
		for line := range strings.SplitSeq(strings.ReplaceAll(block, "\\\n", " "), "\n") {
			find(line)
		}
	}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(withoutCode(text), -1) {
		find(m[1])
	}
	return lines
}

// declared reads cmd/sluice: a method whose name ends in Command, or is root, makes a command; the ones it calls make
// its children. Flags are the names given to flag sets, one by one or as keys of a map, and the settings.
func declared(t *testing.T) (map[string]command, map[string]bool) {
	t.Helper()
	commands, flags := map[string]command{}, map[string]bool{"help": true}
	for _, s := range config.Default().Settings() {
		flags[s.Name] = !s.Secret
	}
	for _, file := range goFiles(t, "cmd/sluice") {
		for _, d := range parse(t, file, parser.SkipObjectResolution).Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			found := command{}
			ast.Inspect(f.Body, func(n ast.Node) bool { return found.note(n, flags) })
			if f.Name.Name == "root" || strings.HasSuffix(f.Name.Name, "Command") {
				commands[f.Name.Name] = found
			}
		}
	}
	require.Equal(t, "sluice", commands["root"].name)
	return commands, flags
}

// note takes down what one piece of a command's source declares.
func (c *command) note(n ast.Node, flags map[string]bool) bool {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Use" && c.name == "" {
			c.name = firstWord(n.Value)
		}
		if key := firstWord(n.Key); key != "" {
			flags[key] = true
		}
	case *ast.CallExpr:
		c.noteCall(n, flags)
	}
	return true
}

func (c *command) noteCall(n *ast.CallExpr, flags map[string]bool) {
	if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "group" && len(n.Args) > 0 {
		c.name = firstWord(n.Args[0])
	}
	called, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch name := called.Sel.Name; {
	case strings.HasSuffix(name, "Command") && len(n.Args) == 0:
		c.children = append(c.children, name)
	case regexp.MustCompile(`^(String|Bool|Int|Duration|Var)`).MatchString(name) || name == "VarPF":
		for _, arg := range n.Args {
			if word := firstWord(arg); word != "" {
				flags[word] = true
				break
			}
		}
	}
}

func firstWord(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	word, _, _ := strings.Cut(text, " ")
	return word
}
