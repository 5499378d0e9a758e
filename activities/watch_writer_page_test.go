package activities_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

// clock is a rig's time, which a test may move.
type clock struct{ at time.Time }

func newClockRig(t *testing.T) (*rig, *clock) {
	c := &clock{start.Add(time.Hour)}
	return newRig(t, func(p *activities.Ports) { p.Now = func() time.Time { return c.at } }), c
}

func (r *rig) watch() activities.WatchWriterPageResult {
	r.t.Helper()
	return must(r, r.acts.WatchWriterPage, activities.WatchWriterPageInput{})
}

func TestAStreamThatStopsIsLateUntilItsNextCommit(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 20)
	now.at = start.Add(24 * time.Minute)
	require.Zero(t, r.watch().Opened, "four minutes after its last commit, of one each minute")
	r.world.SetStall(findings.Arrivals{Looked: true, Files: 7, Bytes: 7000, Newest: now.at}, findings.Refusal{At: now.at, Type: "table.commit_denied", Reason: "closed"})
	now.at = start.Add(26 * time.Minute)
	require.Equal(t, activities.WatchWriterPageResult{Writers: 1, Opened: 1}, r.watch())
	require.Equal(t, []models.FindingKind{models.FindingStalledWriter}, r.kinds())
	f := r.open()[0]
	require.Equal(t, "late", f.Evidence.V["state"])
	require.Equal(t, int64(7), f.Evidence.V["arrivals"].(map[string]any)["files"])
	require.Len(t, f.Evidence.V["refusals"], 1)
	require.Equal(t, writerOf(table), f.WriterID)

	require.Zero(t, r.watch().Opened)
	require.Equal(t, 1, r.world.Calls("Arrivals"), "an open finding is not gathered anew each minute")
	r.world.Age(now.at.Add(-time.Hour))
	require.Zero(t, r.watch().Opened)
	require.Equal(t, 2, r.world.Calls("Arrivals"))

	r.stream(table, "job-a", 27, 27)
	require.Empty(t, r.open(), "its commit resolves it, before anybody looks again")
}

// What is committed and waits to be reconciled is not missing.
func TestABacklogMakesNobodyLate(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 20)
	r.world.CommitBy(table, etl, start.Add(50*time.Minute), flink("job-a", 21))
	now.at = start.Add(51 * time.Minute)
	require.Equal(t, activities.WatchWriterPageResult{Writers: 1}, r.watch())
	now.at = start.Add(59 * time.Minute)
	require.Equal(t, 1, r.watch().Opened, "but it is late after that")
	require.Equal(t, start.Add(50*time.Minute).Format(time.RFC3339Nano), r.open()[0].Evidence.V["lastCommitAt"])
}

// After an outage commits of long ago are reconciled: the writer that stopped since is late before and after.
func TestABacklogThatDrainsDoesNotClearWhoStopped(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 20)
	now.at = start.Add(59 * time.Minute)
	require.Equal(t, 1, r.watch().Opened)
	r.stream(table, "job-a", 21, 22)
	require.Len(t, r.open(), 1, "it is still late")
	require.Equal(t, activities.WatchWriterPageResult{Writers: 1}, r.watch())
}

func expected(table activities.Target, every time.Duration) models.NamedWriter {
	return models.NamedWriter{CatalogName: "main", TableWriter: models.TableWriter{
		ID: "w-1", CatalogID: table.CatalogID, TableID: table.TableID, TableUUID: table.TableUUID, Table: table.TableName,
		Kind: models.ExpectedWriter, Principal: "etl", Every: every.Milliseconds(), State: models.WriterActive, CreatedAt: start,
	}}
}

func TestAWriterThatNeverCameIsNotLate(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.world.SetWriter(expected(table, 10*time.Minute))
	now.at = start.Add(10*time.Minute + 59*time.Second)
	require.Zero(t, r.watch().Opened)
	now.at = start.Add(12 * time.Minute)
	require.Equal(t, 1, r.watch().Opened)
	require.Equal(t, "never", r.open()[0].Evidence.V["state"])

	w := expected(table, 10*time.Minute)
	w.State = models.WriterFinished
	r.world.SetWriter(w)
	require.Equal(t, 1, r.watch().Resolved, "who is finished owes nothing")
}

// A declared writer is known by any name only once the table's commits are reconciled.
func TestADeclaredWriterIsJudgedWhenItsTableIsReconciled(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.world.SetWriter(expected(table, 10*time.Minute))
	target := r.world.Commit(table)
	now.at = start.Add(time.Hour)
	require.Zero(t, r.watch().Opened)
	require.True(t, r.reconcile(target))
	require.Equal(t, 1, r.watch().Opened)
}

func TestTheWritersOfADroppedTableAreNotWaitedFor(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 20)
	now.at = start.Add(time.Hour)
	require.Equal(t, 1, r.watch().Opened)
	r.world.Drop(table)
	r.world.Age(now.at.Add(-time.Hour))
	require.Equal(t, activities.WatchWriterPageResult{Writers: 1, Resolved: 1}, r.watch())
	require.Equal(t, "The table is gone.", r.world.Findings()[0].Note)
}

// A store that cannot be listed keeps no late writer from being found.
func TestALateWriterIsFoundWithoutTheStore(t *testing.T) {
	r, now := newClockRig(t)
	r.stream(r.world.AddTable("orders"), "job-a", 11, 20)
	now.at = start.Add(time.Hour)
	r.world.SetFail(func(port, _ string) error {
		if port == "Arrivals" {
			return errors.New("no listing here")
		}
		return nil
	})
	require.Equal(t, 1, r.watch().Opened)
	require.NotContains(t, r.open()[0].Evidence.V, "arrivals")
}

