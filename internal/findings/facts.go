package findings

import (
	"time"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// HistoryDepth is how many commits of a writer before one are looked at.
const HistoryDepth = 64

// History is what the ledger, which outlives snapshots, has of the writer of a commit on the same ref.
type History struct {
	Before   []models.Commit // commits before it, newest first, HistoryDepth at most
	SameUnit []models.Commit // other commits of its unit, oldest first, whenever they were made
	// FirstOfJob is the first commit of the same writer with the same job, nil when it is this one.
	FirstOfJob *models.Commit
	// Ancestors says which of these snapshots the commit builds on; the others were rolled back before it. nil: all of them.
	// It is worth asking only when OfCommit finds something without: Concerned tells which snapshots to ask for.
	Ancestors map[int64]bool
}

// TableRate is how a table was committed to for a while.
type TableRate struct {
	CatalogID, Catalog, TableID, TableUUID, Table string
	Since                                         time.Time
	Commits                                       int64
	AddedFiles, AddedBytes                        int64 // of commits that were counted
}

// Refusal is a request of a writer that was refused or failed.
type Refusal struct {
	At     time.Time
	Type   models.AuditType
	Reason string
}

// Arrivals is what lies under a table's location, is newer than the writer's last commit, and belongs to no snapshot.
type Arrivals struct {
	Looked  bool // it was looked for; files cannot be listed everywhere
	Files   int64
	Bytes   int64
	Newest  time.Time
	Partial bool // there may be more: the listing is bounded
}

// StallEvidence is what is known about a writer that owes a commit.
type StallEvidence struct {
	Now      time.Time
	Due      time.Time          // when the commit was due
	Policy   models.WritePolicy // of the table, "" where it is not known
	Arrivals Arrivals
	Refusals []Refusal // since its last commit, newest first
}

// TwinFile is a data file that a commit adds and that was added before.
type TwinFile struct {
	Record models.FileRecord // of the one before
	Rows   int64             // of the file, 0 where they are not known
}

// NewFile is a data file that a commit adds.
type NewFile struct {
	Path string
	Size int64 // bytes
}

// Thresholds say from when on something is a finding; 0 is never.
type Thresholds struct {
	Stall           writers.Limits // of a writer that is late
	TokenWarning    time.Duration  // before a token ends
	SnapshotsHourly int64          // snapshots of a table within an hour
	SmallFile       int64          // bytes: average below it, over a day
	EqualityDeletes int64          // live equality delete files of a table
	MetadataBytes   int64          // of a table's metadata file
}
