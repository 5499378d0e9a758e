package activities_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

func (r *rig) record(t activities.Target) activities.RecordFilesResult {
	r.t.Helper()
	return must(r, r.acts.RecordFiles, activities.RecordFilesInput{Target: t, Catalog: "main", OnMain: true})
}

func (r *rig) check() activities.CheckFilePageResult {
	r.t.Helper()
	return must(r, r.acts.CheckFilePage, activities.CheckFilePageInput{Before: time.Date(2026, 5, 5, 0, 0, 0, 0, time.UTC).Add(r.later())})
}

// later is a day more at each call, so that every check is of all files.
func (r *rig) later() time.Duration {
	return time.Duration(r.world.Calls("FilesToCheck")) * 24 * time.Hour
}

func (r *rig) open() []models.Finding {
	var out []models.Finding
	for _, f := range r.world.Findings() {
		if f.ResolvedAt == nil {
			out = append(out, f)
		}
	}
	return out
}

func sized(bytes int64, etag string) maintenance.Sighting {
	return maintenance.Sighting{Found: true, Size: bytes, ETag: etag}
}

func TestFilesAreRecordedOnce(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.world.Table(table).Adds = 1200 // several chunks
	target := r.world.Commit(table)
	for range 2 {
		require.Equal(t, activities.RecordFilesResult{Recorded: 1200}, r.record(target))
	}
	require.Len(t, r.world.Records(), 1200)
	require.Empty(t, r.world.Findings())
}

// What was noted first stays: to record again must not make a changed file the right one.
func TestRecordingAgainAcceptsNoChange(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.record(target)
	r.world.SetObject(r.world.FileOf(target, 0), sized(activitiestest.FileSize, "forged"))
	r.record(target)
	require.Equal(t, 1, r.check().Opened)
}

func TestAFileThatIsNotAsItsManifestSaysIsFoundAtOnce(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.world.Table(table).Adds = 3
	target := r.world.Commit(table)
	short, gone := r.world.FileOf(target, 0), r.world.FileOf(target, 1)
	r.world.SetObject(short, sized(7, "x"))
	r.world.SetObject(gone, maintenance.Sighting{Gone: true})
	out := r.record(target)
	require.EqualValues(t, 3, out.Recorded)
	require.Equal(t, []activities.Finding{
		{Kind: models.FindingFileChanged, Evidence: "The file " + short + " has 7 bytes; its manifest says 1000."},
		{Kind: models.FindingMissingFile, Evidence: "The file " + gone + " is missing."},
	}, out.Findings)
	require.Len(t, r.open(), 2)
	require.Equal(t, "etl", r.open()[0].Principal)
	r.record(target)
	require.Len(t, r.world.Findings(), 2, "again is no other finding")

	require.Equal(t, activities.CheckFilePageResult{Looked: 3, Wrong: 2}, r.check())
	r.world.SetObject(short, sized(activitiestest.FileSize, "whole"))
	r.world.SetObject(gone, sized(activitiestest.FileSize, "late"))
	require.Equal(t, activities.CheckFilePageResult{Looked: 3, Resolved: 2}, r.check())
	r.world.SetObject(short, sized(activitiestest.FileSize, "forged"))
	require.Equal(t, 1, r.check().Opened, "it is held against what it was when it had its size")
}

func TestTheEventTellsOfFiles(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.world.SetObject(r.world.FileOf(target, 0), sized(7, "x"))
	counts := must(r, r.acts.RecountSnapshot, activities.RecountSnapshotInput{Target: target})
	require.EqualValues(t, 1, counts.ChangedFiles)
	must(r, r.acts.RecordCommit, activities.RecordCommitInput{Target: target, Catalog: "main", Counts: counts, Files: r.record(target)})
	details := r.world.Audits()[0].Details.V
	require.Len(t, details["findings"], 1)
	require.Len(t, r.world.Findings(), 1, "it is opened by who found it alone")
}

func TestFilesOutOfReachAreCounted(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.world.Table(table).Adds = 3
	target := r.world.Commit(table)
	r.world.SetFail(func(port, path string) error {
		if port == "Stat" && path == r.world.FileOf(target, 1) {
			return fault.New(fault.Forbidden, "It is outside.")
		}
		return nil
	})
	require.Equal(t, activities.RecordFilesResult{Recorded: 2, Left: 1}, r.record(target))
}

func TestAStoreThatIsDownIsAskedAgain(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	for _, port := range []string{"Stat", "Changes", "RecordFiles"} {
		r.world.SetFail(func(called, _ string) error {
			if called == port {
				return activitiestest.Unreachable()
			}
			return nil
		})
		_, err := run(r, r.acts.RecordFiles, activities.RecordFilesInput{Target: target})
		require.False(t, asApplication(t, err).NonRetryable(), port)
	}
	r.world.SetFail(nil)
	require.EqualValues(t, 1, r.record(target).Recorded)
}

func TestFilesOfATableThatIsGoneAreNotRecorded(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.world.Drop(target)
	require.Zero(t, r.record(target))
	require.Empty(t, r.world.Records())
}

// The files of a snapshot that expired before it was reconciled may have been removed with it.
func TestFilesOfAnExpiredSnapshotMayBeGone(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.world.Table(table).Adds = 2
	target := r.world.Commit(table)
	r.world.Commit(table)
	r.world.Expire(table, 1)
	r.world.SetObject(r.world.FileOf(target, 0), maintenance.Sighting{Gone: true})
	require.Equal(t, activities.RecordFilesResult{Recorded: 1}, r.record(target))
	require.Empty(t, r.world.Findings())
}

