// Package store keeps Sluice's rows with GORM on SQLite or PostgreSQL. It
// implements the storage ports of internal/catalog, internal/access,
// internal/management, activities and internal/dispatch, and the reads behind the
// console and the governance API.
//
// Every mutation is one transaction with its audit event. On PostgreSQL it runs
// on a pooled connection and is tried again after a deadlock, and the common swap
// is a single statement; on SQLite all mutations pass one writer, which puts those
// that wait together into one commit.
// An error of the commit itself is fault.UnknownState; any other error means that
// nothing was written.
//
// It may import models, internal/fault, internal/writers, migrations and the
// packages whose ports it implements, for the types in their signatures.
package store
