package models

import "time"

// Namespace groups tables within a catalog; it may be nested.
type Namespace struct {
	ID                 string `gorm:"primaryKey"`
	CatalogID          string
	Key                NamespaceKey `gorm:"column:name_key"`
	ParentKey          NamespaceKey
	DefaultWritePolicy *WritePolicy // nil: inherited from the parent, at last the catalog
	// DefaultClassification is what new tables get; nil: inherited likewise.
	DefaultClassification *Classification
	Properties            JSON[map[string]string]
	Version               int64
	CreatedAt             time.Time
	UpdatedAt             time.Time
}