func TestAMissingFileIsFoundWhileItsSnapshotLives(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.record(target)
	path := r.world.FileOf(target, 0)
	r.world.SetObject(path, maintenance.Sighting{Gone: true})
	require.Equal(t, activities.CheckFilePageResult{Looked: 1, Wrong: 1, Opened: 1}, r.check())
	found := r.open()[0]
	require.Equal(t, []any{models.FindingMissingFile, models.High, path, "sales.orders"}, []any{found.Kind, found.Severity, found.Subject, found.Table})
	require.NotContains(t, found.Evidence.V, "now")
	require.Equal(t, target.SnapshotID, *found.SnapshotID)
	r.world.SetObject(path, sized(activitiestest.FileSize, "e0"))
	require.Equal(t, 1, r.check().Resolved)
}

// An expired snapshot's file is live while a head refers to it, and else went with the snapshot.
func TestAFileThatWentWithItsSnapshotIsForgotten(t *testing.T) {
	for name, live := range map[string]bool{"a head refers to it": true, "no head refers to it": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			table := r.world.AddTable("orders")
			target := r.world.Commit(table)
			r.record(target)
			r.record(r.world.Commit(table))
			r.world.Expire(table, 1)
			path := r.world.FileOf(target, 0)
			r.world.SetObject(path, maintenance.Sighting{Gone: true})
			if !live {
				r.world.Unhead(path)
			}
			out := r.check()
			require.Equal(t, 2, out.Looked)
			if live {
				require.Equal(t, 1, out.Opened)
				require.Contains(t, r.world.Records(), path)
				return
			}
			require.Zero(t, out.Wrong)
			require.NotContains(t, r.world.Records(), path)
		})
	}
}

// Where the table's own metadata cannot be read, nothing is said of its files, and the other tables are checked.
func TestATableThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	r := newRig(t)
	broken, fine := r.world.Commit(r.world.AddTable("broken")), r.world.Commit(r.world.AddTable("fine"))
	for _, target := range []activities.Target{broken, fine} {
		r.record(target)
		r.world.SetObject(r.world.FileOf(target, 0), maintenance.Sighting{Gone: true})
	}
	r.world.RemoveFile(r.world.Table(broken).Row.MetadataLocation)
	require.Equal(t, activities.CheckFilePageResult{Looked: 2, Wrong: 1, Unreachable: 1, Opened: 1}, r.check())
	require.Equal(t, "sales.fine", r.open()[0].Table)
	require.Len(t, r.world.Records(), 2, "and nothing is forgotten")
}

func TestADroppedTableIsLeftAloneAndAPurgedOneForgotten(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.record(target)
	path := r.world.FileOf(target, 0)
	drop := r.world.DropForPurge(target)
	r.world.SetObject(path, maintenance.Sighting{Gone: true})
	require.Equal(t, activities.CheckFilePageResult{Looked: 1}, r.check())
	require.Len(t, r.world.Records(), 1, "it may come back")
	r.world.SetDrop(drop, models.StatePurged)
	r.check()
	require.Empty(t, r.world.Records())
}

// A clock that is behind Temporal's must not make a check look at the same files for ever.
func TestACheckMovesOnWhateverTheClockSays(t *testing.T) {
	r := newRig(t)
	r.record(r.world.Commit(r.world.AddTable("orders")))
	ahead := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, 1, must(r, r.acts.CheckFilePage, activities.CheckFilePageInput{Before: ahead}).Looked)
	require.Zero(t, must(r, r.acts.CheckFilePage, activities.CheckFilePageInput{Before: ahead}))
}

func TestACheckThatCannotWriteIsRepeated(t *testing.T) {
	r := newRig(t)
	target := r.world.Commit(r.world.AddTable("orders"))
	r.record(target)
	r.world.SetObject(r.world.FileOf(target, 0), sized(1, "x"))
	r.world.SetFail(func(port, _ string) error {
		if port == "SettleFiles" {
			return errors.New("the database is down")
		}
		return nil
	})
	_, err := run(r, r.acts.CheckFilePage, activities.CheckFilePageInput{Before: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.False(t, asApplication(t, err).NonRetryable())
	r.world.SetFail(nil)
	require.Equal(t, 1, r.check().Opened)
}

// A writer whose summaries are always wrong has one finding, with what was seen last.
func TestWrongSummariesOfAWriterAreOneFinding(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	for n := range 2 {
		target := r.world.Commit(table)
		counts := activities.RecountSnapshotResult{Findings: []activities.Finding{
			{Kind: models.FindingSummaryMismatch, Evidence: "first"}, {Kind: models.FindingSummaryMismatch, Evidence: "second"},
		}}
		for range 2 {
			must(r, r.acts.RecordCommit, activities.RecordCommitInput{Target: target, Catalog: "main", Counts: counts})
		}
		found := r.open()
		require.Len(t, found, 1, n)
		require.Equal(t, []any{models.Medium, "writer etl spark", "etl"}, []any{found[0].Severity, found[0].Subject, found[0].Principal})
		require.Len(t, found[0].Evidence.V["observed"], 2)
	}
}

func TestALocationThatNoStoreHasIsNotRecorded(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	target := r.world.Commit(table)
	prefix := strings.TrimSuffix(r.world.FileOf(target, 0), "0.parquet")
	for _, name := range []string{strings.Repeat("x", 5000), "nul\x00", "\xff"} {
		r.world.SetObject(prefix+name, sized(activitiestest.FileSize, "e"))
	}
	require.Equal(t, activities.RecordFilesResult{Recorded: 1, Left: 3}, r.record(target))
}
