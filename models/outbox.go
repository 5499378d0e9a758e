package models

import "time"

// OutboxEvent asks the dispatcher to start the reconciliation of one snapshot. It is written in the
// transaction of the commit and removed once the workflow is started.
type OutboxEvent struct {
	ID         int64 `gorm:"primaryKey"`
	CatalogID  string
	TableID    string
	TableUUID  string `gorm:"column:table_uuid"`
	TableName  string
	SnapshotID int64
	CreatedAt  time.Time
	Attempts   int
	LastError  string
	// ClaimedBy is the dispatcher that starts it, until ClaimedUntil; then it is anybody's again.
	ClaimedBy    string
	ClaimedUntil *time.Time
}
