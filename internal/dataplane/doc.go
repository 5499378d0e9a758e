// Package dataplane is the governed way to rows, for those who hold no storage keys: queries that see what the caller's
// clearance and row filters leave, and writes that classify and audit every row before it lands.
//
// What a caller sees of a table is decided once, by internal/policy, and kept in a lens. Everything that leaves the
// package went through it: answers, pages, previews, profiles, and the numbers beside them. Two tables that differ only
// in what the lens hides are answered alike.
//
// It may import models, internal/fault, internal/metadata, internal/policy, internal/catalog, internal/contend, internal/idempotency,
// internal/expression, internal/columnar, internal/tableread, internal/tableio, internal/rows,
// internal/masking, internal/classify and internal/rowaudit, besides arrow-go and the Prometheus client. No HTTP, SQL or
// Temporal reaches it.
package dataplane
