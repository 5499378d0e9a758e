package models

import "time"

// View is the catalog's pointer to a view's current metadata.
type View struct {
	ID               string `gorm:"primaryKey"` // Sluice's own, never reused
	CatalogID        string
	NamespaceID      string
	Name             string
	UUID             string `gorm:"column:view_uuid"` // the view-uuid of its metadata
	Location         string
	MetadataLocation string
	Version          int64 // raised by every change of the pointer: the compare-and-swap key
	CreatedAt        time.Time
	UpdatedAt        time.Time
}
