package activities

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// Watcher looks at the files of tables. It only reads.
type Watcher interface {
	// Changes gives the files that a snapshot itself added, at most limit, and those that it removed.
	Changes(ctx context.Context, snap metadata.Snapshot, limit int) (maintenance.ChangedFiles, error)
	// Look looks at files, at most perSecond, 0 for no limit. An error is the end of ctx alone.
	Look(ctx context.Context, paths []string, perSecond int) ([]maintenance.Sighting, error)
	// Live gives those of the paths that the head of a branch or tag refers to.
	Live(ctx context.Context, doc *metadata.Document, paths map[string]struct{}) (map[string]struct{}, error)
}

// FileLedger keeps the files of commits as they came, and what was found of them. Every method is one transaction, with
// the audit events of the findings that it opens and resolves, and may be repeated.
type FileLedger interface {
	// KnownFiles gives the records that there are of the ids, those of removed files too.
	KnownFiles(ctx context.Context, ids []string) ([]models.FileRecord, error)
	// RecordFiles marks the files that a snapshot removed, and adds those that it brought; one that is there stays as it
	// is, unless it was removed: then it is the new one. It opens the findings.
	RecordFiles(ctx context.Context, r FileRecording) error
	// FilesToCheck gives files that were looked at last before a time, the longest ago first.
	FilesToCheck(ctx context.Context, before time.Time, limit int) ([]WatchedFile, error)
	// PruneFileRecords forgets files that were removed before a time, at most limit, and gives how many.
	PruneFileRecords(ctx context.Context, before time.Time, limit int) (int, error)
	// SettleFiles writes how files were found: it opens or refreshes the findings about what is wrong, unless the file was
	// recorded anew meanwhile, and resolves those about what is well again.
	SettleFiles(ctx context.Context, c FileCheck) (FileCheckCounts, error)
}

// FileRecording is what RecordFiles writes.
type FileRecording struct {
	Removed  []string // ids of records
	By       int64    // snapshot that removed them
	Added    []models.FileRecord
	Findings []models.Finding
}

// TableIs tells what became of a watched file's table.
type TableIs int

// What a table may be.
const (
	TableThere TableIs = iota
	TableAway          // dropped, and may come back with its id
	TableGone          // never to come back with its id
)

// WatchedFile is a recorded file with its table's names.
type WatchedFile struct {
	models.FileRecord
	Is                                       TableIs
	CatalogID, Catalog, TableUUID, TableName string // only of a table that is there
}

// FileCheck is what SettleFiles writes. What is in several of its lists is in Looked too.
type FileCheck struct {
	At         time.Time
	Looked     []string            // ids of records
	Well       []string            // ids of records
	Named      []models.FileRecord // that are well and have an ETag for the first time
	Wrong      []WrongFile
	Forgotten  []string // ids of records
	GoneTables []string // ids, all whose findings are resolved
}

// WrongFile is a file that is not what was recorded, as that was read, and the finding about it.
type WrongFile struct {
	Record  models.FileRecord
	Finding models.Finding
}

// FileCheckCounts counts findings.
type FileCheckCounts struct{ Opened, Resolved int }
