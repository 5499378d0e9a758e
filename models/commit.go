package models

import "time"

// CommitKind says who made a commit.
type CommitKind string

// The kinds.
const (
	ExternalCommit CommitKind = "external" // arrived through the facade under the write policy
	PlatformCommit CommitKind = "platform" // Sluice's own, or a steward's who holds TABLE_GOVERN
)

// CommitStatus is how far a commit's reconciliation is.
type CommitStatus string

// The states.
const (
	CommitPending    CommitStatus = "pending"
	CommitReconciled CommitStatus = "reconciled"
	CommitAbandoned  CommitStatus = "abandoned" // its table or snapshot was gone before it could be reconciled
)

// Commit is the ledger: one row per snapshot that a table was given, written in the transaction of the pointer swap.
type Commit struct {
	ID               int64 `gorm:"primaryKey"`
	CatalogID        string
	TableID          string
	TableUUID        string `gorm:"column:table_uuid"`
	TableName        string // dotted, with the namespace, as of the commit
	SnapshotID       int64
	ParentSnapshotID *int64
	SequenceNumber   int64
	Ref              string // the branch or tag that the commit moved to this snapshot, "" if none
	Operation        string // of the snapshot summary
	Summary          JSON[map[string]string]
	MetadataLocation string // the metadata file of the commit
	Kind             CommitKind
	Writer           JSON[Writer]
	CommittedAt      time.Time

	Status         CommitStatus
	ReconciledAt   *time.Time
	WorkflowID     string
	AddedRows      *int64
	AddedFiles     *int64
	AddedBytes     *int64
	RowCountBefore *int64
	RowCountAfter  *int64
}

// Writer is who made a commit, from the request and the snapshot summary.
type Writer struct {
	Principal string `json:"principal"`
	TokenID   string `json:"tokenId,omitempty"`
	Engine    string `json:"engine,omitempty"` // engine-name of the summary, else derived from the client
	Client    string `json:"client,omitempty"` // User-Agent or X-Client-Version
	RequestID string `json:"requestId,omitempty"`
	Address   string `json:"address,omitempty"`
}
