package activities_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

// twice commits a file and then, after what happens in between, the same one again.
func (r *rig) twice(between func(first activities.Target, file string)) (first, second activities.Target, file string) {
	r.t.Helper()
	table := r.world.AddTable("orders")
	r.record(r.world.Commit(table))
	first = r.world.Commit(table)
	file = r.world.FileOf(first, 0)
	r.record(first)
	if between != nil {
		between(first, file)
	}
	second = r.world.Commit(table)
	r.world.AddFile(second, file)
	return first, second, file
}

func TestAFileThatTwoSnapshotsAddedIsAFinding(t *testing.T) {
	r := newRig(t)
	first, second, file := r.twice(nil)
	require.Empty(t, r.open())
	out := r.record(second)
	require.Equal(t, models.FindingDuplicateFile, out.Findings[0].Kind, "the event of the commit tells of it")
	for range 2 {
		r.record(second) // again
		require.Len(t, r.open(), 1)
	}
	f := r.open()[0]
	require.Equal(t, models.FindingDuplicateFile, f.Kind)
	require.Equal(t, second.SnapshotID, *f.SnapshotID)
	require.Equal(t, [4]string{"main", "sales.orders", "etl", second.TableID}, [4]string{f.Catalog, f.Table, f.Principal, f.TableID})
	require.Equal(t, []string{file}, f.Evidence.V["files"])
	require.Equal(t, fmt.Sprint(first.SnapshotID), f.Evidence.V["earlierSnapshot"])
	require.Equal(t, fmt.Sprint(second.SnapshotID), f.Evidence.V["snapshot"])
	require.EqualValues(t, 10, f.Evidence.V["rows"])
	require.EqualValues(t, 0, f.Evidence.V["removedBetween"])
}

func TestAFileThatComesBackIsAFinding(t *testing.T) {
	r := newRig(t)
	var remover activities.Target
	_, second, file := r.twice(func(first activities.Target, file string) {
		remover = r.world.Commit(first)
		r.world.RemoveFrom(remover, file)
		r.record(remover)
	})
	require.NotContains(t, r.world.Records(), file)
	r.record(second)
	require.Len(t, r.open(), 1)
	e := r.open()[0].Evidence.V
	require.EqualValues(t, 1, e["removedBetween"])
	require.Equal(t, []string{fmt.Sprint(remover.SnapshotID)}, e["removedBy"])
	require.Contains(t, r.world.Records(), file, "it is watched again")
	third := r.world.Commit(second)
	r.world.AddFile(third, file)
	r.record(third)
	require.Len(t, r.open(), 2)
	require.Equal(t, fmt.Sprint(second.SnapshotID), r.open()[1].Evidence.V["earlierSnapshot"])
}

// What was rolled back, or was staged and then published, was not added twice; but a second time after that is.
func TestAFileOfASnapshotThatWasRolledBackMayComeAgain(t *testing.T) {
	r := newRig(t)
	_, second, file := r.twice(func(first activities.Target, _ string) { r.world.RollBack(first) })
	r.record(second)
	require.Empty(t, r.open())
	third := r.world.Commit(second)
	r.world.AddFile(third, file)
	r.record(third)
	require.Len(t, r.open(), 1)
	require.Equal(t, fmt.Sprint(second.SnapshotID), r.open()[0].Evidence.V["earlierSnapshot"])
}

// A file that was changed since does not become right by being committed again after a rollback.
func TestCommittingAChangedFileAgainAcceptsNoChange(t *testing.T) {
	r := newRig(t)
	_, second, _ := r.twice(func(first activities.Target, file string) {
		r.world.RollBack(first)
		r.world.SetObject(file, sized(1000, "forged"))
	})
	r.record(second)
	require.Equal(t, 1, r.check().Opened)
}

func TestAFileIsKnownAfterItsSnapshotExpired(t *testing.T) {
	r := newRig(t)
	_, second, _ := r.twice(func(first activities.Target, _ string) { r.world.Expire(first, 2) })
	r.record(second)
	require.Equal(t, []models.FindingKind{models.FindingDuplicateFile}, r.kinds())
}

// A snapshot that is reconciled before the one that had its file first is found all the same.
func TestTheLaterOfTwoSnapshotsIsTheOneThatRepeats(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	first := r.world.Commit(table)
	second := r.world.Commit(table)
	r.world.AddFile(second, r.world.FileOf(first, 0))
	r.record(second)
	require.Empty(t, r.open())
	r.record(first)
	require.Len(t, r.open(), 1)
	require.Equal(t, second.SnapshotID, *r.open()[0].SnapshotID)
	require.Equal(t, fmt.Sprint(first.SnapshotID), r.open()[0].Evidence.V["earlierSnapshot"])
}

// An overwrite that takes a file out and puts it in again has it once.
func TestAFileThatIsReplacedByItselfIsNoDuplicate(t *testing.T) {
	r := newRig(t)
	_, second, file := r.twice(nil)
	r.world.RemoveFrom(second, file)
	r.record(second)
	require.Empty(t, r.open())
}

func TestManyFilesOfOneSnapshotAreOneFinding(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.world.Table(table).Adds = 1200 // several chunks
	first := r.world.Commit(table)
	r.record(first)
	r.world.Table(table).Adds = 1
	second := r.world.Commit(table)
	for n := range 1200 {
		r.world.AddFile(second, r.world.FileOf(first, n))
	}
	r.world.SetObject(r.world.FileOf(second, 0), maintenance.Sighting{Found: true, Size: 1000, ETag: "x"})
	r.record(second)
	require.Len(t, r.open(), 1)
	require.EqualValues(t, 1200, r.open()[0].Evidence.V["fileCount"])
	require.EqualValues(t, 12_000, r.open()[0].Evidence.V["rows"])
}
