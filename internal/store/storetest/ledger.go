package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/models"
)

// recording finishes the commit of a snapshot on main, with a row count that names the snapshot.
func recording(row models.Table, snapshot, sequence int64) activities.Recording {
	c := commitOf(row, snapshot, sequence)
	c.Status, c.ReconciledAt, c.WorkflowID = models.CommitReconciled, ptr(time.Now()), "reconcile/"+row.UUID
	c.AddedRows, c.RowCountAfter = ptr(int64(3)), ptr(snapshot*10)
	reconciled := event(models.AuditCommitReconciled)
	reconciled.DedupeKey = ptr("reconcile/" + row.UUID + "/" + uuid.NewSHA1(uuid.NameSpaceOID, []byte{byte(snapshot)}).String())
	return activities.Recording{Commit: c, OnMain: true, RowCount: ptr(snapshot * 10), Audit: reconciled}
}

func (f *fixture) record(t *testing.T, r activities.Recording) bool {
	t.Helper()
	recorded, err := f.s.RecordCommit(t.Context(), r)
	require.NoError(t, err)
	return recorded
}

func (f *fixture) requireRecorded(t *testing.T, id string, snapshot int64) {
	t.Helper()
	row := f.load(t, id)
	require.NotNil(t, row.RecordedSnapshotID)
	require.Equal(t, snapshot, *row.RecordedSnapshotID)
	require.Equal(t, snapshot*10, *row.RowCount)
}

func ledgerCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a commit is recorded once": func(t *testing.T, f *fixture) {
			row := f.commit(t, f.table(t, "orders"), 1, 1)
			assert.True(t, f.record(t, recording(row, 1, 1)))
			assert.False(t, f.record(t, recording(row, 1, 1)))
			got, err := f.s.Commit(t.Context(), row.ID, 1)
			require.NoError(t, err)
			assert.Equal(t, models.CommitReconciled, got.Status)
			assert.EqualValues(t, 3, *got.AddedRows)
			assert.EqualValues(t, 10, *got.RowCountAfter)
			assert.NotNil(t, got.ReconciledAt)
			assert.Equal(t, "spark", got.Writer.V.Engine)
			assert.Len(t, f.audit(t, models.AuditCommitReconciled), 1)
			f.requireRecorded(t, row.ID, 1)
			assert.Equal(t, row.Version, f.load(t, row.ID).Version, "recording does not disturb commits")
		},
		"a snapshot that arrived unseen gets its row": func(t *testing.T, f *fixture) {
			row := f.table(t, "registered")
			assert.True(t, f.record(t, recording(row, 4, 4)))
			assert.False(t, f.record(t, recording(row, 4, 4)))
			got, err := f.s.Commit(t.Context(), row.ID, 4)
			require.NoError(t, err)
			assert.Equal(t, models.CommitReconciled, got.Status)
			assert.Len(t, f.audit(t, models.AuditCommitReconciled), 1)
		},
		"the newest recorded snapshot of main is kept": func(t *testing.T, f *fixture) {
			row := f.table(t, "orders")
			for n := int64(1); n <= 4; n++ {
				row = f.commit(t, row, n, n)
			}
			f.record(t, recording(row, 2, 2))
			f.requireRecorded(t, row.ID, 2)
			f.record(t, recording(row, 3, 3))
			f.record(t, recording(row, 1, 1)) // late
			f.requireRecorded(t, row.ID, 3)
			side := recording(row, 5, 9)
			side.OnMain = false
			assert.True(t, f.record(t, side))
			f.requireRecorded(t, row.ID, 3)
		},
		"without sequence numbers the time of the commit decides": func(t *testing.T, f *fixture) {
			row := f.table(t, "v1")
			var recordings []activities.Recording
			for n := int64(1); n <= 4; n++ {
				row = f.commit(t, row, n, 0)
				recordings = append(recordings, recording(row, n, 0))
			}
			f.record(t, recordings[1])
			f.requireRecorded(t, row.ID, 2)
			f.record(t, recordings[2])
			f.record(t, recordings[0])
			f.requireRecorded(t, row.ID, 3)
		},
		"after a rollback the head is what is recorded": func(t *testing.T, f *fixture) {
			row := f.table(t, "orders")
			for n := int64(1); n <= 3; n++ {
				row = f.commit(t, row, n, n)
				f.record(t, recording(row, n, n))
			}
			f.requireRecorded(t, row.ID, 3)
			f.commit(t, row, 1, 1) // main goes back to snapshot 1
			assert.False(t, f.record(t, recording(row, 1, 1)), "it was recorded before")
			f.requireRecorded(t, row.ID, 1)
		},
		"an abandoned commit is no recorded snapshot": func(t *testing.T, f *fixture) {
			row := f.commit(t, f.table(t, "orders"), 1, 1)
			require.NoError(t, f.drop(t, row.ID))
			r := recording(row, 1, 1)
			r.Commit.Status, r.Audit.Type = models.CommitAbandoned, models.AuditCommitAbandoned
			assert.True(t, f.record(t, r))
			assert.False(t, f.record(t, r))
			assert.Len(t, f.audit(t, models.AuditCommitAbandoned), 1)
			got, err := f.s.Commit(t.Context(), row.ID, 1)
			require.NoError(t, err)
			assert.Equal(t, models.CommitAbandoned, got.Status)
		},
		"an inexact count is no count": func(t *testing.T, f *fixture) {
			row := f.commit(t, f.table(t, "orders"), 1, 1)
			f.record(t, recording(row, 1, 1))
			row = f.commit(t, f.load(t, row.ID), 2, 2)
			r := recording(row, 2, 2)
			r.RowCount = nil
			f.record(t, r)
			got := f.load(t, row.ID)
			assert.EqualValues(t, 2, *got.RecordedSnapshotID)
			assert.Nil(t, got.RowCount)
		},
		"the ledger is read newest first, by pages": func(t *testing.T, f *fixture) {
			row, other := f.table(t, "orders"), f.table(t, "other")
			for n := int64(1); n <= 3; n++ {
				row = f.commit(t, row, n, n)
				other = f.commit(t, other, n, n)
			}
			list := func(filter models.CommitFilter) (out []int64, last int64) {
				rows, err := f.s.Commits(t.Context(), filter)
				require.NoError(t, err)
				for _, r := range rows {
					out, last = append(out, r.SnapshotID), r.ID
				}
				return out, last
			}
			page, last := list(models.CommitFilter{TableID: row.ID, Limit: 2})
			assert.Equal(t, []int64{3, 2}, page)
			page, _ = list(models.CommitFilter{TableID: row.ID, Limit: 2, Before: last})
			assert.Equal(t, []int64{1}, page)
			page, _ = list(models.CommitFilter{CatalogID: f.cat.ID})
			assert.Len(t, page, 6)
			page, _ = list(models.CommitFilter{CatalogID: "none"})
			assert.Empty(t, page)
		},
		"a table's state shows its lag": func(t *testing.T, f *fixture) {
			row := f.table(t, "orders")
			state, err := f.s.TableState(t.Context(), row.ID)
			require.NoError(t, err)
			assert.Equal(t, "main", state.CatalogName)
			assert.Equal(t, f.ns.Key, state.NamespaceKey)
			assert.Zero(t, state.PendingCommits)
			assert.Nil(t, state.OldestPending)
			row = f.commit(t, f.commit(t, row, 1, 1), 2, 2)
			f.table(t, "quiet")
			states, err := f.s.TableStates(t.Context(), models.TableFilter{CatalogID: f.cat.ID})
			require.NoError(t, err)
			require.Len(t, states, 2)
			state, err = f.s.TableState(t.Context(), row.ID)
			require.NoError(t, err)
			assert.Equal(t, row, state.Table)
			assert.EqualValues(t, 2, state.PendingCommits)
			assert.WithinRange(t, *state.OldestPending, f.started, f.started.Add(60e9))
			first, err := f.s.TableStates(t.Context(), models.TableFilter{Limit: 1})
			require.NoError(t, err)
			rest, err := f.s.TableStates(t.Context(), models.TableFilter{After: first[0].Table.ID})
			require.NoError(t, err)
			assert.Len(t, rest, 1)
			assert.Less(t, first[0].Table.ID, rest[0].Table.ID)
		},
	}
}
