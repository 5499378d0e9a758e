package oidc

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-data/sluice/internal/fault"
)

// reader turns nodes of the file into values, and tells the line of what it does not understand.
type reader struct{ file string }

func (r reader) wrong(n *yaml.Node, format string, args ...any) error {
	return fault.New(fault.Invalid, "%s, line %d: %s", r.file, n.Line, fmt.Sprintf(format, args...))
}

// members reads a map: each of its keys must be one of the known, and be there once.
func (r reader) members(n *yaml.Node, what string, known map[string]func(*yaml.Node) error) error {
	return r.entries(n, what, func(key, value *yaml.Node) error {
		read, ok := known[key.Value]
		if !ok {
			return r.wrong(key, "%q is no setting of %s. There are: %s", key.Value, what, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		return read(value)
	})
}

// entries gives each key of a map with its value.
func (r reader) entries(n *yaml.Node, what string, use func(key, value *yaml.Node) error) error {
	n = target(n)
	if n.Kind != yaml.MappingNode {
		return r.wrong(n, "%s must be a map of settings", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return r.wrong(key, "the keys of %s must be names", what)
		}
		if seen[key.Value] {
			return r.wrong(key, "%s is there twice in %s", key.Value, what)
		}
		seen[key.Value] = true
		if err := use(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (r reader) each(n *yaml.Node, what string, use func(*yaml.Node) error) error {
	n = target(n)
	if n.Kind != yaml.SequenceNode {
		return r.wrong(n, "%s must be a list", what)
	}
	for _, item := range n.Content {
		if err := use(item); err != nil {
			return err
		}
	}
	return nil
}

// scalar gives a value that is not empty.
func (r reader) scalar(n *yaml.Node) (string, error) {
	n = target(n)
	if n.Kind != yaml.ScalarNode || n.Value == "" || n.Tag == "!!null" {
		return "", r.wrong(n, "a value is missing, or is no text")
	}
	return n.Value, nil
}

// scalars gives one value, or a list of them.
func (r reader) scalars(n *yaml.Node) ([]string, error) {
	if target(n).Kind != yaml.SequenceNode {
		one, err := r.scalar(n)
		return []string{one}, err
	}
	var all []string
	err := r.each(n, "the values", func(item *yaml.Node) error {
		one, err := r.scalar(item)
		all = append(all, one)
		return err
	})
	return all, err
}

func (r reader) text(to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) (err error) {
		*to, err = r.scalar(n)
		return err
	}
}

func (r reader) texts(to *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) (err error) {
		*to, err = r.scalars(n)
		return err
	}
}

func (r reader) boolean(to *bool) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		text, err := r.scalar(n)
		if err != nil {
			return err
		}
		if *to, err = strconv.ParseBool(text); err != nil || target(n).Tag != "!!bool" {
			return r.wrong(n, "%q is neither true nor false", text)
		}
		return nil
	}
}

func (r reader) location(to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		text, err := r.scalar(n)
		if err != nil {
			return err
		}
		if why := checkLocation(text); why != "" {
			return r.wrong(n, "%q %s", text, why)
		}
		*to = text
		return nil
	}
}

func (r reader) path(to *path) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		text, err := r.scalar(n)
		if err != nil {
			return err
		}
		if *to, err = parsePath(text); err != nil {
			return r.wrong(n, "%v", err)
		}
		return nil
	}
}

func (r reader) skew(to *time.Duration) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		text, err := r.scalar(n)
		if err != nil {
			return err
		}
		if *to, err = time.ParseDuration(text); err != nil || *to < 0 || *to > mostClockSkew {
			return r.wrong(n, "%q is no duration from 0s to %s, such as 30s", text, mostClockSkew)
		}
		return nil
	}
}

func (r reader) algorithms(to *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		chosen, err := r.scalars(n)
		if err != nil {
			return err
		}
		for _, name := range chosen {
			if !slices.Contains(algorithms(), name) {
				return r.wrong(n, "%q is no algorithm that is accepted. There are: %s", name, strings.Join(algorithms(), ", "))
			}
		}
		if len(chosen) == 0 {
			return r.wrong(n, "algorithms is empty: leave it out for all that are accepted")
		}
		*to = chosen
		return nil
	}
}

func (r reader) requirements(n *yaml.Node, to *[]requirement) error {
	return r.entries(n, "required-claims", func(key, value *yaml.Node) error {
		claim, err := parsePath(key.Value)
		if err != nil {
			return r.wrong(key, "%v", err)
		}
		values, err := r.scalars(value)
		if err != nil {
			return err
		}
		if len(values) == 0 {
			return r.wrong(value, "required-claims has no value for %s", key.Value)
		}
		*to = append(*to, requirement{claim: claim, values: values})
		return nil
	})
}

func (r reader) rules(n *yaml.Node, what string, to *rules) error {
	return r.each(n, what, func(item *yaml.Node) error {
		var from, replacement string
		err := r.members(item, what, map[string]func(*yaml.Node) error{"from": r.text(&from), "to": r.text(&replacement)})
		if err != nil {
			return err
		}
		one, err := newRule(from, replacement)
		if err != nil {
			return r.wrong(item, "%s: %v", what, err)
		}
		*to = append(*to, one)
		return nil
	})
}

// target gives the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
