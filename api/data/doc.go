// Package data serves the governed data plane over HTTP, below /data/v1: rows of tables as they are queried and written,
// previews, profiles, and the audit of what was written. Handlers translate and delegate; answers are streamed as they
// are made, with names in kebab-case as the Iceberg REST protocol has them.
//
// It imports api/wire, internal/dataplane and what its requests and answers are made of: internal/fault,
// internal/policy, internal/rows, internal/rowaudit and models.
package data
