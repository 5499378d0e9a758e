package activities

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

// PurgeLedger is the records of drops as their purge needs them.
type PurgeLedger interface {
	DroppedTable(ctx context.Context, id string) (models.DroppedTable, error)
	// DuePurges gives records that are due at the time, or whose purge has begun, in order of ids after the given one.
	DuePurges(ctx context.Context, now time.Time, after string, limit int) ([]models.DroppedTable, error)
	// ClaimPurge makes a dropped record that is due purging, from where it never comes back. One that is purging
	// already is claimed again, so that an interrupted purge goes on; any other is given as it is, not claimed.
	ClaimPurge(ctx context.Context, id string, now time.Time) (record models.DroppedTable, claimed bool, err error)
	// FinishPurge makes a purging record purged with its audit event, in one transaction; false when it was before.
	FinishPurge(ctx context.Context, id string, files, bytes int64, event models.AuditEvent) (bool, error)
	// Sharers gives every table, live or dropped or handed over, of any catalog, that might refer to files within the
	// record's location.
	Sharers(ctx context.Context, id string) (Sharers, error)
}

// Sharers is what a purge must spare.
type Sharers struct {
	Tables     []Sharer
	Overlapped bool // something else lies at, above or below the location
}

// Sharer is a table whose location overlaps, or some of whose files may lie anywhere.
type Sharer struct {
	Location         string
	MetadataLocation string
	Overlaps         bool
}

// Purger deletes a table's files. Every method may be repeated.
type Purger interface {
	// References adds to kept the files within location that another table refers to, and counts the files of that table
	// that nobody can read through, because they are gone or damaged.
	References(ctx context.Context, other maintenance.Table, location string, kept maintenance.FileSet, beat func()) (unreadable int, err error)
	// DeleteData deletes the data and delete files.
	DeleteData(ctx context.Context, t maintenance.Table, kept maintenance.FileSet, from maintenance.Progress, beat func(maintenance.Progress)) (maintenance.Progress, error)
	// DeleteMetadata deletes manifests, manifest lists, statistics and metadata files, the current one last.
	DeleteMetadata(ctx context.Context, t maintenance.Table, kept maintenance.FileSet, from maintenance.Progress, beat func(maintenance.Progress)) (maintenance.Progress, error)
	// DeleteLeftovers deletes what else lies in the table's folder and is older than before.
	DeleteLeftovers(ctx context.Context, t maintenance.Table, kept maintenance.FileSet, before time.Time, from maintenance.Progress, beat func(maintenance.Progress)) (maintenance.Progress, error)
}

// PurgeStarter starts purges.
type PurgeStarter interface {
	// StartPurge starts the purge of a record, even where an earlier one is closed. A running one is no error.
	StartPurge(ctx context.Context, t PurgeTarget) error
}

// PurgeTarget names the record of a drop. It carries references only.
type PurgeTarget struct {
	DropID    string `json:"dropId"`
	CatalogID string `json:"catalogId"`
	TableUUID string `json:"tableUuid"`
	TableName string `json:"tableName"` // dotted, with the namespace
}
