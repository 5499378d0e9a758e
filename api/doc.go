// Package api is Sluice's HTTP surface: one router, the middleware around every request and the one table from errors
// to answers. The operations are in api/catalog (Iceberg REST) and api/governance. It imports those, api/wire, models,
// internal/fault, internal/policy and internal/access's error type; use cases come in as small interfaces.
package api
