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
	WriterID         string // of the TableWriter, "" where there is none
	Job              string // of the writer, as in WriterIdentity
	Unit             string // of the writer's stream, as in WriterIdentity
	CommittedAt      time.Time

	Status         CommitStatus
	ReconciledAt   *time.Time
	WorkflowID     string
	AddedRows      *int64 // of the data files that it added
	AddedFiles     *int64
	AddedBytes     *int64
	RemovedRows    *int64 // that readers no longer get: with files, or by deletes
	RemovedFiles   *int64 // data files
	RemovedBytes   *int64 // of those
	DeleteFiles    *int64 // delete files that it added
	RowCountBefore *int64
	RowCountAfter  *int64
	Partitions     JSON[[]PartitionChange] // that it touched, the most rows first, MostPartitions at most
	SchemaID       *int64                  // current schema of the table as of the commit
}

// MostPartitions is how many partitions of a commit are kept.
const MostPartitions = 100

// PartitionChange is what a commit did to a partition.
type PartitionChange struct {
	Partition    string `json:"partition"` // name=value joined by slashes, as in paths; "" of an unpartitioned table
	AddedRows    int64  `json:"addedRows,omitempty"`
	AddedFiles   int64  `json:"addedFiles,omitempty"`
	RemovedRows  int64  `json:"removedRows,omitempty"` // of removed data files
	RemovedFiles int64  `json:"removedFiles,omitempty"`
	DeleteFiles  int64  `json:"deleteFiles,omitempty"` // that were added
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
