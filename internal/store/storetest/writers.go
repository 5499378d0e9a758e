package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

func writerCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a writer is kept with the commits that it made":   writersKept,
		"what is recorded late takes nothing back":         writersForward,
		"what people declare of a writer stays":            writersDeclared,
		"a retired writer comes back with its next commit": writersRetired,
		"retiring a writer resolves that it is late":       writersSettled,
		"an expected writer is found by its principal":     writersExpected,
		"writers are given by pages, of what is asked":     writersPage,
		"a writer comes with what its token is":            writersTokens,
		"a writer comes with how it reached the files":     writersModes,
		"of eight recordings at once none is lost":         writersRace,
	}
}

// newWriter is a writer as the reconciliation of its newest commit, at a time, finds it.
func (f *fixture) newWriter(row models.Table, id string, at time.Time) models.TableWriter {
	return models.TableWriter{
		ID: id, CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, Table: "sales." + row.Name,
		Kind: models.FlinkWriter, Key: "operator", Principal: "ada", Engine: "flink", Version: "2.1", Client: "client", Job: "job", Ref: "main",
		TokenID: "tok", Watermark: models.JSON[map[string]int64]{V: map[string]int64{"checkpoint": 7}}, LastCommit: ptr(int64(1)), Commits: 17,
		FirstCommitAt: &at, LastCommitAt: &at, Intervals: models.JSON[[]int64]{V: []int64{10, 20}}, Median: 10, Spread: 5,
		State: models.WriterActive, CreatedAt: at,
	}
}

// seen records a commit of a snapshot with its writers.
func (f *fixture) seen(t *testing.T, row models.Table, snapshot int64, found ...models.TableWriter) {
	t.Helper()
	r := recording(row, snapshot, snapshot)
	r.Writers = found
	require.True(t, f.record(t, r))
}

func (f *fixture) writer(t *testing.T, id string) models.NamedWriter {
	t.Helper()
	w, err := f.s.Writer(t.Context(), id)
	require.NoError(t, err)
	return w
}

func writersKept(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	at := f.started.Add(-time.Hour)
	found := f.newWriter(row, "w", at)
	found.Client, found.ValidTo = "a\x00\xff", ptr(at.Add(-time.Second))
	f.seen(t, row, 1, found)
	got := f.writer(t, "w")
	want := found
	want.Commits, want.Client = 1, "a\uFFFD\uFFFD"
	assert.Equal(t, want, got.TableWriter)
	assert.Equal(t, "main", got.CatalogName)
	r := recording(row, 1, 1)
	r.Writers = []models.TableWriter{found}
	assert.False(t, f.record(t, r))
	assert.EqualValues(t, 1, f.writer(t, "w").Commits, "the commit was recorded before")
	next := f.newWriter(row, "w", at.Add(time.Minute))
	next.Job, next.Intervals.V, next.State = "another", []int64{60_000}, models.WriterFinished
	f.seen(t, row, 2, next)
	got = f.writer(t, "w")
	assert.Equal(t, []any{int64(2), "another", models.WriterFinished}, []any{got.Commits, got.Job, got.State})
	assert.Equal(t, []int64{60_000}, got.Intervals.V)
	assert.WithinDuration(t, at, *got.FirstCommitAt, 0)
	assert.WithinDuration(t, at.Add(time.Minute), *got.LastCommitAt, 0)
	_, err := f.s.Writer(t.Context(), "\x00")
	requireFault(t, err, fault.NotFound, fault.NoSubject)
	_, err = f.s.Writer(t.Context(), "none")
	requireFault(t, err, fault.NotFound, fault.NoSubject)
}

func writersForward(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	at := f.started.Add(-time.Hour)
	newest := f.newWriter(row, "w", at)
	newest.Job = "newest"
	f.seen(t, row, 2, newest)
	late := f.newWriter(row, "w", at.Add(-time.Minute))
	late.Job, late.State, late.LastCommit = "late", models.WriterFinished, ptr(int64(9))
	f.seen(t, row, 1, late)
	got := f.writer(t, "w")
	assert.Equal(t, []any{int64(2), "newest", models.WriterActive, int64(1)}, []any{got.Commits, got.Job, got.State, *got.LastCommit})
	assert.WithinDuration(t, at.Add(-time.Minute), *got.FirstCommitAt, 0)
	assert.WithinDuration(t, at, *got.LastCommitAt, 0)
}

