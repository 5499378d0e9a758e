package catalog

import (
	"strings"
	"unicode/utf8"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	maxNameBytes = 1024
	maxLevels    = 32
)

// checkName refuses names that no client could address or no database store: empty ones, control characters (the
// unit separator among them), broken UTF-8. Everything else the specification allows, dots and slashes included.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fault.New(fault.Invalid, "A %s must not be empty.", what)
	case len(name) > maxNameBytes:
		return fault.New(fault.Invalid, "A %s has at most %d bytes.", what, maxNameBytes)
	case !utf8.ValidString(name):
		return fault.New(fault.Invalid, "The %s is not valid UTF-8.", what)
	case strings.ContainsFunc(name, isControl):
		return fault.New(fault.Invalid, "The %s %q has a control character.", what, name)
	}
	return nil
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

func checkLevels(levels []string) error {
	if len(levels) == 0 {
		return fault.New(fault.Invalid, "A namespace has at least one level.")
	}
	if len(levels) > maxLevels {
		return fault.New(fault.Invalid, "A namespace has at most %d levels.", maxLevels)
	}
	for _, level := range levels {
		if err := checkName("namespace level", level); err != nil {
			return err
		}
	}
	return nil
}

// pathSegment makes a name fit for one segment of a location: readable, and never a separator, an escape or a dot path.
func pathSegment(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, name)
	if strings.Trim(clean, ".") == "" {
		return "_" + strings.ReplaceAll(clean, ".", "_")
	}
	return clean[:min(len(clean), 100)]
}
