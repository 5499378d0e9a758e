package models

import "time"

// Catalog is one warehouse: a name engines connect to, a storage location and defaults.
type Catalog struct {
	ID                 string `gorm:"primaryKey"`
	Name               string
	BaseLocation       string         // where tables go that name no location of their own
	AllowedLocations   JSON[[]string] // where tables may lie besides: prefixes, by whole segments
	DefaultWritePolicy WritePolicy
	// DefaultClassification is what new tables get, "" for internal.
	DefaultClassification Classification
	Properties            JSON[map[string]string]
	Storage               JSON[StorageConfig]
	StorageSecrets        []byte // its own StorageSecrets, sealed with its ID; empty where it has none
	Version               int64
	CreatedAt             time.Time
	UpdatedAt             time.Time
}
