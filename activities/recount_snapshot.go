package activities

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
)

// Finding is one observation about a commit with its evidence, a sentence.
type Finding struct {
	Kind     models.FindingKind `json:"kind"`
	Evidence string             `json:"evidence"`
}

// RecountSnapshotInput asks for the exact numbers of one snapshot.
type RecountSnapshotInput struct {
	Target Target `json:"target"`
}

// RecountSnapshotResult is what was counted; nil is what could not be known, and Why then says why.
type RecountSnapshotResult struct {
	Done           bool      `json:"done,omitempty"` // somebody else finished the commit meanwhile
	Gone           Gone      `json:"gone,omitempty"`
	Rows           *int64    `json:"rows,omitempty"`  // added
	Files          *int64    `json:"files,omitempty"` // added
	Bytes          *int64    `json:"bytes,omitempty"` // added
	RowCountBefore *int64    `json:"rowCountBefore,omitempty"`
	RowCountAfter  *int64    `json:"rowCountAfter,omitempty"`
	Exact          bool      `json:"exact,omitempty"` // RowCountAfter is
	Why            string    `json:"why,omitempty"`
	Findings       []Finding `json:"findings,omitempty"`
	// ChangedFiles is how many data and delete files the snapshot added or removed: those are to be recorded. Histories of
	// before that have none.
	ChangedFiles int64 `json:"changedFiles,omitempty"`
	// RemovedRows is how many rows readers no longer get: with files, or by deletes. nil is unknown.
	RemovedRows  *int64 `json:"removedRows,omitempty"`
	RemovedFiles *int64 `json:"removedFiles,omitempty"` // data files
	RemovedBytes *int64 `json:"removedBytes,omitempty"` // of those
	DeleteFiles  *int64 `json:"deleteFiles,omitempty"`  // delete files that it added
	// Partitions are those that it touched, the most rows first, mostPartitions at most.
	Partitions []models.PartitionChange `json:"partitions,omitempty"`
	// LiveEqualityDeletes is how many equality delete files readers have to apply.
	LiveEqualityDeletes *int64 `json:"liveEqualityDeletes,omitempty"`
}

// RecountSnapshot counts what a snapshot added and the table's rows before and after it. It only reads immutable
// files, so that every run gives the same numbers. Files that are missing or unreadable for good are a finding, not a failure:
// the commit is still to be recorded.
func (a *Activities) RecountSnapshot(ctx context.Context, in RecountSnapshotInput) (RecountSnapshotResult, error) {
	defer heartbeat(ctx)()
	out, err := a.recountSnapshot(ctx, in.Target)
	return out, toTemporal(ctx, err)
}

func (a *Activities) recountSnapshot(ctx context.Context, t Target) (RecountSnapshotResult, error) {
	var out RecountSnapshotResult
	commit, err := a.recentCommit(ctx, t.TableID, t.SnapshotID)
	if err == nil && commit.Status == models.CommitReconciled || err != nil && !fault.Is(err, fault.NotFound) {
		out.Done = err == nil
		return out, err
	}
	at, err := a.locateRecent(ctx, t)
	if err != nil || at.gone != NotGone {
		out.Gone = at.gone
		return out, err
	}
	if out.RowCountBefore, err = a.rowCountBefore(ctx, t, at); err != nil {
		return out, err
	}
	counts, at, err := a.count(ctx, t, at)
	switch {
	case at.gone != NotGone:
		out.Gone = at.gone
		return out, err
	case permanent(err):
		out.Why = publicMessage(err)
		if at.doc == at.current { // else its files may have been removed with it
			out.Findings = append(out.Findings, Finding{models.FindingMissingFile, out.Why})
		}
		return out, nil
	case err != nil:
		return out, err
	}
	out.take(counts)
	out.Findings = append(out.Findings, summaryMismatch(at, counts)...)
	return out, nil
}

// count counts a snapshot. Where it was found in what is remembered and its files cannot be read, they may have been removed
// with it since: it is looked for again.
func (a *Activities) count(ctx context.Context, t Target, at found) (reconcile.Counts, found, error) {
	counts, err := a.ports.Counter.Count(ctx, at.doc, at.snapshot)
	if permanent(err) && at.recent {
		if at, err = a.locate(ctx, t); err == nil && at.gone == NotGone {
			counts, err = a.ports.Counter.Count(ctx, at.doc, at.snapshot)
		}
	}
	return counts, at, err
}

