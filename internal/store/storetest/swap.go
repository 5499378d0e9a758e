package storetest

import (
	"context"
	"testing"
	"time"

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
		"a commit may have very many snapshots":                  manySnapshots,
		"new tables and swaps are one":                           swapsBesideCreates,
		"a table is not moved to where another is":               movesApart,
		"main back at a snapshot has its count back":             returnsToCount,
		"a table is reserved by one, for a time":                 reservedByOne,
		"a swap of a dropped table is not found": func(t *testing.T, f *fixture) {
			row := f.table(t, "orders")
			require.NoError(t, f.drop(t, row.ID))
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
			row.ID, row.Name, row.UUID, row.Location = uuid.NewString(), "known", uuid.NewString(), "s3://lake/known"
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

func movesApart(t *testing.T, f *fixture) {
	a, b := f.table(t, "a"), f.table(t, "b")
	moved := func(row models.Table, location string) catalog.Swap {
		swap := swapTo(row, 1, 1)
		swap.Table.Location, swap.Moves = location, true
		return swap
	}
	for _, location := range []string{b.Location, b.Location + "/data", "s3://lake/sales"} {
		requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{moved(a, location)}), fault.Conflict, fault.NoSubject)
		assert.Equal(t, a.Version, f.load(t, a.ID).Version)
	}
	place := "s3://lake/sales/new"
	both := []catalog.Swap{moved(a, place), moved(b, place+"/in")}
	requireFault(t, f.s.SwapTables(t.Context(), both), fault.Conflict, fault.NoSubject)
	results := make([]error, 2)
	together(2, func(i int) { results[i] = f.s.SwapTables(t.Context(), both[i:i+1]) })
	if results[0] != nil {
		results[0], results[1] = results[1], results[0]
	}
	require.NoError(t, results[0])
	requireFault(t, results[1], fault.Conflict, fault.NoSubject)
}

func returnsToCount(t *testing.T, f *fixture) {
	row := f.commit(t, f.table(t, "orders"), 1, 1)
	first := recording(row, 1, 1)
	first.RowCount, first.Commit.RowCountAfter = ptr(int64(3)), ptr(int64(3))
	require.True(t, f.record(t, first))
	row = f.commit(t, f.load(t, row.ID), 2, 2)
	second := recording(row, 2, 2)
	second.RowCount, second.Commit.RowCountAfter = ptr(int64(7)), ptr(int64(7))
	require.True(t, f.record(t, second))
	back := func(snapshot int64) models.Table {
		swap := swapTo(f.load(t, row.ID), snapshot, 0)
		swap.Effects.Commits, swap.Returns = nil, true
		require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
		return f.load(t, row.ID)
	}
	before := len(f.outbox(t))
	for snapshot, rows := range map[int64]int64{1: 3, 2: 7} {
		got := back(snapshot)
		assert.Equal(t, snapshot, *got.RecordedSnapshotID)
		assert.Equal(t, rows, *got.RowCount)
	}
	assert.Len(t, f.outbox(t), before)
	back(9) // a part of the history that nobody has recorded
	events := f.outbox(t)
	require.Len(t, events, before+1)
	last := events[before]
	assert.EqualValues(t, 9, last.SnapshotID)
	assert.Equal(t, []string{row.ID, row.UUID, "sales.orders"}, []string{last.TableID, last.TableUUID, last.TableName})
}

func manySnapshots(t *testing.T, f *fixture) {
	const n = 3000
	swap := swapTo(f.table(t, "orders"), n, n)
	swap.Effects.Commits = nil
	for i := int64(1); i <= n; i++ {
		swap.Effects.Commits = append(swap.Effects.Commits, commitOf(swap.Table, i, i))
	}
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
	assert.Len(t, f.outbox(t), n)
	commits, err := f.s.Commits(t.Context(), models.CommitFilter{TableID: swap.Table.ID})
	require.NoError(t, err)
	assert.Len(t, commits, n)
}

