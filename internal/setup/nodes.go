package setup

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-data/sluice/models"
)

// member is one member of a map.
type member struct {
	key   string
	node  *yaml.Node // of the key
	value *yaml.Node
}

// entries gives the members of a map whose keys are the user's. Nothing at all is an empty map.
func (p *parser) entries(n *yaml.Node, what string) []member {
	n = resolved(n)
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		p.fail(n, "%s must be a map", what)
		return nil
	}
	var out []member
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolved(n.Content[i])
		if key.Kind != yaml.ScalarNode || isNull(key) {
			p.fail(key, "%s has a key that is no name", what)
			continue
		}
		if seen[key.Value] {
			p.fail(key, "%s has %s twice", what, key.Value)
			continue
		}
		seen[key.Value] = true
		out = append(out, member{key.Value, key, resolved(n.Content[i+1])})
	}
	return out
}

// members gives those of a map whose keys are ours. One without a value is as if it were not there.
func (p *parser) members(n *yaml.Node, what string, known ...string) []member {
	return slices.DeleteFunc(p.entries(n, what), func(m member) bool {
		unknown := !slices.Contains(known, m.key)
		if unknown {
			p.fail(m.node, "%s has a member %q, which there is not: it may have %s", what, m.key, strings.Join(known, ", "))
		}
		return unknown || isNull(m.value)
	})
}

// items gives those of a list. Nothing at all is an empty list.
func (p *parser) items(n *yaml.Node, what string) []*yaml.Node {
	n = resolved(n)
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		p.fail(n, "%s must be a list", what)
		return nil
	}
	out := make([]*yaml.Node, 0, len(n.Content))
	for _, item := range n.Content {
		out = append(out, resolved(item))
	}
	return out
}

// names is a list of texts; it is not nil, because the file says that it is all there is to be.
func (p *parser) names(n *yaml.Node, what string) []string {
	names := []string{}
	for _, item := range p.items(n, what) {
		if name := p.text(item, "an item of "+what); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// text is a value that is not a map, a list or nothing, as it is written.
func (p *parser) text(n *yaml.Node, what string) string {
	n = resolved(n)
	if n.Kind != yaml.ScalarNode || isNull(n) || n.Value == "" {
		p.fail(n, "%s must be a text", what)
		return ""
	}
	return n.Value
}

func (p *parser) flag(n *yaml.Node, what string) bool {
	var b bool
	if n = resolved(n); n.Kind != yaml.ScalarNode || n.Decode(&b) != nil {
		p.fail(n, "%s must be true or false", what)
	}
	return b
}

func (p *parser) properties(n *yaml.Node, what string) map[string]string {
	out := map[string]string{}
	for _, m := range p.entries(n, what) {
		if m.value.Kind != yaml.ScalarNode || isNull(m.value) {
			p.fail(m.value, "property %s must be a text", m.key)
			continue
		}
		out[m.key] = m.value.Value
	}
	return out
}

// levels is a namespace: a dotted name or a list of levels.
func (p *parser) levels(n *yaml.Node) []string {
	n = resolved(n)
	var levels []string
	if n.Kind == yaml.SequenceNode {
		for _, item := range p.items(n, "a namespace") {
			levels = append(levels, p.text(item, "a level of a namespace"))
		}
	} else if name := p.text(n, "a namespace"); name != "" {
		levels = strings.Split(name, ".")
	}
	if slices.Contains(levels, "") {
		p.fail(n, "a namespace has an empty level")
		return nil
	}
	return levels
}

// entityName checks a name by the rules that the server has for all.
func (p *parser) entityName(n *yaml.Node, name string) {
	if flaw := models.NameFlaw(name); name == "" {
		p.fail(n, "a name is missing")
	} else if flaw != "" {
		p.fail(n, "the name %.300q %s", name, flaw)
	}
}

// resolved gives what an alias stands for. The file has a fixed depth, so that an alias of itself ends.
func resolved(n *yaml.Node) *yaml.Node {
	for range 8 {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
