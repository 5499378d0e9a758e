// Package reconcile reads manifests and says what a snapshot truly does: whether
// an append is one (Inspector, before the commit) and how many rows a table has
// (Counter, after it). Nothing that a client writes about itself is believed:
// not the summary, not the counts of a manifest list, where rows of others would
// depend on it.
//
// Files are written by whoever may commit, so that none may cost more than its size
// warrants: they are unpacked through small windows, and what is held at a time is
// bounded for each reader (see budget.go).
//
// It may import models, internal/fault, internal/metadata, internal/policy and
// internal/catalog (for the Inspection type), and iceberg-go for reading manifests.
package reconcile
