package chaos

// Fate is what a writer knows of a commit that it sent.
type Fate string

// The fates.
const (
	Acknowledged Fate = "acknowledged" // answered 200, or seen in the table: it must be there
	Refused      Fate = "refused"      // answered 409, or seen to be absent after a restart: it must not be there
	Unknown      Fate = "unknown"      // neither: both are right
)

// Sent is an append that a writer sent, however often.
type Sent struct {
	TableUUID    string
	SnapshotID   int64
	ManifestList string
	Files        []string
	Rows         int64
	Fate         Fate
}

// World is what was found when everything had settled.
type World struct {
	Tables []Table
	Ledger []LedgerRow
	Audit  []Event // all events
	Outbox int64   // events still waiting
}

// Table is a table as readers and governors see it.
type Table struct {
	UUID, Name string
	Unreadable string // why its metadata or a manifest of its head cannot be read; "" when all can
	Snapshots  []Snapshot
	Main       []int64  // main's snapshots, head first
	LiveFiles  []string // data files of the head, as often as its manifests name them

	RowCount                     *int64
	CurrentSnapshot, RecordedOne *int64
	PendingCommits               int64
}

// Snapshot is an entry of a table's metadata.
type Snapshot struct {
	ID           int64
	ManifestList string
}

// LedgerRow is a commit as the governance API tells it.
type LedgerRow struct {
	TableUUID                 string
	SnapshotID                int64
	Status                    string
	AddedRows, AddedFiles     *int64
	RowCountBefore, RowsAfter *int64
}

// Event is an audit event.
type Event struct {
	ID, EventID string
	Type        string
	TableUUID   string
	SnapshotID  int64 // 0 none
}

// The audit events that the checker counts.
const (
	createdEvent    = "table.created"
	committedEvent  = "table.committed"
	reconciledEvent = "table.external_commit_reconciled"
)
