package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

func historyCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a commit has what its writer did before":          historyBefore,
		"a piece of a stream is found however old it is":   historyUnits,
		"the first commit of a job is found":               historyJobs,
		"a commit that the ledger lacks sees all others":   historyUnseen,
		"a commit keeps who made it and gets what it did":  historyFacts,
		"swaps of several tables note the writer as well":  historySwaps,
		"ancestors are told by the ledger":                 ancestorsKnown,
		"what is beyond the ledger may be an ancestor":     ancestorsBeyond,
		"before format version 2 the time of commits does": ancestorsV1,
	}
}

// streamed commits a piece of a stream to a table, as a writer of it.
func (f *fixture) streamed(t *testing.T, row models.Table, snapshot int64, writer, job, unit string) models.Table {
	t.Helper()
	swap := swapTo(row, snapshot, snapshot)
	c := &swap.Effects.Commits[0]
	c.WriterID, c.Job, c.Unit, c.SchemaID = writer, job, unit, ptr(int64(0))
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
	return f.load(t, row.ID)
}

func (f *fixture) history(t *testing.T, c models.Commit) findings.History {
	t.Helper()
	h, err := f.s.History(t.Context(), c)
	require.NoError(t, err)
	return h
}

func (f *fixture) ledger(t *testing.T, row models.Table, snapshot int64) models.Commit {
	t.Helper()
	c, err := f.s.Commit(t.Context(), row.ID, snapshot)
	require.NoError(t, err)
	return c
}

func commitIDs(commits []models.Commit) []int64 {
	out := []int64{}
	for _, c := range commits {
		out = append(out, c.SnapshotID)
	}
	return out
}

func historyBefore(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	for n := int64(1); n <= 70; n++ {
		writer := "w"
		if n%7 == 0 {
			writer = "another"
		}
		row = f.streamed(t, row, n, writer, "j", "checkpoint/"+strconv.FormatInt(n, 10))
	}
	c := f.ledger(t, row, 10)
	h := f.history(t, c)
	assert.Equal(t, []int64{9, 8, 6, 5, 4, 3, 2, 1}, commitIDs(h.Before))
	assert.Empty(t, h.SameUnit)
	assert.EqualValues(t, 1, h.FirstOfJob.SnapshotID)
	before := h.Before[0]
	assert.Equal(t, []string{"w", "j", "checkpoint/9", "3", "spark"}, []string{before.WriterID, before.Job, before.Unit, before.Summary.V["added-records"], before.Writer.V.Engine})
	assert.WithinRange(t, before.CommittedAt, f.started, time.Now())
	assert.EqualValues(t, 0, *before.SchemaID)
	assert.Len(t, f.history(t, f.ledger(t, row, 69)).Before, 59)
	for n := int64(71); n <= 80; n++ {
		row = f.streamed(t, row, n, "w", "j", "")
	}
	assert.Len(t, f.history(t, f.ledger(t, row, 80)).Before, findings.HistoryDepth)
	latest, err := f.s.LatestOf(t.Context(), "w", 3)
	require.NoError(t, err)
	assert.Equal(t, []int64{80, 79, 78}, commitIDs(latest))
	c.WriterID = ""
	assert.Zero(t, f.history(t, c), "without a writer there is none")
}

func historyUnits(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	for n := int64(1); n <= 5; n++ {
		row = f.streamed(t, row, n, "w", "j", "checkpoint/7")
	}
	row = f.streamed(t, row, 6, "other", "j", "checkpoint/7")
	row = f.streamed(t, row, 7, "w", "j", "checkpoint/8")
	assert.Equal(t, []int64{1, 2, 4, 5}, commitIDs(f.history(t, f.ledger(t, row, 3)).SameUnit), "later ones too")
	assert.Empty(t, f.history(t, f.ledger(t, row, 6)).SameUnit)
	units, err := f.s.CommitsOfUnit(t.Context(), "w", "checkpoint/7")
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3, 4, 5}, commitIDs(units))
	units, err = f.s.CommitsOfUnit(t.Context(), "w", "")
	require.NoError(t, err)
	assert.Empty(t, units)
}

func historyJobs(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	for n := int64(1); n <= 9; n++ {
		row = f.streamed(t, row, n, "w", "job-"+strconv.FormatInt((n-1)/3, 10), "checkpoint/"+strconv.FormatInt(n, 10))
	}
	row = f.streamed(t, row, 10, "w", "job-0", "checkpoint/10")
	for snapshot, first := range map[int64]int64{2: 1, 6: 4, 9: 7, 10: 1} {
		got := f.history(t, f.ledger(t, row, snapshot)).FirstOfJob
		require.NotNil(t, got, snapshot)
		assert.Equal(t, first, got.SnapshotID, snapshot)
	}
	for _, snapshot := range []int64{1, 4, 7} {
		assert.Nil(t, f.history(t, f.ledger(t, row, snapshot)).FirstOfJob, "it is that itself")
	}
	row = f.streamed(t, row, 11, "w", "", "epoch/3")
	assert.Nil(t, f.history(t, f.ledger(t, row, 11)).FirstOfJob)
}

func historyUnseen(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	for n := int64(1); n <= 3; n++ {
		row = f.streamed(t, row, n, "w", "j", "checkpoint/1")
	}
	unseen := commitOf(row, 9, 9)
	unseen.WriterID, unseen.Job, unseen.Unit = "w", "j", "checkpoint/1"
	h := f.history(t, unseen)
	assert.Equal(t, []int64{3, 2, 1}, commitIDs(h.Before))
	assert.Equal(t, []int64{1, 2, 3}, commitIDs(h.SameUnit))
	assert.EqualValues(t, 1, h.FirstOfJob.SnapshotID)
	unseen.Ref = "side"
	assert.Empty(t, f.history(t, unseen).Before, "what is before is on the same branch")
}

