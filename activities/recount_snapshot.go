package activities

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
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
	done, err := a.finished(ctx, t)
	if err != nil || done {
		out.Done = done
		return out, err
	}
	at, err := a.locate(ctx, t)
	if err != nil || at.gone != NotGone {
		out.Gone = at.gone
		return out, err
	}
	if out.RowCountBefore, err = a.rowCountBefore(ctx, t, at); err != nil {
		return out, err
	}
	counts, err := a.ports.Counter.Count(ctx, at.doc, at.snapshot)
	switch {
	case permanent(err):
		out.Why = publicMessage(err)
		if at.doc == at.current { // else its files may have been removed with it
			out.Findings = append(out.Findings, Finding{models.FindingMissingFile, out.Why})
		}
		return out, nil
	case err != nil:
		return out, err
	}
	out.Rows, out.Files, out.Bytes = &counts.AddedRows, &counts.AddedFiles, &counts.AddedBytes
	out.Exact, out.Why = counts.Exact, counts.Why
	out.ChangedFiles = counts.AddedFiles + counts.RemovedFiles + counts.DeleteFiles
	if counts.Exact {
		out.RowCountAfter = &counts.TotalRows
	}
	out.Findings = append(out.Findings, summaryMismatch(at.snapshot, counts)...)
	return out, nil
}

// rowCountBefore is the parent's row count: from its ledger row when that has one, else counted, so that the order in which
// commits are reconciled does not matter. nil is unknown.
func (a *Activities) rowCountBefore(ctx context.Context, t Target, at found) (*int64, error) {
	if at.snapshot.ParentID == nil {
		none := int64(0)
		return &none, nil
	}
	parent, err := a.ports.Ledger.Commit(ctx, t.TableID, *at.snapshot.ParentID)
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

// summaryMismatch compares what the writer claims with what was counted. A claim that is absent is no claim.
func summaryMismatch(s metadata.Snapshot, c reconcile.Counts) []Finding {
	var findings []Finding
	check := func(key string, counted int64) {
		claimed, err := strconv.ParseInt(s.Summary[key], 10, 64)
		if err == nil && claimed != counted {
			findings = append(findings, Finding{models.FindingSummaryMismatch, fmt.Sprintf("The summary claims %s=%d; %d were counted.", key, claimed, counted)})
		}
	}
	check("added-records", c.AddedRows)
	check("added-data-files", c.AddedFiles)
	if c.Exact {
		check("total-records", c.TotalRows)
	}
	return findings
}
