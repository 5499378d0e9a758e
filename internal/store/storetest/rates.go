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

func rateCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"commits since a time are counted by table":   ratesCounted,
		"what Sluice commits by itself is no rate":    ratesOfOthers,
		"rates come by pages, of tables that moved":   ratesPage,
		"what was refused to a writer is found":       refusalsFound,
		"refusals that name the table are found, too": refusalsNamed,
	}
}

// commitAt commits a snapshot at a time, with what its files are once it is reconciled; bytes 0: it is not yet.
func (f *fixture) commitAt(t *testing.T, row models.Table, snapshot int64, at time.Time, files, bytes int64) models.Table {
	t.Helper()
	swap := swapTo(row, snapshot, snapshot)
	swap.Effects.Commits[0].CommittedAt = at
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
	if bytes > 0 {
		r := recording(row, snapshot, snapshot)
		r.Commit.AddedFiles, r.Commit.AddedBytes = &files, &bytes
		require.True(t, f.record(t, r))
	}
	return f.load(t, row.ID)
}

func (f *fixture) rates(t *testing.T, since time.Time, after string, limit int) []findings.TableRate {
	t.Helper()
	got, err := f.s.TableRates(t.Context(), since, after, limit)
	require.NoError(t, err)
	return got
}

func ratesCounted(t *testing.T, f *fixture) {
	row, quiet := f.table(t, "orders"), f.table(t, "quiet")
	since := f.started.Add(-time.Hour)
	for n := int64(1); n <= 3; n++ {
		row = f.commitAt(t, row, n, since.Add(-time.Duration(10-n)*time.Minute), 100, 1000)
		quiet = f.commitAt(t, quiet, n, since.Add(-time.Minute), 100, 1000)
	}
	row = f.commitAt(t, row, 4, since, 2, 20)
	row = f.commitAt(t, row, 5, since.Add(time.Minute), 3, 30)
	row = f.commitAt(t, row, 6, since.Add(2*time.Minute), 0, 0)
	assert.Equal(t, []findings.TableRate{{
		CatalogID: f.cat.ID, Catalog: "main", TableID: row.ID, TableUUID: row.UUID, Table: "sales.orders", Since: since,
		Commits: 3, AddedFiles: 5, AddedBytes: 50,
	}}, f.rates(t, since, "", 10))
	assert.Empty(t, f.rates(t, time.Now().Add(time.Minute), "", 10))
	assert.Len(t, f.rates(t, since.Add(-time.Hour), "", 0), 2)
}

func ratesOfOthers(t *testing.T, f *fixture) {
	row := f.table(t, "audit")
	for n, by := range map[int64]string{1: "sluice", 2: "steward"} {
		row = f.load(t, row.ID)
		swap := swapTo(row, n, n)
		swap.Effects.Commits[0].Kind, swap.Effects.Commits[0].Writer.V = models.PlatformCommit, models.Writer{Principal: by}
		require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
	}
	rates := f.rates(t, f.started.Add(-time.Hour), "", 10)
	require.Len(t, rates, 1)
	assert.EqualValues(t, 1, rates[0].Commits)
}

func ratesPage(t *testing.T, f *fixture) {
	since := f.started.Add(-time.Hour)
	for n := range 9 {
		row := f.table(t, "t"+strconv.Itoa(n))
		if n%3 == 0 {
			f.commitAt(t, row, 1, since.Add(time.Minute), 1, 1)
		}
	}
	var seen []string
	for after := ""; ; {
		page := f.rates(t, since, after, 2)
		for _, r := range page {
			assert.Greater(t, r.TableID, after)
			after = r.TableID
			seen = append(seen, r.Table)
		}
		if len(page) < 2 {
			break
		}
	}
	assert.ElementsMatch(t, []string{"sales.t0", "sales.t3", "sales.t6"}, seen)
}

func (f *fixture) refused(t *testing.T, typ models.AuditType, principal string, change func(*models.AuditEvent)) {
	t.Helper()
	e := event(typ)
	e.Principal, e.Allowed = principal, false
	change(&e)
	require.NoError(t, f.s.AppendAudit(t.Context(), e))
}

func refusalsFound(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "other")
	at := f.started
	for n, typ := range []models.AuditType{models.AuditCommitDenied, models.AuditRequestDenied, models.AuditRequestFailed, models.AuditTableCommitted} {
		f.refused(t, typ, "flink", func(e *models.AuditEvent) {
			e.TableUUID, e.At, e.Reason = row.UUID, at.Add(time.Duration(n)*time.Second), "because "+strconv.Itoa(n)
		})
	}
	f.refused(t, models.AuditCommitDenied, "another", func(e *models.AuditEvent) { e.TableUUID = row.UUID })
	f.refused(t, models.AuditCommitDenied, "flink", func(e *models.AuditEvent) { e.TableUUID = other.UUID })
	got, err := f.s.Refusals(t.Context(), row.UUID, "flink", at, 10)
	require.NoError(t, err)
	assert.Equal(t, []findings.Refusal{
		{At: at.Add(2 * time.Second), Type: models.AuditRequestFailed, Reason: "because 2"},
		{At: at.Add(time.Second), Type: models.AuditRequestDenied, Reason: "because 1"},
		{At: at, Type: models.AuditCommitDenied, Reason: "because 0"},
	}, got)
	got, err = f.s.Refusals(t.Context(), row.UUID, "flink", at.Add(time.Second), 1)
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, "because 2", got[0].Reason)
	got, err = f.s.Refusals(t.Context(), "", "flink", at.Add(-time.Hour), 10)
	require.NoError(t, err)
	assert.Empty(t, got)
}

func refusalsNamed(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	for _, name := range []string{"sales.orders", "sales.other", ""} {
		f.refused(t, models.AuditRequestDenied, "flink", func(e *models.AuditEvent) { e.Table, e.Reason = name, "the token is expired: "+name })
	}
	f.refused(t, models.AuditRequestDenied, "flink", func(e *models.AuditEvent) { e.Table, e.Catalog = "sales.orders", "elsewhere" })
	got, err := f.s.Refusals(t.Context(), row.UUID, "flink", f.started.Add(-time.Minute), 10)
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, "the token is expired: sales.orders", got[0].Reason)
}
