// Package catalog is the commit core and the use cases of namespaces and tables: it authorises, judges the write
// policy, applies updates, writes metadata files and moves pointers, all in terms of small ports. It imports
// internal/metadata, internal/policy, internal/expression, internal/findings, internal/writers, internal/idempotency,
// internal/contend, internal/cache, internal/fault and models; no HTTP, SQL or Temporal reaches it.
package catalog
