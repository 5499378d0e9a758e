package models

import "time"

// TableState is a table with what its governors look at first.
type TableState struct {
	Table          Table
	CatalogName    string
	NamespaceKey   NamespaceKey
	PendingCommits int64
	OldestPending  *time.Time // when the oldest pending commit was made: the reconciliation lag
}

// TableFilter selects table states; rows come in order of table id.
type TableFilter struct {
	CatalogID string // "" for all
	After     string // table id
	Limit     int
}

// CommitFilter selects ledger rows, newest first.
type CommitFilter struct {
	CatalogID string
	TableID   string
	Before    int64 // ledger ids below it; 0 for the newest
	Limit     int
}

// AuditFilter selects audit events, newest first. Zero fields select all.
type AuditFilter struct {
	Type      AuditType
	TableUUID string
	Table     string // dotted name, used when TableUUID is empty
	Catalog   string
	Principal string
	Since     time.Time
	Before    int64 // audit ids below it; 0 for the newest
	Limit     int
}
