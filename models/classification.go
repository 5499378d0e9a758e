package models

import "fmt"

// Classification is how sensitive a table's content is.
type Classification string

// The levels, from the least to the most sensitive.
const (
	Public       Classification = "public"
	Internal     Classification = "internal" // the default
	Confidential Classification = "confidential"
	Restricted   Classification = "restricted"
)

// ParseClassification reads a level's name.
func ParseClassification(s string) (Classification, error) {
	c := Classification(s)
	if c.Rank() < 0 {
		return "", fmt.Errorf("classification %q is not one of public, internal, confidential, restricted", s)
	}
	return c, nil
}

// Rank orders the levels: 0 for public up to 3 for restricted, -1 for an unknown name.
func (c Classification) Rank() int {
	switch c {
	case Public:
		return 0
	case Internal:
		return 1
	case Confidential:
		return 2
	case Restricted:
		return 3
	}
	return -1
}

// ColumnGovernance is what governance says of one column.
type ColumnGovernance struct {
	Sensitivity Classification `json:"sensitivity,omitempty"`
	Tag         string         `json:"tag,omitempty"`  // such as email, phone, iban
	Mask        string         `json:"mask,omitempty"` // null, redact, partial, hash, truncate
}

// ParseMask checks a mask's name; empty means the default mask.
func ParseMask(s string) (string, error) {
	switch s {
	case "", "null", "redact", "partial", "hash", "truncate":
		return s, nil
	}
	return "", fmt.Errorf("mask %q is not one of null, redact, partial, hash, truncate", s)
}
