package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func checkCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a table is looked at until nothing changes":          checksChanged,
		"an old look is renewed":                              checksOld,
		"tables to look at come by pages and miss none":       checksPage,
		"a table that changed meanwhile is looked at again":   checksMeanwhile,
		"a table that was dropped and is back is looked at":   checksDropped,
		"duplicates are a finding until somebody says reject": duplicatesMode,
	}
}

func (f *fixture) toLookAt(t *testing.T, before time.Time, after string, limit int) []activities.TableToCheck {
	t.Helper()
	got, err := f.s.TablesToCheck(t.Context(), before, after, limit)
	require.NoError(t, err)
	return got
}

// lookAt keeps tables as looked at, as they were when they were read.
func (f *fixture) lookAt(t *testing.T, at time.Time, tables ...activities.TableToCheck) {
	t.Helper()
	var s activities.FindingSettlement
	for _, c := range tables {
		s.Checks = append(s.Checks, models.TableCheck{TableID: c.Table.ID, Version: c.Table.Version, Stamp: c.Stamp, CheckedAt: at})
	}
	_, err := f.s.SettleFindings(t.Context(), s)
	require.NoError(t, err)
}

func checksChanged(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	never := time.Time{}
	all := f.toLookAt(t, never, "", 10)
	require.Len(t, all, 1)
	first := all[0]
	assert.Equal(t, []any{f.load(t, row.ID), "main", "sales.orders", true}, []any{first.Table, first.Catalog, first.Name, first.Changed})
	assert.NotEmpty(t, first.Stamp)
	assert.Nil(t, first.Last)
	f.lookAt(t, time.Now(), first)
	assert.Empty(t, f.toLookAt(t, never, "", 10))
	f.commit(t, row, 1, 1)
	all = f.toLookAt(t, never, "", 10)
	require.Len(t, all, 1)
	assert.True(t, all[0].Changed)
	assert.Equal(t, first.Stamp, all[0].Stamp, "governance says the same")
	require.NotNil(t, all[0].Last)
	assert.Equal(t, first.Stamp, all[0].Last.Stamp)
	f.lookAt(t, time.Now(), all...)
	before := f.load(t, row.ID)
	governed := before
	governed.Columns.V, governed.KnownColumn = map[string]models.ColumnGovernance{"email": {Sensitivity: models.Restricted}}, 7
	require.NoError(t, f.s.UpdateGovernance(t.Context(), before, governed, event(models.AuditClassificationChanged)))
	all = f.toLookAt(t, never, "", 10)
	require.Len(t, all, 1)
	assert.NotEqual(t, first.Stamp, all[0].Stamp)
	assert.Equal(t, 7, all[0].Table.KnownColumn)
	all[0].Stamp = first.Stamp // of what governance does not say any more
	f.lookAt(t, time.Now(), all...)
	require.Len(t, f.toLookAt(t, never, "", 10), 1)
	assert.True(t, f.toLookAt(t, never, "", 10)[0].Changed)
}

func checksOld(t *testing.T, f *fixture) {
	f.table(t, "orders")
	at := f.started.Add(-time.Hour)
	f.lookAt(t, at, f.toLookAt(t, at, "", 10)...)
	assert.Empty(t, f.toLookAt(t, at, "", 10))
	old := f.toLookAt(t, at.Add(time.Second), "", 10)
	require.Len(t, old, 1)
	assert.False(t, old[0].Changed, "it is merely old")
	assert.WithinDuration(t, at, old[0].Last.CheckedAt, 0)
	assert.Equal(t, old[0].Table.Version, old[0].Last.Version)
	f.lookAt(t, time.Now(), old...)
	assert.Empty(t, f.toLookAt(t, at.Add(time.Second), "", 10))
}

func checksPage(t *testing.T, f *fixture) {
	for n := range 9 {
		f.table(t, fmt.Sprint("t", n))
	}
	all := f.toLookAt(t, time.Time{}, "", 0)
	require.Len(t, all, 9)
	f.lookAt(t, time.Now(), all[1], all[2], all[7])
	var seen []string
	for after := ""; ; {
		page := f.toLookAt(t, time.Time{}, after, 4)
		for _, c := range page {
			assert.Greater(t, c.Table.ID, after)
			after = c.Table.ID
			seen = append(seen, c.Name)
		}
		if len(page) < 4 {
			break
		}
	}
	assert.Len(t, seen, 6)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(seen))), 6)
}

func checksMeanwhile(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	looked := f.toLookAt(t, time.Time{}, "", 10)
	f.commit(t, row, 1, 1)
	f.lookAt(t, time.Now(), looked...)
	assert.Len(t, f.toLookAt(t, time.Time{}, "", 10), 1)
}

func checksDropped(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	f.lookAt(t, time.Now(), f.toLookAt(t, time.Time{}, "", 10)...)
	record, err := f.s.DropTable(t.Context(), row.ID, models.DroppedTable{State: models.StateDropped, HoldsLocation: true, DroppedBy: "ada"}, event(models.AuditTableDropped))
	require.NoError(t, err)
	assert.Empty(t, f.toLookAt(t, time.Now().Add(time.Hour), "", 10))
	require.NoError(t, f.s.UndropTable(t.Context(), record.ID, f.ns.ID, "orders", event(models.AuditTableUndropped)))
	back := f.toLookAt(t, time.Time{}, "", 10)
	require.Len(t, back, 1)
	assert.True(t, back[0].Changed)
}

func duplicatesMode(t *testing.T, f *fixture) {
	row := f.newTable("orders")
	row.DuplicateCommits = ""
	require.NoError(t, f.s.CreateTable(t.Context(), row, catalog.Effects{}))
	assert.Equal(t, models.AuditDuplicates, f.load(t, row.ID).DuplicateCommits, "of a table that says nothing")
	row = f.load(t, row.ID)
	row.DuplicateCommits = models.RejectDuplicates
	require.NoError(t, f.s.UpdateDuplicateCommits(t.Context(), row, event(models.AuditDuplicatesChanged)))
	got := f.load(t, row.ID)
	assert.Equal(t, models.RejectDuplicates, got.DuplicateCommits)
	assert.Greater(t, got.Version, row.Version, "a commit that was judged without it loses its swap")
	row = f.load(t, row.ID)
	require.NoError(t, f.s.UpdateGovernance(t.Context(), row, row, event(models.AuditWritePolicyChanged)))
	got = f.commit(t, f.load(t, row.ID), 1, 1)
	assert.Equal(t, models.RejectDuplicates, got.DuplicateCommits)
	record, err := f.s.DropTable(t.Context(), row.ID, models.DroppedTable{State: models.StateDropped, HoldsLocation: true, DroppedBy: "ada"}, event(models.AuditTableDropped))
	require.NoError(t, err)
	require.NoError(t, f.s.UndropTable(t.Context(), record.ID, f.ns.ID, "orders", event(models.AuditTableUndropped)))
	assert.Equal(t, models.RejectDuplicates, f.load(t, row.ID).DuplicateCommits)
	got.DuplicateCommits = ""
	require.NoError(t, f.s.UpdateDuplicateCommits(t.Context(), got, event(models.AuditDuplicatesChanged)))
	assert.Equal(t, models.AuditDuplicates, f.load(t, row.ID).DuplicateCommits)
	assert.Len(t, f.audit(t, models.AuditDuplicatesChanged), 2)
	requireFault(t, f.s.UpdateDuplicateCommits(t.Context(), f.newTable("none"), event(models.AuditDuplicatesChanged)), fault.NotFound, fault.Table)
}
