package setup

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-data/sluice/models"
)

// MaxFile bounds a file, in bytes.
const MaxFile = 16 << 20

// Note says of a line of a file that it was left out, and why.
type Note struct {
	Line int
	Text string
}

// FileErrors are what is wrong with a file, in order of its lines.
type FileErrors []Note

// Error gives the problems, one a line.
func (p FileErrors) Error() string {
	lines := make([]string, 0, len(p))
	for _, problem := range p {
		lines = append(lines, fmt.Sprintf("line %d: %s", problem.Line, problem.Text))
	}
	return strings.Join(lines, "\n")
}

// Parse reads a file. It is strict: what it does not know, and what a server would refuse, is FileErrors. Notes name what
// Polaris knows and Sluice has none of, which is left out.
func Parse(data []byte) (State, []Note, error) {
	if len(data) > MaxFile {
		return State{}, nil, fmt.Errorf("the file is larger than %d MiB", MaxFile>>20)
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return State{}, nil, errors.New("the file is empty: it may hold principals, principal_roles and catalogs")
	} else if err != nil {
		return State{}, nil, fmt.Errorf("the file is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return State{}, nil, errors.New("the file holds more than one YAML document: put all into one")
	}
	p := &parser{}
	state := p.file(document.Content[0])
	if len(p.problems) > 0 {
		slices.SortStableFunc(p.problems, func(a, b Note) int { return a.Line - b.Line })
		return State{}, nil, p.problems
	}
	return state, p.notes, nil
}

// parser collects what is wrong.
type parser struct {
	problems FileErrors
	notes    []Note
}

func (p *parser) fail(n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, Note{n.Line, fmt.Sprintf(format, args...)})
}

func (p *parser) note(n *yaml.Node, format string, args ...any) {
	p.notes = append(p.notes, Note{n.Line, fmt.Sprintf(format, args...)})
}

func (p *parser) file(n *yaml.Node) State {
	var s State
	for _, m := range p.members(n, "the file", "principals", "principal_roles", "catalogs") {
		switch m.key {
		case "principals":
			s.Principals = p.principals(m.value)
		case "principal_roles":
			s.PrincipalRoles = p.principalRoles(m.value)
		case "catalogs":
			s.Catalogs = p.catalogs(m.value)
		}
	}
	return s
}

func (p *parser) principals(n *yaml.Node) map[string]Principal {
	principals := map[string]Principal{}
	for _, m := range p.entries(n, "principals") {
		p.entityName(m.node, m.key)
		principals[m.key] = p.principal(m.value, "principal "+m.key)
	}
	return principals
}

func (p *parser) principal(n *yaml.Node, whose string) Principal {
	var out Principal
	for _, m := range p.members(n, whose, "type", "properties", "roles", "clearance", "disabled") {
		switch m.key {
		case "type":
			if t := p.text(m.value, m.key); t != "" && !strings.EqualFold(t, "service") {
				p.fail(m.value, "%s is of type %s: the only type there is is service", whose, t)
			}
		case "properties":
			out.Properties = p.properties(m.value, "properties of "+whose)
		case "roles":
			out.Roles = p.names(m.value, "roles of "+whose)
		case "clearance":
			level, err := models.ParseClassification(p.text(m.value, m.key))
			if err != nil {
				p.fail(m.value, "the clearance of %s is wrong: %v", whose, err)
			}
			out.Clearance = level
		case "disabled":
			disabled := p.flag(m.value, m.key)
			out.Disabled = &disabled
		}
	}
	return out
}

// principalRoles is a list of names, or of maps with a name.
func (p *parser) principalRoles(n *yaml.Node) map[string]PrincipalRole {
	roles := map[string]PrincipalRole{}
	for _, item := range p.items(n, "principal_roles") {
		var name string
		var role PrincipalRole
		if item.Kind == yaml.ScalarNode {
			name = p.text(item, "a principal role")
		} else {
			for _, m := range p.members(item, "a principal role", "name", "properties", "federated") {
				switch m.key {
				case "name":
					name = p.text(m.value, m.key)
				case "properties":
					role.Properties = p.properties(m.value, "properties of a principal role")
				case "federated":
					federated := p.flag(m.value, m.key)
					role.Federated = &federated
				}
			}
		}
		p.entityName(item, name)
		if _, twice := roles[name]; twice {
			p.fail(item, "principal role %s is there twice", name)
		}
		roles[name] = role
	}
	return roles
}
