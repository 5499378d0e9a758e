package activities

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// WriterLedger keeps who commits to tables.
type WriterLedger interface {
	// WatchedWriters gives writers that are not retired, in order of id after the given one.
	WatchedWriters(ctx context.Context, after string, limit int) ([]models.NamedWriter, error)
	// ExpectedWriter gives the writer of kind expected that somebody declared for whatever a principal writes to a table;
	// false where nobody did.
	ExpectedWriter(ctx context.Context, tableID, principal string) (models.TableWriter, bool, error)
	// Refusals gives what was refused to a principal on a table, or failed, since a time, newest first.
	Refusals(ctx context.Context, tableUUID, principal string, since time.Time, limit int) ([]findings.Refusal, error)
	// TableRates gives how tables were committed to since a time, in order of table id after the given one: only those that
	// were.
	TableRates(ctx context.Context, since time.Time, after string, limit int) ([]findings.TableRate, error)
}

// FindingLedger opens, refreshes and resolves findings, each with its audit event, in one transaction.
type FindingLedger interface {
	SettleFindings(ctx context.Context, s FindingSettlement) (FindingCounts, error)
	// OpenFindingsOf gives the open findings of a table, or of every table when tableID is "", in order of id after the given one.
	OpenFindingsOf(ctx context.Context, tableID, after string, limit int) ([]models.Finding, error)
	// OpenFindingsOfWriters gives the open findings about any of the writers.
	OpenFindingsOfWriters(ctx context.Context, writerIDs []string) ([]models.Finding, error)
	// Findings gives findings, newest first.
	Findings(ctx context.Context, f models.FindingFilter) ([]models.Finding, error)
}

// FindingSettlement is what SettleFindings writes.
type FindingSettlement struct {
	Found    []models.Finding        // opened, or refreshed where they are open
	Resolved []models.FindingSubject // closed where they are open
	// Checks are kept as what was looked at; a table whose Version is newer meanwhile is looked at again.
	Checks []models.TableCheck
}

// FindingCounts counts findings.
type FindingCounts struct{ Opened, Resolved int }

// CheckLedger gives tables whose governance is to be looked at.
type CheckLedger interface {
	// TablesToCheck gives tables, in order of id after the given one, whose version or governance is not what was looked
	// at, or whose check is older than before. Unchanged tables cost nothing but the query.
	TablesToCheck(ctx context.Context, before time.Time, after string, limit int) ([]TableToCheck, error)
	// OnLedger tells which of a table's snapshots are ancestors of its current one, or are it, by the ledger, which outlives
	// snapshots.
	OnLedger(ctx context.Context, tableID string, snapshots []int64) (map[int64]bool, error)
}

// TableToCheck is a table with what was looked at.
type TableToCheck struct {
	Table   models.Table
	Catalog string             // name
	Name    string             // dotted, with the namespace
	Stamp   string             // of what governance says now; see models.TableCheck
	Changed bool               // since it was looked at; else the check is merely old
	Last    *models.TableCheck // nil: it was never looked at
}

// Sampler looks at a few rows of a table for what looks like personal data.
type Sampler interface {
	// Sample gives what is to be suggested for the columns of the table, without values. It only reads.
	Sample(ctx context.Context, doc *metadata.Document) ([]findings.Suggestion, error)
}

// Arrivals lists files under a table's location that are newer than a time. It only reads.
type Arrivals interface {
	Arrivals(ctx context.Context, table models.Table, since time.Time) (findings.Arrivals, error)
}
