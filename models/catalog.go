package models

import "time"

// Catalog is one warehouse: a name engines connect to, a storage location and defaults.
type Catalog struct {
	ID                 string `gorm:"primaryKey"`
	Name               string
	BaseLocation       string // every table location starts with it
	DefaultWritePolicy WritePolicy
	Properties         JSON[map[string]string]
	Version            int64
	CreatedAt          time.Time
	UpdatedAt          time.Time
}
