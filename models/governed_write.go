package models

import "time"

// WriteMode says what a governed write does with rows whose key the table has.
type WriteMode string

// The modes.
const (
	AppendRows WriteMode = "append" // adds rows; keys are not looked at
	UpsertRows WriteMode = "upsert" // replaces the rows of the same identifier fields, adds the others
)

// GovernedWrite is one governed write that landed: a row for each, made in the transaction of its commit.
type GovernedWrite struct {
	ID         string `gorm:"primaryKey"` // a UUID that sorts by time; the audit id that clients are told
	CatalogID  string
	TableID    string
	TableUUID  string `gorm:"column:table_uuid"`
	TableName  string // dotted, with the namespace, as of the write
	SnapshotID int64  // 0 when nothing landed in the table itself: all was quarantined
	Principal  string
	TokenID    string
	RequestID  string
	Mode       WriteMode
	Label      Classification // what the caller said of the rows, "" for nothing
	Digest     string         // hex SHA-256 of what was sent
	Bytes      int64          // that were sent
	Rows       int64          // that landed
	Updated    int64          // rows of the table that they replaced
	Superseded int64          // rows that were sent and not landed, because a later one had their key
	// Quarantined rows are in QuarantineTable as of QuarantineSnapshotID.
	Quarantined          int64
	QuarantineTable      string
	QuarantineSnapshotID int64
	Level                Classification                 // the highest of a row
	Levels               JSON[map[Classification]int64] // rows of each
	Tags                 JSON[map[string]int64]         // rows that have each
	IdentityColumns      JSON[[]string]                 // that the identity hashes are of
	CommittedAt          time.Time

	Blocks []RowAuditBlock `gorm:"-"` // written with it
}

// RowAuditBlock is the audit of up to some ten thousand landed rows, packed by internal/rowaudit in order of their
// identity hashes.
type RowAuditBlock struct {
	WriteID   string `gorm:"primaryKey"`
	Place     int    `gorm:"primaryKey"` // 0 for the first block of its write
	TableID   string
	RowCount  int64
	FirstHash []byte // the lowest identity hash in it, 16 bytes
	LastHash  []byte
	Content   []byte
}

// GovernedWriteFilter selects writes, newest first. Zero fields select all.
type GovernedWriteFilter struct {
	CatalogID string
	TableID   string
	Principal string
	Before    string // id of the last write of the page before
	Limit     int
}

// DataKey is a secret of this installation that data is hashed with. It is made once and never changes, so that hashes
// stay comparable.
type DataKey struct {
	Purpose   string `gorm:"primaryKey"`
	Sealed    []byte
	CreatedAt time.Time
}

// RowAuditFilter selects blocks of the audit of rows, in order of write and place. Zero fields select all.
type RowAuditFilter struct {
	TableID    string
	WriteID    string
	Hash       []byte // 16 bytes: blocks that an identity hash may be in
	AfterWrite string // with AfterPlace the last block of the page before
	AfterPlace int
	Limit      int
}