func swapsBesideCreates(t *testing.T, f *fixture) {
	a, made := f.table(t, "a"), f.newTable("made")
	create := catalog.Swap{Table: made, Create: true, Effects: catalog.Effects{
		Commits: []models.Commit{commitOf(made, 5, 1)}, Audit: []models.AuditEvent{event(models.AuditTableCreated)},
	}}
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{create, swapTo(a, 1, 1)}))
	assert.Equal(t, made.MetadataLocation, f.load(t, made.ID).MetadataLocation)
	assert.EqualValues(t, 1, *f.load(t, a.ID).CurrentSnapshotID)
	assert.Len(t, f.outbox(t), 2)
	assert.Len(t, f.audit(t, models.AuditTableCreated), 2)

	current, other := f.load(t, a.ID), f.newTable("other")
	below := f.newTable("below")
	below.Location = other.Location + "/below"
	missing := f.newTable("nowhere")
	missing.NamespaceID = uuid.NewString()
	for name, c := range map[string]struct {
		swaps   []catalog.Swap
		code    fault.Code
		subject fault.Subject
	}{
		"a stale swap":            {[]catalog.Swap{{Table: other, Create: true}, swapTo(a, 2, 2)}, fault.Conflict, fault.Table},
		"a taken name":            {[]catalog.Swap{swapTo(current, 2, 2), {Table: f.newTable("made"), Create: true}}, fault.AlreadyExists, fault.Table},
		"two that overlap":        {[]catalog.Swap{{Table: other, Create: true}, {Table: below, Create: true}, swapTo(current, 2, 2)}, fault.Conflict, fault.NoSubject},
		"a namespace that is not": {[]catalog.Swap{swapTo(current, 2, 2), {Table: missing, Create: true}}, fault.NotFound, fault.Namespace},
	} {
		t.Run(name, func(t *testing.T) {
			requireFault(t, f.s.SwapTables(t.Context(), c.swaps), c.code, c.subject)
			assert.Equal(t, current, f.load(t, a.ID), "the swap beside it was made")
			_, err := f.s.TableByName(t.Context(), f.ns.ID, "other")
			requireFault(t, err, fault.NotFound, fault.Table)
			assert.Len(t, f.outbox(t), 2)
		})
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

func reservedByOne(t *testing.T, f *fixture) {
	row, until := f.table(t, "orders"), time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	reserve := func(holder string, until time.Time) bool {
		reserved, err := f.s.ReserveTable(t.Context(), row.ID, holder, until)
		require.NoError(t, err)
		return reserved
	}
	require.True(t, reserve("a", until.Add(-time.Minute)))
	require.True(t, reserve("a", until), "the holder may renew it")
	require.False(t, reserve("b", until))
	got := f.load(t, row.ID)
	assert.Equal(t, "a", got.ReservedBy)
	assert.Equal(t, until, got.ReservedUntil.UTC())
	assert.Equal(t, row.Version, got.Version, "a commit that was judged before is not outdated")

	row = f.commit(t, row, 1, 1)
	require.NoError(t, f.s.ReleaseTable(t.Context(), row.ID, "b"))
	assert.Equal(t, "a", f.load(t, row.ID).ReservedBy, "neither a commit nor another ends it")
	require.NoError(t, f.s.ReleaseTable(t.Context(), row.ID, "a"))
	got = f.load(t, row.ID)
	assert.Empty(t, got.ReservedBy)
	assert.Nil(t, got.ReservedUntil)

	require.True(t, reserve("b", time.Now().Add(-time.Minute)))
	require.True(t, reserve("c", until), "one whose time is over is free")
	require.True(t, reserve("c", until.Add(24*time.Hour)))
	require.True(t, reserve("d", until), "nobody reserves for so long")
	row.ID = uuid.NewString()
	require.False(t, reserve("a", until), "a table that is gone")
	require.NoError(t, f.s.ReleaseTable(t.Context(), row.ID, "a"))
}
