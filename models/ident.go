package models

import "strings"

// levelSeparator joins namespace levels in keys: the unit separator, which no
// sensible level contains and which the REST spec uses as its default.
const levelSeparator = "\x1f"

// NamespaceKey is a namespace's levels joined by the unit separator: unique within a catalog, sortable by prefix.
type NamespaceKey string

// KeyOf makes the key of the levels.
func KeyOf(levels []string) NamespaceKey { return NamespaceKey(strings.Join(levels, levelSeparator)) }

// Levels gives the levels again.
func (k NamespaceKey) Levels() []string {
	if k == "" {
		return nil
	}
	return strings.Split(string(k), levelSeparator)
}

// Parent gives the key one level up, "" for a top-level namespace.
func (k NamespaceKey) Parent() NamespaceKey {
	i := strings.LastIndex(string(k), levelSeparator)
	if i < 0 {
		return ""
	}
	return k[:i]
}

// String gives the levels joined by dots, for messages.
func (k NamespaceKey) String() string { return strings.Join(k.Levels(), ".") }

// TableIdent names a table or view within a catalog.
type TableIdent struct {
	Namespace []string `json:"namespace"`
	Name      string   `json:"name"`
}

// String gives the dotted name, for messages.
func (t TableIdent) String() string {
	if len(t.Namespace) == 0 {
		return t.Name
	}
	return strings.Join(t.Namespace, ".") + "." + t.Name
}
