package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-data/sluice/internal/fault"
)

// Source says where a setting's value came from.
type Source string

// The sources, from the strongest to the weakest.
const (
	FromFlag        Source = "flag"
	FromEnvironment Source = "environment"
	FromFile        Source = "file"
	FromDefault     Source = "default"
)

// Sources are what Fill reads beside the flags, which are parsed into the Config before.
type Sources struct {
	File      string                      // path of the YAML file, "" for none
	LookupEnv func(string) (string, bool) // such as os.LookupEnv
	FlagGiven func(name string) bool      // tells whether the command line set the setting
}

// Fill sets what the flags left: from the environment, else from the file. It gives each setting's source.
func (c *Config) Fill(from Sources) (map[string]Source, error) {
	inFile, err := readFile(from.File)
	if err != nil {
		return nil, err
	}
	sources := map[string]Source{}
	for _, s := range c.Settings() {
		source, err := s.fill(from, inFile)
		if err != nil {
			return nil, err
		}
		sources[s.Name] = source
		delete(inFile, s.Name)
	}
	if unknown := slices.Sorted(maps.Keys(inFile)); len(unknown) > 0 {
		return nil, fault.New(fault.Invalid, "%s has an unknown setting: %s. `sluice config` lists those there are",
			from.File, strings.Join(unknown, ", "))
	}
	return sources, nil
}

func (s Setting) fill(from Sources, inFile map[string]string) (Source, error) {
	if from.FlagGiven(s.Name) {
		return FromFlag, nil
	}
	if text, ok := from.LookupEnv(s.Env()); ok && text != "" {
		if err := s.Value.Set(text); err != nil {
			return "", fault.New(fault.Invalid, "the environment variable %s is wrong: %v", s.Env(), err)
		}
		return FromEnvironment, nil
	}
	if text, ok := inFile[s.Name]; ok {
		if err := s.Value.Set(text); err != nil {
			return "", fault.New(fault.Invalid, "%s in %s is wrong: %v", s.Name, from.File, err)
		}
		return FromFile, nil
	}
	return FromDefault, nil
}

// readFile gives the file's settings as text; lists are joined by commas.
func readFile(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Invalid, "the configuration file %s does not exist", path)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "the configuration file %s cannot be read", path)
	}
	var nodes map[string]yaml.Node
	if err := yaml.Unmarshal(data, &nodes); err != nil {
		return nil, fault.New(fault.Invalid, "the configuration file %s is not a YAML map of settings: %v", path, err)
	}
	settings := make(map[string]string, len(nodes))
	for name, node := range nodes {
		if settings[name], err = scalar(&node); err != nil {
			return nil, fault.New(fault.Invalid, "%s in %s %v", name, path, err)
		}
	}
	return settings, nil
}

func scalar(node *yaml.Node) (string, error) {
	switch node.Kind {
	case yaml.ScalarNode:
		return node.Value, nil
	case yaml.SequenceNode:
		items := make([]string, 0, len(node.Content))
		for _, item := range node.Content {
			text, err := scalar(item)
			if err != nil {
				return "", err
			}
			items = append(items, text)
		}
		return strings.Join(items, ","), nil
	}
	return "", fmt.Errorf("is neither a value nor a list of values")
}
