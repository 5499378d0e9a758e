package activities_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

// checkTables looks at what changed, and at what was not looked at for an hour.
func (r *rig) checkTables(now *clock) activities.CheckTablePageResult {
	r.t.Helper()
	return must(r, r.acts.CheckTablePage, activities.CheckTablePageInput{Before: now.at.Add(-time.Hour)})
}

func TestTablesThatDidNotChangeCostNothing(t *testing.T) {
	r, now := newClockRig(t)
	for n := range 3 {
		r.world.Commit(r.world.AddTable(fmt.Sprint("t", n)))
	}
	require.Equal(t, activities.CheckTablePageResult{Tables: 3}, r.checkTables(now))
	require.Empty(t, r.open(), "healthy tables")
	documents, looks := r.world.Calls("Document"), r.world.Calls("Stat")
	require.Zero(t, r.checkTables(now))
	require.Equal(t, [2]int{documents, looks}, [2]int{r.world.Calls("Document"), r.world.Calls("Stat")})
	now.at = now.at.Add(61 * time.Minute)
	require.Equal(t, 3, r.checkTables(now).Tables, "an old check is done again")
}

func TestChangedStampsArePutRightAndAreAFindingUntilTheNextCheck(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	require.Zero(t, r.checkTables(now).Opened)
	r.world.Table(table).Properties = map[string]string{"sluice.classification": "public", "sluice.odd": "x"}
	r.world.Publish(table)
	require.Equal(t, activities.CheckTablePageResult{Tables: 1, Stamped: 1, Opened: 1}, r.checkTables(now))
	f := r.open()[0]
	require.Equal(t, models.FindingPropertyDrift, f.Kind)
	require.Equal(t, [2]string{"main", "sales.orders"}, [2]string{f.Catalog, f.Table})
	require.Equal(t, true, f.Evidence.V["putRight"])
	require.Contains(t, f.Evidence.V["properties"], "sluice.odd")
	require.Equal(t, activities.CheckTablePageResult{Tables: 1, Resolved: 1}, r.checkTables(now))
	require.Zero(t, r.checkTables(now))
}

func TestStampsThatCannotBePutRightStayAFinding(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.checkTables(now)
	r.world.Table(table).Properties = map[string]string{"sluice.classification": "public"}
	r.world.Publish(table)
	r.world.SetFail(func(port, _ string) error {
		if port == "Restamp" {
			return fault.New(fault.Unprocessable, "The table's metadata cannot be changed.")
		}
		return nil
	})
	for range 2 {
		require.Equal(t, 1, r.checkTables(now).Tables)
		require.Len(t, r.open(), 1)
	}
	require.Equal(t, "The table's metadata cannot be changed.", r.open()[0].Evidence.V["reason"])
	r.world.SetFail(nil)
	require.Equal(t, 1, r.checkTables(now).Stamped)
	require.Equal(t, 1, r.checkTables(now).Resolved)
}

// Stamps that do not follow governance yet are nobody's fault.
func TestGovernanceThatChangedIsStampedWithoutAFinding(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.checkTables(now)
	r.world.Table(table).Row.Classification = models.Restricted
	r.world.Table(table).Properties = map[string]string{"sluice.classification": "internal"}
	r.world.Publish(table)
	require.Equal(t, activities.CheckTablePageResult{Tables: 1, Stamped: 1}, r.checkTables(now))
	require.Empty(t, r.open())
}

func TestColumnsAreHeldAgainstTheirClassification(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	is := r.world.Table(table)
	is.Schemas = [][]string{{"id", "email"}}
	is.Row.Columns.V = map[string]models.ColumnGovernance{
		"id": {Sensitivity: models.Public}, "email": {Sensitivity: models.Confidential},
	}
	is.Row.KnownColumn = 2
	r.world.Publish(table)
	r.checkTables(now)
	require.Empty(t, r.open())

	is.Schemas, is.Schema = [][]string{{"id", "email"}, {"id", "phone"}}, 1
	r.world.Publish(table)
	r.checkTables(now)
	require.ElementsMatch(t, []models.FindingKind{models.FindingClassifiedChanged, models.FindingUnclassified}, r.kinds())

	is.Row.Columns.V = map[string]models.ColumnGovernance{
		"id": {Sensitivity: models.Public}, "phone": {Sensitivity: models.Confidential},
	}
	r.world.Publish(table)
	require.Equal(t, 2, r.checkTables(now).Resolved)
}

func TestColumnsThatWereThereBeforeAnyWasClassifiedAreNotNew(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	is := r.world.Table(table)
	is.Schemas = [][]string{{"id", "email"}}
	r.world.Publish(table)
	r.checkTables(now)
	is.Row.Columns.V, is.Row.KnownColumn = map[string]models.ColumnGovernance{"email": {Sensitivity: models.Confidential}}, 2
	r.world.Publish(table)
	r.checkTables(now)
	require.Empty(t, r.open(), "who classified email left id as it was")

	is.Schemas, is.Schema = [][]string{{"id", "email"}, {"id", "email", "phone"}}, 1
	r.world.Publish(table)
	r.checkTables(now)
	require.Equal(t, []models.FindingKind{models.FindingUnclassified}, r.kinds())
	require.Equal(t, "column phone", r.open()[0].Subject)
}

func TestATableWhoseMetadataIsGoneIsAFindingUntilItIsBack(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.world.AddTable("fine")
	r.checkTables(now)
	r.world.Publish(table)
	location := r.world.Table(table).Row.MetadataLocation
	r.world.SetObject(location, maintenance.Sighting{Gone: true}) // while this process still remembers it
	for range 2 {
		require.Equal(t, 1, r.checkTables(now).Tables, "it is looked at again soon")
		require.Len(t, r.open(), 1)
	}
	f := r.open()[0]
	require.Equal(t, models.FindingUnreadable, f.Kind)
	require.Equal(t, location, f.Subject)
	r.world.Publish(table)
	require.Equal(t, 1, r.checkTables(now).Resolved)
}

