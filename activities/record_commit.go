package activities

import (
	"context"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// RecordCommitInput is everything that a reconciliation learnt about a commit.
type RecordCommitInput struct {
	Target       Target                `json:"target"`
	Catalog      string                `json:"catalog,omitempty"` // name
	OnMain       bool                  `json:"onMain,omitempty"`
	Counts       RecountSnapshotResult `json:"counts"`
	Restamped    []string              `json:"restamped,omitempty"`
	RestampError string                `json:"restampError,omitempty"`
	Files        RecordFilesResult     `json:"files,omitzero"`
	FilesError   string                `json:"filesError,omitempty"` // why the files could not be recorded
	WorkflowID   string                `json:"workflowId"`
}

// RecordCommitResult tells whether this run made the record; false when it was there before.
type RecordCommitResult struct {
	Recorded bool `json:"recorded,omitempty"`
}

// RecordCommit finishes a commit's ledger row, says what is wrong with it and who wrote it, and writes its one audit event, in
// one transaction. It is idempotent by
// the ledger row's status and by the event's dedupe key reconciled/<table-id>/<snapshot-id>.
func (a *Activities) RecordCommit(ctx context.Context, in RecordCommitInput) (RecordCommitResult, error) {
	recorded, err := a.recordCommit(ctx, in)
	return RecordCommitResult{Recorded: recorded}, toTemporal(ctx, err)
}

func (a *Activities) recordCommit(ctx context.Context, in RecordCommitInput) (bool, error) {
	commit, ok, err := a.ledgerRow(ctx, in.Target)
	if err != nil || !ok {
		return false, err
	}
	var of analysis
	if commit.Status != models.CommitReconciled { // else another run made the record
		if of, err = a.analyse(ctx, commit, in); err != nil {
			return false, err
		}
	}
	now := a.ports.Now().UTC()
	finish(&commit, models.CommitReconciled, in.WorkflowID, now)
	counted(&commit, in.Counts)

	event := a.auditEvent(commit, in.Catalog, now)
	event.Type, event.DedupeKey = reconciledType(commit), dedupeKey("reconciled", in.Target)
	event.Details.V = reconciledDetails(commit, in, of.findings)
	return a.recordRow(ctx, Recording{
		Commit: commit, OnMain: in.OnMain, RowCount: in.Counts.RowCountAfter, Audit: event,
		Findings: of.findings, Resolved: of.resolved, Writers: of.writers,
	})
}

// counted fills in the numbers of a commit.
func counted(c *models.Commit, n RecountSnapshotResult) {
	c.AddedRows, c.AddedFiles, c.AddedBytes = n.Rows, n.Files, n.Bytes
	c.RemovedRows, c.RemovedFiles, c.RemovedBytes, c.DeleteFiles = n.RemovedRows, n.RemovedFiles, n.RemovedBytes, n.DeleteFiles
	c.RowCountBefore, c.RowCountAfter, c.Partitions.V = n.RowCountBefore, n.RowCountAfter, n.Partitions
}

func finish(c *models.Commit, status models.CommitStatus, workflowID string, now time.Time) {
	c.Status, c.WorkflowID, c.ReconciledAt = status, workflowID, &now
}

func reconciledType(c models.Commit) models.AuditType {
	if c.Kind == models.PlatformCommit {
		return models.AuditPlatformCommitReconciled
	}
	return models.AuditCommitReconciled
}

// dedupeKey is by the id of the table's row, as the ledger is: a table that was dropped and registered again has the
// uuid and the snapshots of before, but its commits are effects of their own.
func dedupeKey(what string, t Target) *string {
	key := what + "/" + t.TableID + "/" + strconv.FormatInt(t.SnapshotID, 10)
	return &key
}

// ledgerRow gives the row that the commit wrote, or makes one of the snapshot itself where it arrived unseen, such
// as the history of a registered table; false when that is gone.
func (a *Activities) ledgerRow(ctx context.Context, t Target) (models.Commit, bool, error) {
	commit, err := a.recentCommit(ctx, t.TableID, t.SnapshotID)
	if !fault.Is(err, fault.NotFound) {
		return commit, err == nil, err
	}
	at, err := a.locate(ctx, t)
	if err != nil || at.gone != NotGone {
		return models.Commit{}, false, err
	}
	return unseenCommit(t, at), true, nil
}

func unseenCommit(t Target, at found) models.Commit {
	s := at.snapshot
	c := models.Commit{
		CatalogID: t.CatalogID, TableID: t.TableID, TableUUID: t.TableUUID, TableName: t.TableName,
		SnapshotID: s.ID, ParentSnapshotID: s.ParentID, SequenceNumber: s.SequenceNumber,
		Operation: s.Operation, MetadataLocation: at.location,
		Kind: models.ExternalCommit, CommittedAt: time.UnixMilli(s.TimestampMs).UTC(), Status: models.CommitPending,
	}
	c.Summary.V = s.Summary
	c.Writer.V = models.Writer{Engine: writers.Shorten(s.Summary["engine-name"])}
	if s.SchemaID != nil {
		schema := int64(*s.SchemaID)
		c.SchemaID = &schema
	}
	if onMain(at.doc, s.ID) {
		c.Ref = "main"
	}
	return c
}
