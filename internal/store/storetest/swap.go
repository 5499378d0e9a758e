package storetest

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func swapCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a swap moves the pointer with ledger, outbox and audit": swapHasEffects,
		"a lost swap writes nothing":                             lostSwap,
		"several swaps are one":                                  severalSwaps,
		"a swap of a dropped table is not found": func(t *testing.T, f *fixture) {
			row := f.table(t, "orders")
			require.NoError(t, f.s.DropTable(t.Context(), row.ID, event(models.AuditTableDropped)))
			requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{swapTo(row, 1, 1)}), fault.NotFound, fault.Table)
			assert.Empty(t, f.outbox(t))
		},
		"a platform commit that is done needs no outbox event": func(t *testing.T, f *fixture) {
			swap := swapTo(f.table(t, "orders"), 1, 1)
			swap.Effects.Commits[0].Status = models.CommitReconciled
			require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
			assert.Empty(t, f.outbox(t))
		},
		"a swap without a snapshot writes only audit": func(t *testing.T, f *fixture) {
			row := f.commit(t, f.table(t, "orders"), 1, 1)
			swap := swapTo(row, 1, 1)
			swap.Effects.Commits = nil
			require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
			assert.Len(t, f.outbox(t), 1)
			assert.Len(t, f.audit(t, models.AuditTableCommitted), 2)
		},
		"a snapshot the ledger has keeps its row": func(t *testing.T, f *fixture) {
			row := f.commit(t, f.table(t, "orders"), 1, 1)
			row = f.commit(t, row, 2, 2)
			row = f.commit(t, row, 1, 1)
			assert.EqualValues(t, 1, *row.CurrentSnapshotID)
			commits, err := f.s.Commits(t.Context(), models.CommitFilter{TableID: row.ID})
			require.NoError(t, err)
			assert.Len(t, commits, 2)
		},
		"another table under the same row forgets what was recorded": func(t *testing.T, f *fixture) {
			row := f.table(t, "orders")
			row.RecordedSnapshotID, row.RowCount = ptr(int64(7)), ptr(int64(70))
			row.ID, row.Name, row.Location = uuid.NewString(), "known", "s3://lake/known"
			require.NoError(t, f.s.CreateTable(t.Context(), row, catalog.Effects{}))
			row = f.commit(t, row, 8, 8)
			assert.EqualValues(t, 7, *row.RecordedSnapshotID)
			row.UUID = uuid.NewString()
			row = f.commit(t, row, 1, 1)
			assert.Nil(t, row.RecordedSnapshotID)
			assert.Nil(t, row.RowCount)
		},
		"a caller who has gone away leaves nothing": func(t *testing.T, f *fixture) {
			row := f.table(t, "orders")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, f.s.SwapTables(ctx, []catalog.Swap{swapTo(row, 1, 1)}), context.Canceled)
			assert.Equal(t, row.Version, f.load(t, row.ID).Version)
			assert.Empty(t, f.outbox(t))
		},
		"text that no column could hold does not fail a commit": func(t *testing.T, f *fixture) {
			swap := swapTo(f.table(t, "orders"), 1, 1)
			swap.Effects.Commits[0].Summary.V["note"] = "nul \x00 and \xff"
			swap.Effects.Commits[0].Writer.V.Client = "agent \x00\xff"
			swap.Effects.Audit[0].RequestID = "\x00\xff"
			swap.Effects.Audit[0].Details.V = map[string]any{"client": "\x00\xff"}
			require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
			got, err := f.s.Commit(t.Context(), swap.Table.ID, 1)
			require.NoError(t, err)
			assert.Contains(t, got.Summary.V["note"], "nul \x00 and")
		},
	}
}

func swapHasEffects(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	const snapshot = int64(8_888_888_888_888_888_887) // exact in 64 bits alone
	swap := swapTo(row, snapshot, 5)
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
	got := f.load(t, row.ID)
	assert.Equal(t, swap.Table.MetadataLocation, got.MetadataLocation)
	assert.Equal(t, snapshot, *got.CurrentSnapshotID)
	assert.Equal(t, row.Version+1, got.Version)

	commit, err := f.s.Commit(t.Context(), row.ID, snapshot)
	require.NoError(t, err)
	assert.Equal(t, models.CommitPending, commit.Status)
	assert.Equal(t, "3", commit.Summary.V["added-records"])
	assert.Equal(t, "spark", commit.Writer.V.Engine)
	assert.WithinRange(t, commit.CommittedAt, f.started, f.started.Add(60e9))

	out := f.outbox(t)
	require.Len(t, out, 1)
	assert.Equal(t, snapshot, out[0].SnapshotID)
	assert.Equal(t, []any{f.cat.ID, row.ID, row.UUID, "sales.orders"},
		[]any{out[0].CatalogID, out[0].TableID, out[0].TableUUID, out[0].TableName})
	committed := f.audit(t, models.AuditTableCommitted)
	require.Len(t, committed, 1)
	assert.Equal(t, snapshot, *committed[0].SnapshotID)
}

func lostSwap(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	won := f.commit(t, row, 1, 1)
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{swapTo(row, 2, 2)}), fault.Conflict, fault.Table)
	assert.Equal(t, won, f.load(t, row.ID))
	assert.Len(t, f.outbox(t), 1)
	assert.Len(t, f.audit(t, models.AuditTableCommitted), 1)
	_, err := f.s.Commit(t.Context(), row.ID, 2)
	requireFault(t, err, fault.NotFound, fault.NoSubject)
}

func severalSwaps(t *testing.T, f *fixture) {
	a, b, c := f.table(t, "a"), f.table(t, "b"), f.table(t, "c")
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swapTo(c, 1, 1), swapTo(a, 1, 1), swapTo(b, 1, 1)}))
	assert.Len(t, f.outbox(t), 3)
	a, c = f.load(t, a.ID), f.load(t, c.ID) // b stays stale
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{swapTo(a, 2, 2), swapTo(b, 2, 2), swapTo(c, 2, 2)}), fault.Conflict, fault.Table)
	assert.Equal(t, a, f.load(t, a.ID))
	assert.Equal(t, c, f.load(t, c.ID))
	assert.Len(t, f.outbox(t), 3)
	assert.Len(t, f.audit(t, models.AuditTableCommitted), 3)
	require.NoError(t, f.s.SwapTables(t.Context(), nil))
}
