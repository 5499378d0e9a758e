package activities

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
)

// Ledger is the commit ledger as the reconciler needs it. Every method is idempotent.
type Ledger interface {
	// TableByID answers fault.NotFound once the table is dropped.
	TableByID(ctx context.Context, id string) (models.Table, error)
	// Commit gives the ledger row of a snapshot, fault.NotFound if there is none.
	Commit(ctx context.Context, tableID string, snapshotID int64) (models.Commit, error)
	// RecordCommit, in one transaction: marks the ledger row (inserting it where a snapshot arrived unseen), appends
	// the audit event once (by its dedupe key), and moves the table's recorded snapshot and row count when
	// the commit is main's newest recorded one (by sequence number). recorded is false when it was recorded before.
	RecordCommit(ctx context.Context, r Recording) (recorded bool, err error)
	// History gives what the ledger has of the writer of a commit.
	History(ctx context.Context, c models.Commit) (findings.History, error)
	// LatestOf gives the newest commits of a writer, newest first: what writers.Summarize makes use of, and what they say of
	// themselves for the first few alone.
	LatestOf(ctx context.Context, writerID string, limit int) ([]models.Commit, error)
	// Drifted gives tables, in order of id after the given one, whose current snapshot is not the recorded one and
	// whose last change is older than quiet; and pending commits older than that.
	Drifted(ctx context.Context, after string, quiet time.Duration, limit int) ([]DriftedTable, error)
}

// Recording is what RecordCommit writes.
type Recording struct {
	Commit   models.Commit // the finished ledger row
	OnMain   bool          // the snapshot is an ancestor of main's head or the head
	RowCount *int64        // of the table after this snapshot, when exact
	Audit    models.AuditEvent
	Findings []models.Finding // opened or refreshed with the event
	Resolved []models.FindingSubject
	// Writers are kept as the ledger has them: those that are there keep what people declared of them, and one that is
	// newer in the table is left alone.
	Writers []models.TableWriter
}

// DriftedTable is a table the sweep found behind, with the snapshots to reconcile: its head and pending commits.
type DriftedTable struct {
	TableID, CatalogID, TableUUID, TableName string
	SnapshotIDs                              []int64
}

// Restamper writes a table's governance properties when they differ.
type Restamper interface {
	// Restamp commits the wanted properties as a platform commit and gives the keys it changed, none when all were right.
	Restamp(ctx context.Context, tableID string) ([]string, error)
}

// Catalogs names catalogs for audit events.
type Catalogs interface {
	CatalogByID(ctx context.Context, id string) (models.Catalog, error)
}

// Documents reads table metadata; fault.NotFound when the file is gone.
type Documents interface {
	Document(ctx context.Context, location string) (*metadata.Document, error)
}

// Counter counts a snapshot from its manifests, never from its summary. fault.NotFound and fault.Invalid mean that
// its files are missing or unreadable: counting again does not help.
type Counter interface {
	Count(ctx context.Context, doc *metadata.Document, snap metadata.Snapshot) (reconcile.Counts, error)
}

// Starter starts the reconciliations that the sweep finds missing.
type Starter interface {
	// RepairCommit starts the reconciliation of a snapshot even where an earlier one is closed, because the database
	// says that its work is missing. A running one is no error.
	RepairCommit(ctx context.Context, t Target) error
	// RepairBatch is the same for many, in one workflow.
	RepairBatch(ctx context.Context, targets []Target) error
}
