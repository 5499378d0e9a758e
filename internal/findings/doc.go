// Package findings says what is wrong with commits, writers and tables, and with what evidence. It is pure: it imports models,
// internal/metadata, internal/policy and internal/writers alone.
package findings
