package config

import "log/slog"

const redacted = "[redacted]"

// Secret is a value that no log line, error or dump shows. Reveal gives it to the one who must have it.
type Secret string

// Reveal gives the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret; the empty one stays empty, so that "not set" can be told.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the secret from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret from JSON, YAML and the like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
