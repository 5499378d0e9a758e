package models

import "time"

// FileRecord is a data or delete file as a commit brought it, against which the file is held afterwards.
type FileRecord struct {
	ID         string `gorm:"primaryKey"` // SubjectKey of table id and location: the subject of findings about it too
	TableID    string
	Location   string // as the manifest has it
	SnapshotID int64  // that added it
	Size       int64  // bytes; as the manifest says, unless somebody accepted another
	// ETag is the store's name for the content, as of the first time that the file had its size; "" before that.
	ETag       string     `gorm:"column:etag"`
	ModifiedAt *time.Time // by the store, as of ETag; nil where it is not known
	RecordedAt time.Time
	CheckedAt  time.Time // when it was looked at last, whether or not the store answered
	// RemovedAt is when a snapshot took the file out of the table, RemovedBy that snapshot: it is not looked at from then on,
	// and only remembered, so that one that comes back is noticed.
	RemovedAt *time.Time
	RemovedBy *int64
}

// FileRecordID is the id of a table's file.
func FileRecordID(tableID, location string) string { return SubjectKey(tableID, location) }
