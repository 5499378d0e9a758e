// Package management administers an installation: catalogs, principals, principal roles, catalog roles and grants, in
// the terms of Apache Polaris's management API. Every use case checks the caller's rights itself, and every change is
// one transaction with its audit event. A change that changes nothing has neither effect nor event.
//
// What the caller may not see does not exist for it (rights.go): a catalog in which it holds nothing, any principal but
// itself and any principal role but its own unless it administers the installation.
//
// It may import models, internal/policy and internal/fault.
package management
