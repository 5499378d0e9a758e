package models

import "time"

// DropState is what became of a table that left the catalog.
type DropState string

// The states. A record begins as dropped or unregistered and stays for ever; only a dropped one can come back or be purged.
const (
	StateDropped      DropState = "dropped"      // its files are all there and it can be undropped
	StatePurging      DropState = "purging"      // its files are being deleted: it cannot come back
	StatePurged       DropState = "purged"       // its files are gone
	StateUndropped    DropState = "undropped"    // it is a table again, with the same id
	StateUnregistered DropState = "unregistered" // handed over with its files, which stay
	StateRegistered   DropState = "registered"   // registered again, as a table with another id
	StateForgotten    DropState = "forgotten"    // its files stay and its location is free
)

// DroppedTable is the record of one drop: the table with its whole governance, where it was, and what happens to it.
type DroppedTable struct {
	ID               string `gorm:"primaryKey"` // a UUID that sorts by time; a table dropped twice has two
	CatalogID        string
	TableID          string
	TableUUID        string `gorm:"column:table_uuid"`
	NamespaceKey     NamespaceKey
	Name             string
	Location         string
	MetadataLocation string
	ForeignFiles     bool        // as of the table
	HoldsLocation    bool        // while its files are there, no other table may lie at Location
	Table            JSON[Table] `gorm:"column:table_row"` // as it was

	State          DropState
	DroppedAt      time.Time
	DroppedBy      string     // principal
	PurgeRequested bool       // by who dropped it
	PurgeAfter     *time.Time // from when its files may be deleted; nil never
	ChangedAt      time.Time  // of State
	PurgedFiles    *int64
	PurgedBytes    *int64
}

// Ident names the table as it was.
func (d DroppedTable) Ident() TableIdent {
	return TableIdent{Namespace: d.NamespaceKey.Levels(), Name: d.Name}
}

// DroppedFilter selects records of drops, newest first. Zero fields select all.
type DroppedFilter struct {
	CatalogID string
	TableUUID string
	States    []DropState
	Before    string // record ids below it; "" for the newest
	Limit     int
}
