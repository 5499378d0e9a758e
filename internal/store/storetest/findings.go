package storetest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func findingCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"those of a commit are written with its event":      findingsOfCommits,
		"they are given newest first, by pages":             findingsPage,
		"open ones are counted by kind":                     findingsCount,
		"somebody resolves one, once":                       findingsResolve,
		"of those who resolve one at once it is one's":      findingsResolveRace,
		"what a client sent cannot break them":              findingsClean,
		"of one kind and table there are not too many":      findingsBound,
		"they are settled with what was looked at":          findingsSettle,
		"a commit resolves what it puts right":              findingsPutRight,
		"open ones are read in order, of one table or all":  findingsOpen,
		"what is noted again and again is one":              findingsNoted,
		"a finding is about the writer it was seen of last": findingsWriter,
	}
}

func (f *fixture) newFinding(row models.Table, kind models.FindingKind, subject string) models.Finding {
	return models.Finding{
		Kind: kind, Severity: kind.Severity(), CatalogID: row.CatalogID, Catalog: "main", TableID: row.ID, TableUUID: row.UUID,
		Table: "sales." + row.Name, SnapshotID: ptr(int64(7)), Principal: "ada", Subject: subject, SubjectKey: models.SubjectKey(subject),
		Evidence: models.JSON[map[string]any]{V: map[string]any{"observed": []any{subject}}},
	}
}

// open opens findings as a commit's reconciliation does.
func (f *fixture) open(t *testing.T, findings ...models.Finding) {
	t.Helper()
	require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Findings: findings}))
}

func (f *fixture) findings(t *testing.T, filter models.FindingFilter) []models.Finding {
	t.Helper()
	rows, err := f.s.Findings(t.Context(), filter)
	require.NoError(t, err)
	return rows
}

func findingsOfCommits(t *testing.T, f *fixture) {
	row := f.commit(t, f.table(t, "orders"), 1, 1)
	r := recording(row, 1, 1)
	r.Findings = []models.Finding{f.newFinding(row, models.FindingSummaryMismatch, "writer ada spark")}
	assert.True(t, f.record(t, r))
	assert.False(t, f.record(t, r))
	found := f.findings(t, models.FindingFilter{})
	require.Len(t, found, 1)
	assert.Equal(t, []any{models.Medium, "sales.orders", "ada", "writer ada spark"}, []any{found[0].Severity, found[0].Table, found[0].Principal, found[0].Subject})
	assert.Equal(t, map[string]any{"observed": []any{"writer ada spark"}}, found[0].Evidence.V)
	row = f.commit(t, f.load(t, row.ID), 2, 2)
	next := recording(row, 2, 2)
	next.Findings = []models.Finding{f.newFinding(row, models.FindingSummaryMismatch, "writer ada spark")}
	next.Findings[0].SnapshotID = ptr(int64(2))
	assert.True(t, f.record(t, next))
	found = f.findings(t, models.FindingFilter{})
	require.Len(t, found, 1, "of one writer there is one")
	assert.EqualValues(t, 2, *found[0].SnapshotID)
	assert.Len(t, f.audit(t, models.AuditFindingOpened), 1)
}

func findingsPage(t *testing.T, f *fixture) {
	orders, items := f.table(t, "orders"), f.table(t, "items")
	for _, subject := range []string{"a", "b", "c"} {
		f.open(t, f.newFinding(orders, models.FindingMissingFile, subject), f.newFinding(items, models.FindingSummaryMismatch, subject))
	}
	var seen []string
	for before := ""; ; {
		page := f.findings(t, models.FindingFilter{Before: before, Limit: 4})
		if len(page) == 0 {
			break
		}
		for _, row := range page {
			assert.Less(t, row.ID, before+strings.Repeat("z", 36-len(before)))
			before = row.ID
			seen = append(seen, row.ID)
		}
	}
	assert.Len(t, seen, 6)
	assert.Len(t, f.findings(t, models.FindingFilter{TableID: orders.ID}), 3)
	assert.Len(t, f.findings(t, models.FindingFilter{Kind: models.FindingSummaryMismatch}), 3)
	assert.Len(t, f.findings(t, models.FindingFilter{CatalogID: f.cat.ID}), 6)
	assert.Empty(t, f.findings(t, models.FindingFilter{CatalogID: "none"}))
	_, err := f.s.ResolveFinding(t.Context(), seen[0], "", event(models.AuditFindingResolved))
	require.NoError(t, err)
	open, resolved := true, false
	assert.Len(t, f.findings(t, models.FindingFilter{Open: &open}), 5)
	assert.Len(t, f.findings(t, models.FindingFilter{Open: &resolved}), 1)
	assert.Empty(t, f.findings(t, models.FindingFilter{Before: "\x00"}))
}