func writersDeclared(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	declared := models.TableWriter{
		ID: "w", CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, Table: "sales.orders", Kind: models.ExpectedWriter, Principal: "ada", Every: 60_000,
	}
	require.NoError(t, f.s.SaveWriter(t.Context(), declared, event(models.AuditWriterDeclared)))
	got := f.writer(t, "w")
	assert.Equal(t, []any{models.WriterActive, int64(60_000), int64(0)}, []any{got.State, got.Every, got.Commits})
	assert.Nil(t, got.LastCommitAt)
	assert.WithinRange(t, got.CreatedAt, f.started, time.Now())
	assert.False(t, got.TokenGone, "it used none")
	f.seen(t, row, 1, f.newWriter(row, "w", f.started))
	again := f.writer(t, "w")
	assert.Equal(t, []any{int64(60_000), int64(1), got.CreatedAt, "flink"}, []any{again.Every, again.Commits, again.CreatedAt, again.Engine})
	change := again.TableWriter
	change.Every, change.Job, change.Commits = 0, "forged", 99
	require.NoError(t, f.s.SaveWriter(t.Context(), change, event(models.AuditWriterDeclared)))
	again = f.writer(t, "w")
	assert.Equal(t, []any{int64(0), int64(1), "job"}, []any{again.Every, again.Commits, again.Job}, "what people say of it changes alone")
	assert.Len(t, f.audit(t, models.AuditWriterDeclared), 2)
}

func writersRetired(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	at := f.started.Add(-time.Hour)
	w := f.newWriter(row, "w", at)
	f.seen(t, row, 1, w)
	w.State, w.RetiredAt, w.RetiredBy = models.WriterRetired, ptr(at.Add(time.Minute)), "ada"
	require.NoError(t, f.s.SaveWriter(t.Context(), w, event(models.AuditWriterRetired)))
	f.seen(t, row, 2, f.newWriter(row, "w", at.Add(time.Minute)))
	got := f.writer(t, "w")
	assert.Equal(t, []any{models.WriterRetired, "ada", int64(2)}, []any{got.State, got.RetiredBy, got.Commits}, "it had committed before")
	assert.NotNil(t, got.RetiredAt)
	watched, err := f.s.WatchedWriters(t.Context(), "", 10)
	require.NoError(t, err)
	assert.Empty(t, watched)
	f.seen(t, row, 3, f.newWriter(row, "w", at.Add(2*time.Minute)))
	got = f.writer(t, "w")
	assert.Equal(t, []any{models.WriterActive, ""}, []any{got.State, got.RetiredBy})
	assert.Nil(t, got.RetiredAt)
}

func writersSettled(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	w := f.newWriter(row, "w", f.started)
	f.seen(t, row, 1, w)
	kinds := []models.FindingKind{models.FindingStalledWriter, models.FindingTokenExpiring, models.FindingDuplicateCheckpoint}
	for _, kind := range kinds {
		mine, other := f.newFinding(row, kind, "mine"), f.newFinding(row, kind, "another's")
		mine.WriterID, other.WriterID = "w", "x"
		f.open(t, mine, other)
	}
	w.State, w.RetiredAt, w.RetiredBy = models.WriterRetired, ptr(time.Now()), "ada"
	require.NoError(t, f.s.SaveWriter(t.Context(), w, event(models.AuditWriterRetired)))
	open := true
	both, err := f.s.OpenFindingsOfWriters(t.Context(), []string{"w", "x", "y"})
	require.NoError(t, err)
	assert.Len(t, both, 4)
	left := f.findings(t, models.FindingFilter{WriterID: "w", Open: &open})
	require.Len(t, left, 1)
	assert.Equal(t, models.FindingDuplicateCheckpoint, left[0].Kind)
	assert.Len(t, f.findings(t, models.FindingFilter{WriterID: "x", Open: &open}), 3)
	assert.Len(t, f.audit(t, models.AuditFindingResolved), 2)
}

func writersExpected(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	_, there, err := f.s.ExpectedWriter(t.Context(), row.ID, "ada")
	require.NoError(t, err)
	assert.False(t, there)
	w := f.newWriter(row, writers.ExpectedID(row.ID, "ada"), f.started)
	w.Kind = models.ExpectedWriter
	require.NoError(t, f.s.SaveWriter(t.Context(), w, event(models.AuditWriterDeclared)))
	got, there, err := f.s.ExpectedWriter(t.Context(), row.ID, "ada")
	require.NoError(t, err)
	assert.True(t, there)
	assert.Equal(t, models.ExpectedWriter, got.Kind)
	_, there, err = f.s.ExpectedWriter(t.Context(), row.ID, "bob")
	require.NoError(t, err)
	assert.False(t, there)
}

