// Package reconcile reads manifests and says what a snapshot truly does: whether
// an append is one (Inspector, before the commit) and how many rows a table has
// (Counter, after it). Nothing that a client writes about itself is believed:
// not the summary, not the counts of a manifest list, where rows of others would
// depend on it.
//
// Deletes are applied as readers apply them: position deletes and deletion vectors
// by their positions, equality deletes by reading their columns of the data files
// that they reach, once (see counted.go). What cannot be applied for certain makes a
// count inexact, never a guess.
//
// Files are written by whoever may commit, so that none may cost more than its size
// warrants: they are unpacked through small windows, and what is held at a time is
// bounded for each reader (see budget.go, exact.go and content.go).
//
// It may import models, internal/fault, internal/cache, internal/metadata, internal/policy,
// internal/objects (for files that are read in parts) and internal/catalog (for the
// Inspection type), iceberg-go for reading manifests and deletion vectors, and
// arrow-go for reading Parquet.
package reconcile