func findingsCount(t *testing.T, f *fixture) {
	counts, err := f.s.OpenFindings(t.Context())
	require.NoError(t, err)
	assert.Empty(t, counts)
	row := f.table(t, "orders")
	f.open(t, f.newFinding(row, models.FindingMissingFile, "a"), f.newFinding(row, models.FindingMissingFile, "b"), f.newFinding(row, models.FindingSummaryMismatch, "a"))
	_, err = f.s.ResolveFinding(t.Context(), f.findings(t, models.FindingFilter{Kind: models.FindingMissingFile})[0].ID, "", event(models.AuditFindingResolved))
	require.NoError(t, err)
	counts, err = f.s.OpenFindings(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[models.FindingKind]int64{models.FindingMissingFile: 1, models.FindingSummaryMismatch: 1}, counts)
}

func findingsResolve(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	f.open(t, f.newFinding(row, models.FindingSummaryMismatch, "a"))
	found := f.findings(t, models.FindingFilter{})[0]
	by := event(models.AuditFindingResolved)
	by.TokenID, by.RequestID = "tok", "req"
	got, err := f.s.ResolveFinding(t.Context(), found.ID, "the writer is mended", by)
	require.NoError(t, err)
	assert.Equal(t, []string{"ada", "the writer is mended"}, []string{got.ResolvedBy, got.Note})
	assert.NotNil(t, got.ResolvedAt)
	again, err := f.s.ResolveFinding(t.Context(), found.ID, "another note", event(models.AuditFindingResolved))
	require.NoError(t, err)
	assert.Equal(t, "the writer is mended", again.Note, "it is resolved already")
	events := f.audit(t, models.AuditFindingResolved)
	require.Len(t, events, 1)
	assert.Equal(t, []string{"ada", "tok", "req"}, []string{events[0].Principal, events[0].TokenID, events[0].RequestID})
	assert.Equal(t, "the writer is mended", events[0].Details.V["note"])
	_, err = f.s.ResolveFinding(t.Context(), uuid.NewString(), "", event(models.AuditFindingResolved))
	requireFault(t, err, fault.NotFound, fault.NoSubject)
	_, err = f.s.Finding(t.Context(), "\x00")
	requireFault(t, err, fault.NotFound, fault.NoSubject)
	read, err := f.s.Finding(t.Context(), found.ID)
	require.NoError(t, err)
	assert.Equal(t, found.Subject, read.Subject)
}

func findingsClean(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	bad := f.newFinding(row, models.FindingSummaryMismatch, "writer \x00\xff"+strings.Repeat("x", 10_000))
	bad.Principal = "a\x00"
	f.open(t, bad)
	found := f.findings(t, models.FindingFilter{})
	require.Len(t, found, 1)
	assert.Less(t, len(found[0].Subject), 5000)
}

// The sweep, a commit and a person may see at once that a finding is well again.
func findingsResolveRace(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	const rounds = 10
	for n := range rounds {
		f.open(t, f.newFinding(row, models.FindingStalledWriter, strconv.Itoa(n)))
		open := true
		found := f.findings(t, models.FindingFilter{Open: &open})[0]
		together(6, func(i int) {
			if i%3 == 0 {
				_, err := f.s.ResolveFinding(t.Context(), found.ID, "mended", event(models.AuditFindingResolved))
				assert.NoError(t, err)
				return
			}
			_, err := f.s.SettleFindings(t.Context(), activities.FindingSettlement{Resolved: []models.FindingSubject{subjectOf(found, "well")}})
			assert.NoError(t, err)
		})
	}
	assert.Len(t, f.audit(t, models.AuditFindingResolved), rounds)
}

func findingsBound(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "other")
	var many []models.Finding
	for n := range 1050 {
		many = append(many, f.newFinding(row, models.FindingMissingFile, strconv.Itoa(n)))
	}
	many = append(many, f.newFinding(other, models.FindingMissingFile, "a"), f.newFinding(row, models.FindingFileChanged, "a"))
	for range 2 {
		f.open(t, many...)
		open := true
		assert.Len(t, f.findings(t, models.FindingFilter{TableID: row.ID, Kind: models.FindingMissingFile, Open: &open}), 1000)
		assert.Len(t, f.findings(t, models.FindingFilter{Open: &open}), 1002)
	}
	assert.Len(t, f.audit(t, models.AuditFindingOpened), 1002)
}

// subjectOf names a finding to resolve.
func subjectOf(found models.Finding, note string) models.FindingSubject {
	return models.FindingSubject{TableID: found.TableID, Kind: found.Kind, SubjectKey: found.SubjectKey, Note: note}
}

