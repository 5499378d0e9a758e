package models

import "time"

// WriterKind says what a writer's identity is made of.
type WriterKind string

// The kinds.
const (
	FlinkWriter     WriterKind = "flink"           // a sink operator: its checkpoints
	ConnectWriter   WriterKind = "kafka-connect"   // a connector's group on its control topic: its offsets
	StreamingWriter WriterKind = "spark-streaming" // a streaming query: its epochs
	BatchWriter     WriterKind = "batch"           // an engine used by a principal: it owes no next commit
	ExpectedWriter  WriterKind = "expected"        // whatever a principal writes, as somebody declared
)

// WriterState says whether a writer is waited for.
type WriterState string

// The states.
const (
	WriterActive   WriterState = "active"
	WriterFinished WriterState = "finished" // it said that it is done, as a bounded Flink job does
	WriterRetired  WriterState = "retired"  // somebody said so; its next commit makes it active again
)

// MostIntervals is how many intervals between commits a writer's cadence is learned from.
const MostIntervals = 32

// TableWriter is who commits to a table by a name of its own: a streaming job, or an engine in somebody's hands. Everything but
// Every, State and the retirement is a function of the ledger, so that it does not matter in what order commits are
// reconciled.
type TableWriter struct {
	ID         string `gorm:"primaryKey"` // SubjectKey of table id, kind, principal and key
	CatalogID  string
	TableID    string
	TableUUID  string `gorm:"column:table_uuid"`
	Table      string `gorm:"column:table_name"` // dotted, with the namespace, as of the last commit
	Kind       WriterKind
	Key        string // what tells it from others of its kind: operator id, group and control topic, query id, engine
	Principal  string
	Engine     string
	Version    string // of the engine
	Client     string
	Job        string                 // that commits now: Flink job id, Connect task, Spark application
	Ref        string                 // branch that it writes to; "main" in most cases
	TokenID    string                 // of its last commit
	Watermark  JSON[map[string]int64] // how far it is, by checkpoint, epoch or topic partition
	ValidTo    *time.Time             // kafka.connect.valid-through-ts
	LastCommit *int64                 // snapshot id
	Commits    int64

	FirstCommitAt *time.Time // nil: declared, and never seen
	LastCommitAt  *time.Time
	Intervals     JSON[[]int64] // milliseconds between its last commits, oldest first, MostIntervals at most
	Median        int64         // milliseconds: the learned cadence, 0 while unknown
	Spread        int64         // milliseconds: median of the distances from Median
	Every         int64         // milliseconds: the declared cadence, 0 for none

	State     WriterState
	RetiredAt *time.Time
	RetiredBy string
	CreatedAt time.Time
}

// TableName is the database table of the writers.
func (TableWriter) TableName() string { return "writers" }

// WriterIdentity is what a commit says of who made it and how far that one is.
type WriterIdentity struct {
	ID   string // of the TableWriter
	Kind WriterKind
	Key  string
	Job  string
	// Unit is the piece of a stream that the commit carries, and that must be committed once: "checkpoint/12",
	// "commit/<uuid>", "epoch/5"; "" where there is none.
	Unit string
}

// WriterFilter selects writers, in order of id. Zero fields select all.
type WriterFilter struct {
	CatalogID string
	TableID   string
	State     WriterState
	After     string // writer id
	Limit     int
	// PacedFirst gives those first whose cadence is declared or known, and of them those with the most commits, rather than
	// by id: whoever names new writers all the time crowds out nobody who is waited for.
	PacedFirst bool
}

// NamedWriter is a writer with what is known about its credentials.
type NamedWriter struct {
	TableWriter `gorm:"embedded"`
	CatalogName string         // "" when it is gone
	Mode        DelegationMode // of the last storage access with its token, "" where none is known
	TokenKind   TokenKind      // of its token, "" where that is not known
	TokenMinted *time.Time     // when its token was made, nil where that is not known
	TokenExpiry *time.Time     // of its token, nil for none
	TokenGone   bool           // its token was revoked, or is no longer known
}
