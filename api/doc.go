// Package api is Sluice's HTTP surface: one router, the middleware around every request and the one table from errors
// to answers. The operations are in api/catalog (Iceberg REST), api/management, api/governance and api/data. It imports
// models, internal/fault, internal/policy and internal/access's error type; the rest comes in by small interfaces.
package api
