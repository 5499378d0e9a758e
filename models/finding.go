package models

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// FindingKind names something that a governor should look at.
type FindingKind string

// The kinds. What each means, and what makes it go away, is in docs/findings.md.
const (
	FindingFileChanged         FindingKind = "file_changed"              // a committed file is not what was committed
	FindingMissingFile         FindingKind = "missing_file"              // a file of a live snapshot is gone or cannot be read
	FindingSummaryMismatch     FindingKind = "summary_mismatch"          // a writer claims other numbers than were counted
	FindingDuplicateCheckpoint FindingKind = "duplicate_checkpoint"      // a piece of a stream was committed twice
	FindingDuplicateFile       FindingKind = "duplicate_file"            // a data file was added by two snapshots
	FindingOffsetRegression    FindingKind = "offset_regression"         // a writer went back behind what it had committed
	FindingDualCoordinator     FindingKind = "dual_coordinator"          // two coordinators commit for one connector
	FindingStalledWriter       FindingKind = "stalled_writer"            // a writer owes a commit
	FindingSchemaRegression    FindingKind = "schema_regression"         // a commit brought an older schema back
	FindingStaleIdentity       FindingKind = "stale_table_identity"      // a writer means a table that was replaced
	FindingSnapshotRate        FindingKind = "snapshot_rate"             // a table gets snapshots faster than is good for it
	FindingSmallFiles          FindingKind = "small_files"               // a table gets many files that are too small
	FindingDeletePileup        FindingKind = "equality_delete_pileup"    // readers pay for equality deletes that nobody compacts
	FindingUndelegated         FindingKind = "undelegated_access"        // a writer reaches the store with keys of its own
	FindingTokenExpiring       FindingKind = "token_expiring"            //nolint:gosec // the token of a working writer ends soon
	FindingPropertyDrift       FindingKind = "property_drift"            // stamped properties are not what governance says
	FindingClassifiedChanged   FindingKind = "classified_column_changed" // a column that governance names is gone, renamed or of another type
	FindingUnclassified        FindingKind = "unclassified_column"       // a classified table got a column that nobody classified
	FindingSuggestedTag        FindingKind = "suggested_tag"             // the content of a column looks like personal data, and nobody said so
	FindingOwnership           FindingKind = "ownership_violation"       // an engine tried to remove rows that the platform keeps
	FindingUnreadable          FindingKind = "unreadable_table"          // a table's current metadata cannot be loaded
	FindingLargeMetadata       FindingKind = "large_metadata"            // a table's metadata is larger than engines bear
)

// FindingKinds gives every kind there is.
func FindingKinds() []FindingKind {
	return []FindingKind{
		FindingFileChanged, FindingMissingFile, FindingSummaryMismatch, FindingDuplicateCheckpoint, FindingDuplicateFile,
		FindingOffsetRegression, FindingDualCoordinator, FindingStalledWriter, FindingSchemaRegression, FindingStaleIdentity,
		FindingSnapshotRate, FindingSmallFiles, FindingDeletePileup, FindingUndelegated, FindingTokenExpiring,
		FindingSuggestedTag, FindingOwnership, FindingPropertyDrift, FindingClassifiedChanged, FindingUnclassified, FindingUnreadable, FindingLargeMetadata,
	}
}

// Severity says how soon somebody should look.
type Severity string

// The severities.
const (
	High   Severity = "high"   // readers get wrong data, or none
	Medium Severity = "medium" // something is not as it is told, or will soon be worse
	Low    Severity = "low"    // worth tidying up
)

// Severity is that of the findings of a kind.
func (k FindingKind) Severity() Severity {
	switch k {
	case FindingSummaryMismatch, FindingDualCoordinator, FindingSchemaRegression, FindingStaleIdentity, FindingDeletePileup,
		FindingTokenExpiring, FindingPropertyDrift, FindingUnclassified, FindingSuggestedTag:
		return Medium
	case FindingSnapshotRate, FindingSmallFiles, FindingUndelegated, FindingLargeMetadata:
		return Low
	}
	return High
}

// Finding is one observation about a table. Of each kind, table and subject at most one is open at a time: seen again, it
// is refreshed; seen again after it was resolved, there is another.
type Finding struct {
	ID         string `gorm:"primaryKey"` // a UUID that sorts by time
	Kind       FindingKind
	Severity   Severity
	CatalogID  string
	Catalog    string `gorm:"column:catalog_name"`
	TableID    string
	TableUUID  string `gorm:"column:table_uuid"`
	Table      string `gorm:"column:table_name"` // dotted, with the namespace, when it was seen last
	SnapshotID *int64 // that committed what it is about
	Principal  string // who committed that, "" when not known
	WriterID   string // of the writer that it is about, "" for none
	Subject    string // what it is about, for people: the location of a file, a snapshot, a writer
	SubjectKey string // tells subjects apart
	Evidence   JSON[map[string]any]

	FirstSeenAt time.Time
	LastSeenAt  time.Time
	ResolvedAt  *time.Time
	ResolvedBy  string // principal, or what Sluice calls itself where it saw that all is well again
	Note        string // of who resolved it
}

// Event is the audit event of the finding being opened or resolved, by whom.
func (f Finding) Event(typ AuditType, by string) AuditEvent {
	e := AuditEvent{
		Type: typ, Principal: by, Allowed: true, Catalog: f.Catalog, Table: f.Table, TableUUID: f.TableUUID, SnapshotID: f.SnapshotID,
	}
	if i := strings.LastIndexByte(f.Table, '.'); i > 0 {
		e.Namespace = f.Table[:i]
	}
	e.Details.V = map[string]any{
		"findingId": f.ID, "kind": string(f.Kind), "severity": string(f.Severity), "subject": f.Subject, "evidence": f.Evidence.V,
	}
	if f.Note != "" {
		e.Details.V["note"] = f.Note
	}
	return e
}

// FileState is what a store says of a file.
type FileState struct {
	Size     int64      `json:"size"` // bytes
	ETag     string     `json:"etag,omitempty"`
	Modified *time.Time `json:"modified,omitempty"`
}

// FileEvidence is the evidence of a finding about a file.
type FileEvidence struct {
	File     string     `json:"file"`
	Snapshot string     `json:"snapshot"` // that committed it
	Then     FileState  `json:"then"`
	Now      *FileState `json:"now,omitempty"` // nil: it is gone
}

// Members gives the evidence as a finding keeps it.
func (e FileEvidence) Members() map[string]any {
	var out map[string]any
	text, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil // numbers, texts and times cannot fail
	}
	return out
}

// SeenFile gives how the file of a file_changed finding was seen last, nil of any other finding.
func (f Finding) SeenFile() *FileState {
	var e FileEvidence
	text, err := json.Marshal(f.Evidence.V)
	if f.Kind != FindingFileChanged || err != nil || json.Unmarshal(text, &e) != nil {
		return nil
	}
	return e.Now
}

// FindingFilter selects findings, newest first. Zero fields select all.
type FindingFilter struct {
	CatalogID string
	TableID   string
	WriterID  string
	Kind      FindingKind
	Open      *bool
	Before    string // finding ids below it; "" for the newest
	Limit     int
}

// FindingSubject names findings of a table, to resolve those that are open.
type FindingSubject struct {
	TableID    string
	Kind       FindingKind
	SubjectKey string // "" for every subject
	Note       string // why all is well again
}

// SubjectKey makes the key of a subject: it is as long for any, and holds no text of a client.
func SubjectKey(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}
