package activities

import (
	"context"
	"slices"
	"strconv"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// MostDetected is how many snapshots one detection gives at most: a run's history stays small.
const MostDetected = 500

// largeFiles is from how many data files on counting is expected to take longer than a local activity may.
const largeFiles = 2000

// DetectCommitsInput asks what is to be reconciled for a snapshot.
type DetectCommitsInput struct {
	Target Target `json:"target"`
	// Known is an ancestor that an earlier run of the same workflow has recorded, 0 for none: everything newer was
	// seen to be unrecorded then, and is not looked up again.
	Known int64 `json:"known,omitempty,string"`
	// Batch, unless empty, is the snapshots of the table that the same batch reconciles. Another ancestor with a pending
	// ledger row has an event of its own then: the walk ends there, or every batch of a backlog would redo all before it.
	Batch []int64 `json:"batch,omitempty"`
	Limit int     `json:"limit,omitempty"` // default MostDetected
}

// DetectCommitsResult is the work found.
type DetectCommitsResult struct {
	Gone      Gone               `json:"gone,omitempty"`
	Catalog   string             `json:"catalog,omitempty"` // name, for the audit
	Snapshots []DetectedSnapshot `json:"snapshots,omitempty"`
	More      bool               `json:"more,omitempty"` // newer ones remain
}

// DetectedSnapshot is a snapshot without a finished ledger row.
type DetectedSnapshot struct {
	ID     int64 `json:"id,string"`
	OnMain bool  `json:"onMain,omitempty"`
	Large  bool  `json:"large,omitempty"` // counting it is work for an ordinary activity
}

// DetectCommits gives the snapshots to reconcile, oldest first: the target and its ancestors up to the first whose
// ledger row is finished. A finished target that is main's head is made the recorded one again, which it is not after a
// rollback. It may run any number of times.
func (a *Activities) DetectCommits(ctx context.Context, in DetectCommitsInput) (DetectCommitsResult, error) {
	out, err := a.detectCommits(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) detectCommits(ctx context.Context, in DetectCommitsInput) (DetectCommitsResult, error) {
	var out DetectCommitsResult
	done, err := a.finished(ctx, in.Target)
	if err == nil && done {
		err = a.refresh(ctx, in.Target)
	}
	if err != nil || done {
		return out, err
	}
	at, err := a.locate(ctx, in.Target)
	if err != nil {
		return out, err
	}
	if out.Catalog, err = a.catalogName(ctx, in.Target.CatalogID); err != nil {
		return out, err
	}
	if at.gone != NotGone {
		out.Gone = at.gone
		return out, nil
	}
	chain, err := a.unrecorded(ctx, in, at)
	if err != nil {
		return out, err
	}
	slices.Reverse(chain)
	limit := in.Limit
	if limit <= 0 {
		limit = MostDetected
	}
	if len(chain) > limit {
		chain, out.More = chain[:limit], true
	}
	for _, s := range chain {
		out.Snapshots = append(out.Snapshots, DetectedSnapshot{ID: s.ID, OnMain: onMain(at.current, s.ID), Large: large(s)})
	}
	return out, nil
}

// unrecorded walks from the target to its ancestors, newest first.
func (a *Activities) unrecorded(ctx context.Context, in DetectCommitsInput, at found) ([]metadata.Snapshot, error) {
	chain := []metadata.Snapshot{at.snapshot}
	for parent := at.snapshot.ParentID; parent != nil && *parent != in.Known; {
		snap, ok := at.doc.Snapshot(*parent)
		if !ok {
			break // expired; if its own event is still to come, that finds it in the ledger
		}
		if in.Known == 0 {
			ours, err := a.isOurs(ctx, in, snap.ID)
			if err != nil {
				return nil, err
			}
			if !ours {
				break
			}
		}
		chain, parent = append(chain, snap), snap.ParentID
	}
	return chain, nil
}

// isOurs tells whether an ancestor is for this run to reconcile.
func (a *Activities) isOurs(ctx context.Context, in DetectCommitsInput, id int64) (bool, error) {
	commit, err := a.settledCommit(ctx, in.Target.TableID, id)
	switch {
	case fault.Is(err, fault.NotFound):
		return true, nil // it arrived unseen
	case err != nil:
		return false, err
	}
	return commit.Status != models.CommitReconciled && (len(in.Batch) == 0 || slices.Contains(in.Batch, id)), nil
}

// finished tells whether a snapshot's ledger row says that nothing is left to do. An abandoned one may come back with
// its table.
func (a *Activities) finished(ctx context.Context, t Target) (bool, error) {
	commit, err := a.commitRow(ctx, t.TableID, t.SnapshotID) // whoever asks for it may know that the database was restored
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && commit.Status == models.CommitReconciled, err
}

// refresh makes a finished commit of main's head what is recorded of the table; it writes nothing where it is.
func (a *Activities) refresh(ctx context.Context, t Target) error {
	row, err := a.tableRow(ctx, t.TableID)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && (row.CurrentSnapshotID == nil || *row.CurrentSnapshotID != t.SnapshotID):
		return nil
	case err != nil:
		return err
	case row.RecordedSnapshotID != nil && *row.RecordedSnapshotID == t.SnapshotID:
		return nil
	}
	commit, err := a.settledCommit(ctx, t.TableID, t.SnapshotID)
	if err != nil {
		return err
	}
	_, err = a.ports.Ledger.RecordCommit(ctx, Recording{Commit: commit, RowCount: commit.RowCountAfter})
	return err
}

// large guesses from the summary, which may lie: the guess only chooses how the counting is run.
func large(s metadata.Snapshot) bool {
	files, _ := strconv.ParseInt(s.Summary["total-data-files"], 10, 64)
	deletes, _ := strconv.ParseInt(s.Summary["total-delete-files"], 10, 64)
	return files > largeFiles || deletes > 0
}
