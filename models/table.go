package models

import "time"

// Table is the catalog's pointer to a table's current metadata, and what governance says and knows of it.
type Table struct {
	ID               string `gorm:"primaryKey"` // Sluice's own, never reused
	CatalogID        string
	NamespaceID      string
	Name             string
	UUID             string `gorm:"column:table_uuid"` // the table-uuid of its metadata
	Location         string
	MetadataLocation string
	FormatVersion    int

	WritePolicy      WritePolicy
	Classification   Classification
	IdentityColumns  JSON[[]string]
	Columns          JSON[map[string]ColumnGovernance]
	RowFilters       JSON[[]RowFilter]
	KnownColumn      int           // the highest id of a column when they were classified last, 0 where that is not known
	DuplicateCommits DuplicateMode // what becomes of a commit that was made before
	Protected        bool          // against being dropped, unregistered or registered over
	// ForeignFiles: some of its files may lie outside Location, because it was registered or moved, or was there
	// before that was noted.
	ForeignFiles bool

	CurrentSnapshotID  *int64 // main's head as of MetadataLocation
	RecordedSnapshotID *int64 // the newest snapshot of main whose commit is reconciled
	RowCount           *int64 // exact, as of RecordedSnapshotID

	// ReservedBy is whose commits alone may change the pointer until ReservedUntil, "" for anybody's.
	ReservedBy    string
	ReservedUntil *time.Time

	Version   int64 // raised by every change of the pointer: the compare-and-swap key
	CreatedAt time.Time
	UpdatedAt time.Time
}

// DuplicateMode says what becomes of a commit whose unit, or one of whose files, the table has already.
type DuplicateMode string

// The modes.
const (
	AuditDuplicates  DuplicateMode = "audit"  // it is taken, and is a finding
	RejectDuplicates DuplicateMode = "reject" // it is refused
)

// TableCheck is how far a table's governance was looked at.
type TableCheck struct {
	TableID   string `gorm:"primaryKey"`
	Version   int64  // of the table then
	Stamp     string // of what governance said then
	CheckedAt time.Time
}
