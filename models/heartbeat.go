package models

import "time"

// Heartbeat is a row that is written to see whether the database can be written.
type Heartbeat struct {
	Name string `gorm:"primaryKey"` // of what beats
	At   time.Time
}