// mostPartitions bounds the partitions in a result, which goes into a history.
const mostPartitions = 20

// take takes over what was counted.
func (r *RecountSnapshotResult) take(c reconcile.Counts) {
	r.Rows, r.Files, r.Bytes = &c.AddedRows, &c.AddedFiles, &c.AddedBytes
	r.RemovedFiles, r.RemovedBytes, r.DeleteFiles = &c.RemovedFiles, &c.RemovedBytes, &c.AddedDeleteFiles
	r.Partitions = c.Partitions[:min(len(c.Partitions), mostPartitions)]
	r.LiveEqualityDeletes = &c.LiveEqualityDeletes
	r.Exact, r.Why = c.Exact, c.Why
	r.ChangedFiles = c.AddedFiles + c.RemovedFiles + c.DeleteFiles
	if c.Exact {
		r.RowCountAfter = &c.TotalRows
	}
	deletes := c.DeleteFiles + c.LiveEqualityDeletes + c.LivePositionDeletes + c.LiveVectors
	switch {
	case r.RowCountBefore != nil && r.RowCountAfter != nil:
		removed := max(*r.RowCountBefore+c.AddedRows-c.TotalRows, 0) // less than none came back with deletes that went
		r.RemovedRows = &removed
	case c.Exact && deletes == 0:
		r.RemovedRows = &c.RemovedRows
	}
}

// rowCountBefore is the parent's row count: from its ledger row when that has one, else counted, so that the order in which
// commits are reconciled does not matter. nil is unknown.
func (a *Activities) rowCountBefore(ctx context.Context, t Target, at found) (*int64, error) {
	if at.snapshot.ParentID == nil {
		none := int64(0)
		return &none, nil
	}
	parent, err := a.settledCommit(ctx, t.TableID, *at.snapshot.ParentID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	if err == nil && parent.Status == models.CommitReconciled {
		return parent.RowCountAfter, nil
	}
	snap, ok := at.doc.Snapshot(*at.snapshot.ParentID)
	if !ok {
		return nil, nil
	}
	counts, err := a.ports.Counter.Count(ctx, at.doc, snap)
	if permanent(err) || err == nil && !counts.Exact {
		return nil, nil
	}
	return &counts.TotalRows, err
}

// summaryMismatch compares what the writer claims with what was counted. A claim that is absent is no claim. Totals are of data
// files, whatever deletes remove of them; a writer that carries on a total of before, wrong as that was, claims nothing
// wrong itself. Engines differ on what the size of a delete file is, so that sizes are compared where there are none.
func summaryMismatch(at found, c reconcile.Counts) []Finding {
	var before map[string]string
	if id := at.snapshot.ParentID; id != nil {
		if parent, ok := at.doc.Snapshot(*id); ok {
			before = parent.Summary
		}
	}
	claims := claims{of: at.snapshot.Summary, before: before}
	claims.check("added-records", c.AddedRows)
	claims.check("added-data-files", c.AddedFiles)
	claims.check("deleted-records", c.RemovedRows)
	claims.check("deleted-data-files", c.RemovedFiles)
	if c.DeleteFiles == 0 {
		claims.check("added-files-size", c.AddedBytes)
	}
	claims.checkTotal("total-records", c.LiveRows, c.AddedRows-c.RemovedRows)
	claims.checkTotal("total-data-files", c.LiveFiles, c.AddedFiles-c.RemovedFiles)
	return claims.wrong
}

// claims are what summaries say, of a snapshot and the one before.
type claims struct {
	of, before map[string]string
	wrong      []Finding
}

func (c *claims) check(key string, counted int64) {
	if claimed, ok := claim(c.of, key); ok && claimed != counted {
		c.wrong = append(c.wrong, Finding{models.FindingSummaryMismatch, fmt.Sprintf("The summary claims %s=%d; %d were counted.", key, claimed, counted)})
	}
}

// checkTotal checks a total that the snapshot changed by so much.
func (c *claims) checkTotal(key string, counted, change int64) {
	claimed, ok := claim(c.of, key)
	if before, known := claim(c.before, key); ok && known && claimed == before+change {
		return
	}
	c.check(key, counted)
}

// claim reads a number of a summary.
func claim(summary map[string]string, key string) (int64, bool) {
	n, err := strconv.ParseInt(summary[key], 10, 64)
	return n, err == nil
}
