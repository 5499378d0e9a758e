// Package catalog serves the Iceberg REST protocol: it decodes requests, calls one use case each and encodes the
// answer, metadata documents byte for byte. Errors go to the middleware of package api. It imports api/wire, models,
// internal/fault, internal/policy, internal/idempotency, and of internal/catalog, internal/metadata, internal/scan and internal/access the request,
// document and grant types.
package catalog
