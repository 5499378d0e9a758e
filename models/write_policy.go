package models

import "fmt"

// WritePolicy says what outside engines may commit to a table.
type WritePolicy string

// The write policies, from the strictest to the most open.
const (
	GovernedOnly WritePolicy = "governed_only" // no external commit at all; the default
	OpenAppend   WritePolicy = "open_append"   // verified appends and additive changes
	OpenFull     WritePolicy = "open_full"     // every commit the principal's privileges allow
)

// ParseWritePolicy reads a policy's name.
func ParseWritePolicy(s string) (WritePolicy, error) {
	switch p := WritePolicy(s); p {
	case GovernedOnly, OpenAppend, OpenFull:
		return p, nil
	}
	return "", fmt.Errorf("write policy %q is not one of governed_only, open_append, open_full", s)
}