func historyFacts(t *testing.T, f *fixture) {
	row := f.streamed(t, f.table(t, "orders"), 1, "w", "j", "epoch/1")
	r := recording(row, 1, 1)
	r.Commit.RemovedRows, r.Commit.RemovedFiles, r.Commit.RemovedBytes, r.Commit.DeleteFiles = ptr(int64(1)), ptr(int64(2)), ptr(int64(3)), ptr(int64(4))
	r.Commit.SchemaID = ptr(int64(5))
	r.Commit.Partitions.V = []models.PartitionChange{{Partition: "day=2026-11-30", AddedRows: 3, AddedFiles: 1}}
	assert.True(t, f.record(t, r))
	got := f.ledger(t, row, 1)
	assert.Equal(t, []int64{1, 2, 3, 4}, []int64{*got.RemovedRows, *got.RemovedFiles, *got.RemovedBytes, *got.DeleteFiles})
	assert.Equal(t, r.Commit.Partitions.V, got.Partitions.V)
	assert.EqualValues(t, 0, *got.SchemaID, "as of the commit")
	assert.Equal(t, []string{"w", "j", "epoch/1"}, []string{got.WriterID, got.Job, got.Unit})
	row = f.commit(t, row, 2, 2)
	late := recording(row, 2, 2)
	late.Commit.SchemaID = ptr(int64(6))
	assert.True(t, f.record(t, late))
	assert.EqualValues(t, 6, *f.ledger(t, row, 2).SchemaID, "the commit had noted none")
	unseen := recording(row, 3, 3)
	unseen.Commit.WriterID, unseen.Commit.Partitions = "w\x00", r.Commit.Partitions
	assert.True(t, f.record(t, unseen))
	assert.Equal(t, r.Commit.Partitions.V, f.ledger(t, row, 3).Partitions.V)
}

func historySwaps(t *testing.T, f *fixture) {
	var swaps []catalog.Swap
	var rows []models.Table
	for _, name := range []string{"a", "b"} {
		row := f.table(t, name)
		swap := swapTo(row, 1, 1)
		swap.Effects.Commits[0].WriterID, swap.Effects.Commits[0].Unit = "w-"+name, "commit/\x00\xff"
		swaps, rows = append(swaps, swap), append(rows, row)
	}
	require.NoError(t, f.s.SwapTables(t.Context(), swaps))
	for _, row := range rows {
		c := f.ledger(t, row, 1)
		assert.Equal(t, "w-"+row.Name, c.WriterID)
		units, err := f.s.CommitsOfUnit(t.Context(), c.WriterID, "commit/\x00\xff")
		require.NoError(t, err)
		assert.Len(t, units, 1)
	}
}

func (f *fixture) ancestors(t *testing.T, id string, snapshots ...int64) map[int64]bool {
	t.Helper()
	got, err := f.s.OnLedger(t.Context(), id, snapshots)
	require.NoError(t, err)
	return got
}

func ancestorsKnown(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	assert.Equal(t, map[int64]bool{1: false}, f.ancestors(t, row.ID, 1), "there is no main")
	for n := int64(1); n <= 5; n++ {
		row = f.commit(t, row, n, n)
	}
	row.CurrentSnapshotID = ptr(int64(3)) // rolled back, and on from there
	row = f.commit(t, row, 6, 6)
	assert.Equal(t, map[int64]bool{1: true, 3: true, 4: false, 5: false, 6: true}, f.ancestors(t, row.ID, 1, 3, 4, 5, 6))
	assert.Equal(t, map[int64]bool{5: false}, f.ancestors(t, row.ID, 5))
	assert.Equal(t, map[int64]bool{99: false}, f.ancestors(t, row.ID, 99), "the line is known to its beginning")
	assert.Empty(t, f.ancestors(t, row.ID))
	assert.Equal(t, map[int64]bool{1: false}, f.ancestors(t, "gone", 1))
}

func ancestorsBeyond(t *testing.T, f *fixture) {
	row := f.table(t, "registered")
	f.record(t, recording(row, 2, 2)) // reconciled, of the history that the table came with
	row.CurrentSnapshotID = ptr(int64(10))
	for _, n := range []int64{11, 12, 13} {
		row = f.commit(t, row, n, n)
	}
	row.CurrentSnapshotID = ptr(int64(12))
	row = f.commit(t, row, 14, 14)
	assert.Equal(t, map[int64]bool{10: true, 12: true, 13: false, 14: true}, f.ancestors(t, row.ID, 10, 12, 13, 14))
	assert.Equal(t, map[int64]bool{2: true}, f.ancestors(t, row.ID, 2), "it may be an ancestor of snapshot 10")
	swap := swapTo(row, 99, 99)
	swap.Effects.Commits = nil
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
	assert.Equal(t, map[int64]bool{13: true}, f.ancestors(t, row.ID, 13), "nothing is known of the head")
}

func ancestorsV1(t *testing.T, f *fixture) {
	row := f.table(t, "v1")
	for n := int64(1); n <= 3; n++ {
		row = f.commit(t, row, n, 0)
	}
	row.CurrentSnapshotID = ptr(int64(1))
	row = f.commit(t, row, 4, 0)
	assert.Equal(t, map[int64]bool{1: true, 2: false, 3: false, 4: true}, f.ancestors(t, row.ID, 1, 2, 3, 4))
}