func TestATokenThatEndsIsAFindingUntilTheWriterUsesAnother(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	w := expected(table, 0)
	expiry := now.at.Add(time.Hour)
	w.Kind, w.TokenID, w.TokenExpiry = models.BatchWriter, "tok-1", &expiry
	r.world.SetWriter(w)
	require.Equal(t, 1, r.watch().Opened)
	require.Equal(t, []models.FindingKind{models.FindingTokenExpiring}, r.kinds())

	later := now.at.Add(2 * time.Hour)
	w.TokenID, w.TokenExpiry = "tok-2", &later
	r.world.SetWriter(w)
	got := r.watch()
	require.Equal(t, [2]int{1, 1}, [2]int{got.Opened, got.Resolved}, "the other one ends as well: that is another finding")
	far := now.at.Add(100 * 24 * time.Hour)
	w.TokenExpiry = &far
	r.world.SetWriter(w)
	require.Equal(t, activities.WatchWriterPageResult{Writers: 1, Resolved: 1}, r.watch())
}

func TestKeysOfItsOwnAreAFindingWhereThereIsSomethingToDelegate(t *testing.T) {
	r, _ := newClockRig(t)
	table := r.world.AddTable("orders")
	w := expected(table, 0)
	w.Kind, w.Mode = models.BatchWriter, models.UndelegatedAccess
	r.world.SetWriter(w)
	require.Zero(t, r.watch().Opened, "a folder has no keys")
	r.world.Table(table).Row.Location = "s3://bucket/sales/orders"
	require.Equal(t, 1, r.watch().Opened)
	require.Equal(t, []models.FindingKind{models.FindingUndelegated}, r.kinds())
	w.Mode = models.VendedAccess
	r.world.SetWriter(w)
	require.Equal(t, 1, r.watch().Resolved)
}

func TestWritersArePaged(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	for n := range 501 {
		w := expected(table, time.Minute)
		w.ID = fmt.Sprintf("w-%04d", n)
		r.world.SetWriter(w)
	}
	now.at = start.Add(time.Hour)
	page := r.watch()
	require.Equal(t, activities.WatchWriterPageResult{Writers: 500, Opened: 500, Next: "w-0499"}, page)
	last := must(r, r.acts.WatchWriterPage, activities.WatchWriterPageInput{After: page.Next})
	require.Equal(t, activities.WatchWriterPageResult{Writers: 1, Opened: 1}, last)
	require.Equal(t, 2, r.world.Calls("TableByID"), "a table is read once for a page")
}

func TestTablesThatGetTooMuchAreFoundUntilTheyGetLess(t *testing.T) {
	r, _ := newClockRig(t)
	table := r.world.AddTable("orders")
	rate := findings.TableRate{CatalogID: table.CatalogID, Catalog: "main", TableID: table.TableID, Table: "sales.orders", Commits: 720, AddedFiles: 100, AddedBytes: 1000}
	look := func(daily bool) activities.WatchTablePageResult {
		return must(r, r.acts.WatchTablePage, activities.WatchTablePageInput{Daily: daily})
	}
	r.world.SetRates(rate)
	require.Equal(t, activities.WatchTablePageResult{Tables: 1, Opened: 1}, look(false))
	require.Equal(t, []models.FindingKind{models.FindingSnapshotRate}, r.kinds())
	require.Equal(t, activities.WatchTablePageResult{Tables: 1, Opened: 1}, look(true))
	require.Equal(t, []models.FindingKind{models.FindingSnapshotRate, models.FindingSmallFiles}, r.kinds())

	rate.AddedFiles = 99
	r.world.SetRates(rate)
	require.Equal(t, 1, look(true).Resolved, "few files say nothing")
	r.world.SetRates()
	require.Equal(t, activities.WatchTablePageResult{Resolved: 1}, look(false), "a table that gets nothing")
}

func TestWhatIsNotSeenAnyMoreIsTidied(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	var found []models.Finding
	for _, kind := range []models.FindingKind{models.FindingStaleIdentity, models.FindingDualCoordinator, models.FindingDuplicateCheckpoint} {
		found = append(found, models.Finding{TableID: table.TableID, Kind: kind, SubjectKey: string(kind)})
	}
	_, err := r.world.SettleFindings(t.Context(), activities.FindingSettlement{Found: found})
	require.NoError(t, err)
	r.world.Age(now.at.Add(-23 * time.Hour))
	in := activities.TidyFindingsInput{FileMemory: time.Hour}
	require.Zero(t, must(r, r.acts.TidyFindings, in))
	r.world.Age(now.at.Add(-25 * time.Hour))
	require.Equal(t, activities.TidyFindingsResult{Resolved: 2}, must(r, r.acts.TidyFindings, in))
	require.Equal(t, []models.FindingKind{models.FindingDuplicateCheckpoint}, r.kinds(), "a fault that was made stays one")
}

func TestRemovedFilesAreForgottenInTheEnd(t *testing.T) {
	r, now := newClockRig(t)
	_, second, file := r.twice(func(first activities.Target, file string) {
		remover := r.world.Commit(first)
		r.world.RemoveFrom(remover, file)
		r.record(remover)
	})
	now.at = time.Now().Add(29 * time.Minute)
	in := activities.TidyFindingsInput{FileMemory: 30 * time.Minute}
	require.Zero(t, must(r, r.acts.TidyFindings, in).Forgotten)
	now.at = now.at.Add(2 * time.Minute)
	require.Equal(t, 1, must(r, r.acts.TidyFindings, in).Forgotten)
	r.record(second)
	require.Empty(t, r.open())
	require.Contains(t, r.world.Records(), file)
}
