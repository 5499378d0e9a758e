package models

import "time"

// StagedCreate is the promise of a table that an engine is writing before it creates it: until it expires its location is
// taken, and its principal is given what opens the files there.
type StagedCreate struct {
	ID          string `gorm:"primaryKey"`
	CatalogID   string
	NamespaceID string
	Name        string
	TableUUID   string `gorm:"column:table_uuid"`
	Location    string // unique
	Principal   string // id
	CreatedAt   time.Time
	ExpiresAt   time.Time
}