func writersPage(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "other")
	finished := f.newWriter(other, "c", f.started)
	finished.State = models.WriterFinished
	f.seen(t, row, 1, f.newWriter(row, "b", f.started), f.newWriter(row, "a", f.started), finished)
	list := func(filter models.WriterFilter) (ids []string) {
		rows, err := f.s.Writers(t.Context(), filter)
		require.NoError(t, err)
		for _, w := range rows {
			ids = append(ids, w.ID)
		}
		return ids
	}
	assert.Equal(t, []string{"a", "b", "c"}, list(models.WriterFilter{}))
	assert.Equal(t, []string{"a", "b"}, list(models.WriterFilter{Limit: 2}))
	assert.Equal(t, []string{"c"}, list(models.WriterFilter{Limit: 2, After: "b"}))
	assert.Equal(t, []string{"a", "b"}, list(models.WriterFilter{TableID: row.ID}))
	assert.Equal(t, []string{"c"}, list(models.WriterFilter{State: models.WriterFinished}))
	assert.Empty(t, list(models.WriterFilter{CatalogID: "none"}))
	assert.Empty(t, list(models.WriterFilter{TableID: "\x00"}))
	declared := f.newWriter(row, "z", f.started)
	declared.Kind, declared.Every = models.ExpectedWriter, 60_000
	require.NoError(t, f.s.SaveWriter(t.Context(), declared, event(models.AuditWriterDeclared)))
	once := f.newWriter(row, "0", f.started)
	once.Median = 0
	f.seen(t, row, 2, once, f.newWriter(row, "b", f.started))
	assert.Equal(t, []string{"z", "b", "a"}, list(models.WriterFilter{State: models.WriterActive, PacedFirst: true, Limit: 3}), "who is named anew crowds out nobody")
	watched, err := f.s.WatchedWriters(t.Context(), "a", 1)
	require.NoError(t, err)
	require.Len(t, watched, 1)
	assert.Equal(t, "b", watched[0].ID)
	require.NoError(t, f.drop(t, row.ID))
	assert.Equal(t, []string{"0", "a", "b", "c", "z"}, list(models.WriterFilter{}), "they outlive their table")
}

func writersTokens(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	p, err := f.s.PrincipalByName(t.Context(), models.RootPrincipal)
	require.NoError(t, err)
	expiry := f.started.Add(time.Hour)
	token := models.Token{ID: uuid.NewString(), Kind: models.EngineToken, Name: "job", Hash: "h", PrincipalID: p.ID, CreatedBy: "root", ExpiresAt: &expiry}
	require.NoError(t, f.s.CreateToken(t.Context(), token, event(models.AuditTokenMinted)))
	mine, unknown, outside := f.newWriter(row, "mine", f.started), f.newWriter(row, "unknown", f.started), f.newWriter(row, "outside", f.started)
	mine.TokenID, unknown.TokenID, outside.TokenID = token.ID, "pruned", "oidc:0123456789abcdef"
	f.seen(t, row, 1, mine, unknown, outside)
	got := f.writer(t, "mine")
	assert.WithinDuration(t, expiry, *got.TokenExpiry, 0)
	require.NotNil(t, got.TokenMinted)
	assert.False(t, got.TokenGone)
	assert.True(t, f.writer(t, "unknown").TokenGone)
	assert.False(t, f.writer(t, "outside").TokenGone, "of other issuers' tokens none is known")
	require.NoError(t, f.s.RevokeToken(t.Context(), token.ID, time.Now(), event(models.AuditTokenRevoked)))
	assert.True(t, f.writer(t, "mine").TokenGone)
}

func writersModes(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "other")
	f.seen(t, row, 1, f.newWriter(row, "w", f.started))
	assert.Empty(t, f.writer(t, "w").Mode)
	for _, r := range []models.StorageRecord{
		{TableID: row.ID, TokenID: "tok", Mode: models.VendedAccess, LastAt: f.started.Add(-time.Minute)},
		{TableID: row.ID, TokenID: "tok", Mode: models.UndelegatedAccess, LastAt: f.started},
		{TableID: row.ID, TokenID: "another", Mode: models.SignedAccess, LastAt: f.started.Add(time.Minute)},
		{TableID: other.ID, TokenID: "tok", Mode: models.SignedAccess, LastAt: f.started.Add(time.Minute)},
	} {
		require.NoError(t, f.s.RecordAccess(t.Context(), r))
	}
	assert.Equal(t, models.UndelegatedAccess, f.writer(t, "w").Mode)
}

func writersRace(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	together(8, func(n int) {
		r := recording(row, int64(n+1), int64(n+1))
		for _, id := range []string{"a", "b"}[n%2:] {
			r.Writers = append(r.Writers, f.newWriter(row, id, f.started.Add(time.Duration(n)*time.Second)))
		}
		if n%2 == 0 {
			r.Writers[0], r.Writers[1] = r.Writers[1], r.Writers[0]
		}
		_, err := f.s.RecordCommit(t.Context(), r)
		assert.NoError(t, err)
	})
	assert.EqualValues(t, 4, f.writer(t, "a").Commits)
	got := f.writer(t, "b")
	assert.EqualValues(t, 8, got.Commits)
	assert.WithinDuration(t, f.started, *got.FirstCommitAt, 0)
	assert.WithinDuration(t, f.started.Add(7*time.Second), *got.LastCommitAt, 0)
}
