package models

import "time"

// DelegationMode is how somebody who loaded a table reaches its files.
type DelegationMode string

// The modes.
const (
	VendedAccess      DelegationMode = "vended"      // with temporary keys that Sluice gave
	SignedAccess      DelegationMode = "signed"      // with requests that Sluice signs
	GovernedAccess    DelegationMode = "governed"    // through governed queries, which read for it
	UndelegatedAccess DelegationMode = "undelegated" // with keys of its own, if any: Sluice gave none
)

// StorageRecord says who reached the files of a table in a mode, since when, and how many times it was given something.
// Records outlive their tables until nobody added to them for a month.
type StorageRecord struct {
	TableID   string         `gorm:"primaryKey"`
	TokenID   string         `gorm:"primaryKey"`
	Mode      DelegationMode `gorm:"primaryKey"`
	Principal string         // name
	FirstAt   time.Time
	LastAt    time.Time
	Count     int64
}

// TableName is the database table of the records.
func (StorageRecord) TableName() string { return "storage_accesses" }

// NamedStorageRecord is a record with the names of its table as they are now; empty when it is gone.
type NamedStorageRecord struct {
	StorageRecord `gorm:"embedded"`
	CatalogName   string
	NamespaceKey  NamespaceKey
	TableName     string
	TableUUID     string `gorm:"column:table_uuid"`
}

// StorageRecordFilter selects records, in order of table, token and mode. Zero fields select all.
type StorageRecordFilter struct {
	CatalogID string // of tables that are there
	TableID   string
	After     StorageRecord // the last record of the page before: its key alone counts
	Limit     int
}