func findingsSettle(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "other")
	drift, rate, elsewhere := f.newFinding(row, models.FindingPropertyDrift, "a"), f.newFinding(row, models.FindingSnapshotRate, "r"), f.newFinding(other, models.FindingPropertyDrift, "a")
	settle := func(s activities.FindingSettlement) activities.FindingCounts {
		counts, err := f.s.SettleFindings(t.Context(), s)
		require.NoError(t, err)
		return counts
	}
	assert.Equal(t, activities.FindingCounts{Opened: 3}, settle(activities.FindingSettlement{Found: []models.Finding{drift, rate, elsewhere}}))
	assert.Zero(t, settle(activities.FindingSettlement{Found: []models.Finding{drift}}))
	f.open(t, f.newFinding(row, models.FindingPropertyDrift, "b"))
	assert.Equal(t, activities.FindingCounts{Resolved: 1}, settle(activities.FindingSettlement{Resolved: []models.FindingSubject{subjectOf(drift, "It is right again.")}}))
	all := subjectOf(drift, "All are right.")
	all.SubjectKey = ""
	assert.Equal(t, activities.FindingCounts{Resolved: 1}, settle(activities.FindingSettlement{Resolved: []models.FindingSubject{all, all}}))
	open := true
	left := f.findings(t, models.FindingFilter{Open: &open})
	require.Len(t, left, 2)
	resolved := f.audit(t, models.AuditFindingResolved)
	require.Len(t, resolved, 2)
	assert.Equal(t, "It is right again.", resolved[1].Details.V["note"])
	assert.Equal(t, activities.FindingCounts{Opened: 1, Resolved: 1}, settle(activities.FindingSettlement{
		Found: []models.Finding{rate}, Resolved: []models.FindingSubject{subjectOf(rate, "It was below.")},
	}), "it is another one")
}

func findingsPutRight(t *testing.T, f *fixture) {
	row := f.commit(t, f.table(t, "orders"), 1, 1)
	stalled := f.newFinding(row, models.FindingStalledWriter, "w")
	f.open(t, stalled)
	r := recording(row, 1, 1)
	r.Resolved = []models.FindingSubject{subjectOf(stalled, "It commits again.")}
	r.Findings = []models.Finding{f.newFinding(row, models.FindingOffsetRegression, "1")}
	assert.True(t, f.record(t, r))
	open := true
	left := f.findings(t, models.FindingFilter{Open: &open})
	require.Len(t, left, 1)
	assert.Equal(t, models.FindingOffsetRegression, left[0].Kind)
	f.open(t, stalled)
	assert.False(t, f.record(t, r))
	assert.Len(t, f.findings(t, models.FindingFilter{Open: &open}), 2, "what was recorded before resolves nothing new")
}

func findingsOpen(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "other")
	for _, subject := range []string{"a", "b", "c"} {
		f.open(t, f.newFinding(row, models.FindingDuplicateFile, subject), f.newFinding(other, models.FindingSmallFiles, subject))
	}
	_, err := f.s.ResolveFinding(t.Context(), f.findings(t, models.FindingFilter{TableID: row.ID})[0].ID, "", event(models.AuditFindingResolved))
	require.NoError(t, err)
	read := func(table string) (out []string) {
		for after := ""; ; {
			page, err := f.s.OpenFindingsOf(t.Context(), table, after, 2)
			require.NoError(t, err)
			if len(page) == 0 {
				return out
			}
			for _, found := range page {
				assert.Greater(t, found.ID, after)
				after = found.ID
				out = append(out, found.Subject)
			}
		}
	}
	assert.Equal(t, []string{"a", "b"}, read(row.ID))
	assert.Len(t, read(""), 5)
}

func findingsNoted(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	stale := f.newFinding(row, models.FindingStaleIdentity, "ada and an older uuid")
	for range 3 {
		require.NoError(t, f.s.NoteFinding(t.Context(), stale))
	}
	found := f.findings(t, models.FindingFilter{})
	require.Len(t, found, 1)
	assert.WithinDuration(t, found[0].FirstSeenAt, found[0].LastSeenAt, 0, "what was noted just now is not written again")
	stale.LastSeenAt = time.Now().Add(2 * time.Minute)
	require.NoError(t, f.s.NoteFinding(t.Context(), stale))
	again := f.findings(t, models.FindingFilter{})
	require.Len(t, again, 1)
	assert.WithinDuration(t, stale.LastSeenAt, again[0].LastSeenAt, time.Millisecond)
	assert.Len(t, f.audit(t, models.AuditFindingOpened), 1)
}

func findingsWriter(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	found := f.newFinding(row, models.FindingSnapshotRate, "the table")
	for _, writer := range []string{"w1", "w2"} {
		found.WriterID = writer
		f.open(t, found)
	}
	assert.Empty(t, f.findings(t, models.FindingFilter{WriterID: "w1"}))
	assert.Len(t, f.findings(t, models.FindingFilter{WriterID: "w2"}), 1)
	assert.Empty(t, f.findings(t, models.FindingFilter{WriterID: "\x00"}))
}
