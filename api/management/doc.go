// Package management serves the management API, /api/management/v1: catalogs, principals, roles and grants, with the
// paths and bodies of Apache Polaris, so that its command line works here unchanged. Handlers translate and delegate to
// internal/management.
package management
