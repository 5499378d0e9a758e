package activities

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// driftPage is how many tables one run of FindDrift looks at.
	driftPage = 200
	// From repairAlone on, what is missing is started in batches of at most repairBatch: after a long outage that may be
	// everything that the outbox holds as well.
	repairAlone, repairBatch = 20, 100
)

// FindDriftInput asks for one page of tables that are behind.
type FindDriftInput struct {
	After string        `json:"after,omitempty"` // table id: the page starts behind it
	Quiet time.Duration `json:"quiet"`           // what changed later than this ago is left to the dispatcher
}

// FindDriftResult says how far the page went and what it started.
type FindDriftResult struct {
	Tables  int    `json:"tables,omitempty"` // seen
	Started int    `json:"started,omitempty"`
	Next    string `json:"next,omitempty"` // After of the next page; "" at the end
}

// FindDrift starts the reconciliation of what no event announced, or whose workflow failed: snapshots of drifted tables without a
// finished ledger row. Starting one that runs is no error and reconciling twice records once, so that it may run again.
func (a *Activities) FindDrift(ctx context.Context, in FindDriftInput) (FindDriftResult, error) {
	defer heartbeat(ctx)()
	out, err := a.findDrift(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) findDrift(ctx context.Context, in FindDriftInput) (FindDriftResult, error) {
	var out FindDriftResult
	tables, err := a.ports.Ledger.Drifted(ctx, in.After, in.Quiet, driftPage)
	if err != nil {
		return out, err
	}
	var missing []Target
	for _, drifted := range tables {
		targets, err := a.missing(ctx, drifted)
		if err != nil {
			return out, err
		}
		missing = append(missing, targets...)
	}
	if err := a.repair(ctx, missing); err != nil {
		return out, err
	}
	out.Tables, out.Started = len(tables), len(missing)
	if len(tables) == driftPage {
		out.Next = tables[len(tables)-1].TableID
	}
	return out, nil
}

// missing gives what has to be started of a table and settles what has not: a table whose main was set back to a recorded
// snapshot needs no work, only its recorded head moved there.
func (a *Activities) missing(ctx context.Context, d DriftedTable) ([]Target, error) {
	var missing []Target
	table := Target{CatalogID: d.CatalogID, TableID: d.TableID, TableUUID: d.TableUUID, TableName: d.TableName}
	for _, id := range d.SnapshotIDs {
		target := table.At(id)
		commit, err := a.ports.Ledger.Commit(ctx, target.TableID, target.SnapshotID)
		switch {
		case err != nil && !fault.Is(err, fault.NotFound):
			return nil, err
		case err != nil || commit.Status == models.CommitPending:
			missing = append(missing, target)
		case commit.Status == models.CommitReconciled:
			if err := a.settle(ctx, target, commit); err != nil {
				return nil, err
			}
		}
	}
	return missing, nil
}

func (a *Activities) repair(ctx context.Context, targets []Target) error {
	if len(targets) >= repairAlone {
		for chunk := range slices.Chunk(targets, repairBatch) {
			if err := a.ports.Starter.RepairBatch(ctx, chunk); err != nil {
				return err
			}
		}
		return nil
	}
	for _, t := range targets {
		if err := a.ports.Starter.RepairCommit(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// settle records a finished commit again: that writes no second event, and moves the recorded head to it if it is the
// table's head now.
func (a *Activities) settle(ctx context.Context, t Target, c models.Commit) error {
	event := a.auditEvent(c, "", a.ports.Now().UTC())
	event.Type, event.DedupeKey = reconciledType(c), dedupeKey("reconciled", t)
	_, err := a.ports.Ledger.RecordCommit(ctx, Recording{Commit: c, RowCount: c.RowCountAfter, Audit: event})
	return err
}