// An outage is no fault of a table, and holds up no other.
func TestATableThatCannotBeLookedAtHoldsUpNoOther(t *testing.T) {
	r, now := newClockRig(t)
	bad, good := r.world.AddTable("a-bad"), r.world.AddTable("good")
	calls := 0
	r.world.SetFail(func(port, _ string) error {
		if port != "Document" {
			return nil
		}
		if calls++; calls == 1 {
			return activitiestest.Unreachable()
		}
		return nil
	})
	require.Equal(t, activities.CheckTablePageResult{Tables: 2, Failed: 1}, r.checkTables(now))
	_, looked := r.world.Check(bad)
	require.False(t, looked)
	_, looked = r.world.Check(good)
	require.True(t, looked)
	require.Equal(t, activities.CheckTablePageResult{Tables: 1}, r.checkTables(now))
	require.Empty(t, r.open())
}

func (r *rig) list(t activities.Target) string {
	return fmt.Sprintf("%s/metadata/snap-%d.avro", r.world.Table(t).Row.Location, t.SnapshotID)
}

func TestAManifestListThatIsGoneNamesTheLastGoodSnapshot(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	var commits []activities.Target
	for range 4 {
		commits = append(commits, r.world.Commit(table))
	}
	r.checkTables(now)
	require.Empty(t, r.open())
	for _, gone := range commits[2:] {
		r.world.SetObject(r.list(gone), maintenance.Sighting{Gone: true})
	}
	r.world.Publish(table)
	require.Equal(t, 2, r.checkTables(now).Opened)
	for i, f := range r.open() {
		require.Equal(t, models.FindingMissingFile, f.Kind)
		require.Equal(t, r.list(commits[2+i]), f.Subject)
		require.Equal(t, fmt.Sprint(commits[2+i].SnapshotID), f.Evidence.V["snapshot"])
		require.Equal(t, fmt.Sprint(commits[1].SnapshotID), f.Evidence.V["lastGoodSnapshot"])
		require.Equal(t, "etl", f.Principal)
	}
	require.Contains(t, r.open()[1].Evidence.V["remedy"], "roll main back")

	r.world.SetObject(r.list(commits[2]), maintenance.Sighting{Found: true})
	require.Equal(t, 1, r.checkTables(now).Resolved, "it is back")
	r.world.RollBack(table)
	require.Equal(t, 1, r.checkTables(now).Resolved, "its snapshot is gone")
	require.Empty(t, r.open())
}

// A folder that was emptied takes every list with it: that is told within bounds, and the check comes to an end.
func TestAThousandListsThatAreGoneAreToldOf(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	var last activities.Target
	for range 1020 {
		last = r.world.Commit(table)
		r.world.SetObject(r.list(last), maintenance.Sighting{Gone: true})
	}
	require.Equal(t, activities.CheckTablePageResult{Tables: 1, Opened: 1000}, r.checkTables(now))
	open := r.open()
	require.Equal(t, r.list(last), open[len(open)-1].Subject, "the newest are told of")
	require.NotContains(t, open[0].Evidence.V, "lastGoodSnapshot")
	require.Equal(t, activities.CheckTablePageResult{Tables: 1}, r.checkTables(now), "it is looked at again soon")
}

// The lists of old snapshots of a busy table are looked at with the full check alone.
func TestABusyTableIsLookedAtInPart(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	var first activities.Target
	for n := range 60 {
		if c := r.world.Commit(table); n == 0 {
			first = c
		}
	}
	r.checkTables(now)
	require.Equal(t, 61, r.world.Calls("Stat"), "with the metadata file")
	now.at = now.at.Add(30 * time.Minute)
	r.world.SetObject(r.list(first), maintenance.Sighting{Gone: true})
	r.world.Commit(table)
	r.checkTables(now)
	require.Equal(t, 61+21, r.world.Calls("Stat"))
	require.Empty(t, r.open())
	now.at = now.at.Add(31 * time.Minute)
	r.world.Commit(table)
	r.checkTables(now)
	require.Len(t, r.open(), 1, "an hour after the last full one")
}

func TestAListThatTheStoreDoesNotAnswerForIsNotMissing(t *testing.T) {
	r, now := newClockRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.world.SetObject(r.list(target), maintenance.Sighting{Err: errors.New("timeout")})
	r.checkTables(now)
	require.Empty(t, r.open())
}

func TestFindingsAboutACommitGoWithIt(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 14)
	require.True(t, r.reconcile(r.world.CommitBy(table, etl, start.Add(time.Hour), flink("job-b", 14))))
	require.Len(t, r.open(), 1)
	r.checkTables(now)
	r.world.Commit(table)
	r.checkTables(now)
	require.Len(t, r.open(), 1, "it is below main's head")
	r.world.Expire(table, 5)
	r.checkTables(now)
	require.Len(t, r.open(), 1, "the ledger knows it still")
}

func TestFindingsAboutACommitThatWasRolledBackAreResolved(t *testing.T) {
	r, now := newClockRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 14)
	require.True(t, r.reconcile(r.world.CommitBy(table, etl, start.Add(time.Hour), flink("job-b", 14))))
	r.world.RollBack(table)
	require.Equal(t, 1, r.checkTables(now).Resolved)
	require.Contains(t, r.world.Findings()[0].Note, "rolled back")
}
