package activities

import (
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/findings"
)

// Names under which the activities are registered. They are written into histories and never change.
const (
	DetectCommitsName   = "DetectCommits"
	RecountSnapshotName = "RecountSnapshot"
	RestampTableName    = "RestampTable"
	RecordCommitName    = "RecordCommit"
	AbandonCommitName   = "AbandonCommit"
	FindDriftName       = "FindDrift"
	RecordFilesName     = "RecordFiles"
	CheckFilePageName   = "CheckFilePage"
	CheckTablePageName  = "CheckTablePage"
	TidyFindingsName    = "TidyFindings"
	WatchTablePageName  = "WatchTablePage"
	WatchWriterPageName = "WatchWriterPage"

	StartDuePurgesName     = "StartDuePurges"
	ClaimPurgeName         = "ClaimPurge"
	PurgeDataFilesName     = "PurgeDataFiles"
	PurgeMetadataFilesName = "PurgeMetadataFiles"
	PurgeLeftoversName     = "PurgeLeftovers"
	FinishPurgeName        = "FinishPurge"
)

// Activities holds what the activities need. Its exported methods are the activities.
type Activities struct {
	ports  Ports
	recent *recent
}

// Ports is everything outside that the activities touch.
type Ports struct {
	Ledger    Ledger
	Catalogs  Catalogs
	Documents Documents
	Counter   Counter
	Restamper Restamper
	Starter   Starter

	Files   FileLedger
	Watcher Watcher

	Sampler Sampler // nil: no tags are suggested for columns

	Writers    WriterLedger
	Findings   FindingLedger
	Checks     CheckLedger
	Arrivals   Arrivals
	Thresholds findings.Thresholds
	// ReservedPrefix is what the properties begin with that governance stamps on tables.
	ReservedPrefix string

	Purges       PurgeLedger
	Purger       Purger
	PurgeStarter PurgeStarter

	Courier Courier // nil: there are no webhooks

	AuditExporter AuditExporter // nil: the audit is not exported
	AuditPruner   AuditPruner   // nil: every audit event is kept

	RowWriter RowWriter // nil: split writes are landed by other workers

	Now   func() time.Time // default time.Now
	NewID func() string    // of audit events; default random UUIDs
}

// New makes the activities over their ports.
func New(p Ports) *Activities {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.NewID == nil {
		p.NewID = uuid.NewString
	}
	return &Activities{ports: p, recent: newRecent(p.Now)}
}
