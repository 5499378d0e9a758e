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

// The kinds.
const (
	FindingFileChanged     FindingKind = "file_changed"     // a committed file is not what was committed
	FindingMissingFile     FindingKind = "missing_file"     // a file of a live snapshot is gone or cannot be read
	FindingSummaryMismatch FindingKind = "summary_mismatch" // a writer claims other numbers than were counted
)

// FindingKinds gives every kind there is.
func FindingKinds() []FindingKind {
	return []FindingKind{FindingFileChanged, FindingMissingFile, FindingSummaryMismatch}
}

// Severity says how soon somebody should look.
type Severity string

// The severities.
const (
	High   Severity = "high"   // readers get wrong data, or none
	Medium Severity = "medium" // something is not as it is told
)

// Severity is that of the findings of a kind.
func (k FindingKind) Severity() Severity {
	if k == FindingSummaryMismatch {
		return Medium
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
	Kind      FindingKind
	Open      *bool
	Before    string // finding ids below it; "" for the newest
	Limit     int
}

// SubjectKey makes the key of a subject: it is as long for any, and holds no text of a client.
func SubjectKey(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}
