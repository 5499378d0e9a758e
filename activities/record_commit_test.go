package activities_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
)

func TestACommitIsAuditedOnceWithEverythingKnown(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	require.True(t, r.reconcile(r.world.Commit(table)))
	target := r.world.Commit(table)
	require.True(t, r.reconcile(target, "sluice.classification"))
	require.False(t, r.reconcile(target), "a second run records nothing")

	events := r.world.Audits()
	require.Len(t, events, 2)
	event := events[1]
	require.Equal(t, models.AuditCommitReconciled, event.Type)
	require.Equal(t, "reconciled/"+target.TableID+"/9007199254740994", *event.DedupeKey)
	require.Equal(t, "etl", event.Principal)
	require.Equal(t, "req-1", event.RequestID)
	require.Equal(t, "10.0.0.1", event.Address)
	require.Equal(t, [3]string{"main", "sales", "sales.orders"}, [3]string{event.Catalog, event.Namespace, event.Table})
	require.Equal(t, target.SnapshotID, *event.SnapshotID)
	require.True(t, event.Allowed)
	for _, added := range []string{"removedRows", "removedFiles", "removedBytes", "deleteFiles", "partitions"} {
		require.Contains(t, event.Details.V, added)
		delete(event.Details.V, added) // see TestWhatWasCountedIsInTheLedgerAndTheAudit
	}
	details, err := json.Marshal(event.Details.V)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"snapshot": "9007199254740994", "operation": "append", "ref": "main", "workflowId": "reconcile/a-table/1",
		"rows": 10, "files": 1, "bytes": 1000, "rowCountBefore": 10, "rowCountAfter": 20, "exact": true,
		"restamped": ["sluice.classification"], "findings": [],
		"writer": {"principal": "etl", "tokenId": "tok-1", "engine": "spark", "client": "Apache-Spark/4.0"}
	}`, string(details))
}

func TestTheLedgerRowIsFinished(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	require.True(t, r.reconcile(target))
	c, err := r.world.Ledger().Commit(t.Context(), target.TableID, target.SnapshotID)
	require.NoError(t, err)
	require.Equal(t, models.CommitReconciled, c.Status)
	require.Equal(t, workflowID, c.WorkflowID)
	require.Equal(t, int64(0), *c.RowCountBefore, "the first snapshot starts at nothing")
	require.Equal(t, int64(10), *c.RowCountAfter)
	require.NotNil(t, c.ReconciledAt)
	row := r.world.Table(target).Row
	require.Equal(t, target.SnapshotID, *row.RecordedSnapshotID)
	require.Equal(t, int64(10), *row.RowCount)
}

func TestPlatformCommitsHaveTheirOwnEvent(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	c, err := r.world.Ledger().Commit(t.Context(), target.TableID, target.SnapshotID)
	require.NoError(t, err)
	c.Kind = models.PlatformCommit
	r.world.SetCommit(c)
	require.True(t, r.reconcile(target))
	require.Equal(t, models.AuditPlatformCommitReconciled, r.world.Audits()[0].Type)
}

func TestAnUnseenSnapshotGetsALedgerRow(t *testing.T) {
	r := newRig(t)
	target := r.world.CommitUnseen(r.world.AddTable("orders"))
	require.True(t, r.reconcile(target))
	c, err := r.world.Ledger().Commit(t.Context(), target.TableID, target.SnapshotID)
	require.NoError(t, err)
	require.Equal(t, models.CommitReconciled, c.Status)
	require.Equal(t, [4]string{"sales.orders", "append", "main", "spark"}, [4]string{c.TableName, c.Operation, c.Ref, c.Writer.V.Engine})
	require.Equal(t, models.ExternalCommit, c.Kind)
	require.NotEmpty(t, c.MetadataLocation)
}

// Two runs of one table may finish in any order: numbers and the recorded head come out the same.
func TestTheOrderOfReconciliationsDoesNotMatter(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	older, newer := r.world.Commit(table), r.world.Commit(table)
	require.True(t, r.reconcile(newer))
	require.True(t, r.reconcile(older))
	row := r.world.Table(table).Row
	require.Equal(t, newer.SnapshotID, *row.RecordedSnapshotID)
	require.Equal(t, int64(20), *row.RowCount)
	for i, want := range [][2]int64{{10, 20}, {0, 10}} {
		d := r.world.Audits()[i].Details.V
		require.Equal(t, want, [2]int64{d["rowCountBefore"].(int64), d["rowCountAfter"].(int64)})
	}
}

func TestFilesThatAreMissingAreAFindingAndTheCommitIsRecorded(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.world.SetFail(func(port, _ string) error {
		if port == "Count" {
			return fault.About(fault.NotFound, fault.File, "The manifest list of the snapshot is missing.")
		}
		return nil
	})
	require.True(t, r.reconcile(target))
	d := r.world.Audits()[0].Details.V
	require.Nil(t, d["rows"])
	require.Nil(t, d["rowCountAfter"])
	require.Equal(t, false, d["exact"])
	require.Equal(t, "The manifest list of the snapshot is missing.", d["why"])
	require.Equal(t, []map[string]any{{"kind": "missing_file", "evidence": "The manifest list of the snapshot is missing."}}, d["findings"])
}

func TestAnUnreachableStoreIsNoFinding(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.world.SetFail(func(port, _ string) error {
		if port == "Count" {
			return fault.New(fault.Unavailable, "The object store does not answer.")
		}
		return nil
	})
	_, err := run(r, r.acts.RecountSnapshot, activities.RecountSnapshotInput{Target: target})
	require.False(t, asApplication(t, err).NonRetryable())
}

func TestASummaryThatLiesIsAFinding(t *testing.T) {
	r := newRig(t, counting(reconcile.Counts{AddedRows: 9, AddedFiles: 1, LiveRows: 9, LiveFiles: 1, TotalRows: 9, Exact: true}))
	target := r.world.Commit(r.world.AddTable("orders"))
	got := must(r, r.acts.RecountSnapshot, activities.RecountSnapshotInput{Target: target})
	require.Equal(t, []activities.Finding{
		{Kind: models.FindingSummaryMismatch, Evidence: "The summary claims added-records=10; 9 were counted."},
		{Kind: models.FindingSummaryMismatch, Evidence: "The summary claims total-records=10; 9 were counted."},
	}, got.Findings)
}

func TestRowsThatCannotBeCountedExactlyAreNotClaimed(t *testing.T) {
	r := newRig(t, counting(reconcile.Counts{AddedRows: 10, AddedFiles: 1, LiveRows: 10, LiveFiles: 1, TotalRows: 77, Why: "equality deletes are live"}))
	target := r.world.Commit(r.world.AddTable("orders"))
	got := must(r, r.acts.RecountSnapshot, activities.RecountSnapshotInput{Target: target})
	require.Nil(t, got.RowCountAfter)
	require.Equal(t, int64(10), *got.Rows)
	require.Equal(t, "equality deletes are live", got.Why)
}
