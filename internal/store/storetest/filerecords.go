package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/models"
)

func fileCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a file stays as it was recorded first":               filesOnce,
		"files come longest unseen first, and once in a run":  filesInOrder,
		"files name their table, or what became of it":        filesOfTables,
		"what is wrong opens a finding once":                  filesWrong,
		"what is well again is resolved":                      filesWell,
		"what was accepted meanwhile is not wrong":            filesAccepted,
		"what a later commit removed is looked at no more":    filesRemoved,
		"a removed file is remembered, and may come back":     filesBack,
		"what is recorded late takes no file out or in":       filesLate,
		"what was removed long ago is forgotten":              filesPruned,
		"a table that is gone takes its findings along":       filesGone,
		"an ETag is noted when the file has its size at last": filesNamed,
		"of eight checks at once one opens the finding":       filesRace,
		"a finding and its file are one transaction":          filesTogether,
	}
}

func (f *fixture) file(row models.Table, name string) models.FileRecord {
	location := row.Location + "/data/" + name
	modified := f.started.Add(-time.Hour)
	return models.FileRecord{
		ID: models.FileRecordID(row.ID, location), TableID: row.ID, Location: location, SnapshotID: 7, Size: 100, ETag: "e-" + name,
		ModifiedAt: &modified, RecordedAt: f.started.Add(-time.Minute), CheckedAt: f.started.Add(-time.Minute),
	}
}

// recordFiles records files and gives them.
func (f *fixture) recordFiles(t *testing.T, row models.Table, names ...string) []models.FileRecord {
	t.Helper()
	var files []models.FileRecord
	for _, name := range names {
		files = append(files, f.file(row, name))
	}
	require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Added: files}))
	return files
}

func (f *fixture) toCheck(t *testing.T, before time.Time, limit int) []activities.WatchedFile {
	t.Helper()
	files, err := f.s.FilesToCheck(t.Context(), before, limit)
	require.NoError(t, err)
	return files
}

func (f *fixture) settle(t *testing.T, c activities.FileCheck) activities.FileCheckCounts {
	t.Helper()
	if c.At.IsZero() {
		c.At = time.Now()
	}
	counts, err := f.s.SettleFiles(t.Context(), c)
	require.NoError(t, err)
	return counts
}

// changed is the finding that a recorded file has another content.
func (f *fixture) changed(row models.Table, r models.FileRecord, etag string) activities.WrongFile {
	finding := f.newFinding(row, models.FindingFileChanged, r.Location)
	finding.SubjectKey = r.ID
	finding.Evidence.V = models.FileEvidence{
		File: r.Location, Snapshot: "7", Then: models.FileState{Size: r.Size, ETag: r.ETag}, Now: &models.FileState{Size: 99, ETag: etag},
	}.Members()
	return activities.WrongFile{Record: r, Finding: finding}
}

func (f *fixture) missing(row models.Table, r models.FileRecord) activities.WrongFile {
	w := f.changed(row, r, "")
	w.Finding.Kind = models.FindingMissingFile
	return w
}

func filesOnce(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	first := f.recordFiles(t, row, "a", "b")
	again := first[0]
	again.ETag, again.Size, again.SnapshotID = "forged", 1, 8
	require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Added: []models.FileRecord{again, f.file(row, "c")}}))
	files := f.toCheck(t, time.Now(), 10)
	require.Len(t, files, 3)
	for _, got := range files {
		if got.ID == first[0].ID {
			assert.Equal(t, []any{"e-a", int64(100), int64(7)}, []any{got.ETag, got.Size, got.SnapshotID})
			assert.WithinDuration(t, *first[0].ModifiedAt, *got.ModifiedAt, 0)
		}
	}
}

func filesInOrder(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	f.recordFiles(t, row, "a", "b", "c", "d", "e")
	begun := time.Now()
	seen := map[string]int{}
	for range 10 {
		page := f.toCheck(t, begun, 2)
		if len(page) == 0 {
			break
		}
		var ids []string
		for _, file := range page {
			seen[file.Location]++
			ids = append(ids, file.ID)
		}
		f.settle(t, activities.FileCheck{Looked: ids, At: begun.Add(time.Second)})
	}
	assert.Len(t, seen, 5)
	for location, times := range seen {
		assert.Equal(t, 1, times, location)
	}
	late := f.recordFiles(t, row, "late")
	assert.Equal(t, late[0].ID, f.toCheck(t, begun.Add(time.Hour), 1)[0].ID, "it was looked at longest ago")
}

func filesOfTables(t *testing.T, f *fixture) {
	there, away, gone, forgotten := f.table(t, "there"), f.table(t, "away"), f.table(t, "gone"), f.table(t, "forgotten")
	for _, row := range []models.Table{there, away, gone, forgotten} {
		f.recordFiles(t, row, "f")
	}
	require.NoError(t, f.drop(t, away.ID))
	_, err := f.s.DropTable(t.Context(), gone.ID, models.DroppedTable{State: models.StateUnregistered, DroppedBy: "ada"}, event(models.AuditTableUnregistered))
	require.NoError(t, err)
	record, err := f.s.DropTable(t.Context(), forgotten.ID, models.DroppedTable{State: models.StateDropped, DroppedBy: "ada"}, event(models.AuditTableDropped))
	require.NoError(t, err)
	require.NoError(t, f.s.ForgetTable(t.Context(), record.ID, event(models.AuditTableForgotten)))
	is := map[string]activities.TableIs{}
	for _, file := range f.toCheck(t, time.Now(), 10) {
		is[file.TableID] = file.Is
		if file.TableID == there.ID {
			assert.Equal(t, []string{f.cat.ID, "main", there.UUID, "sales.there"}, []string{file.CatalogID, file.Catalog, file.TableUUID, file.TableName})
		}
	}
	assert.Equal(t, map[string]activities.TableIs{
		there.ID: activities.TableThere, away.ID: activities.TableAway, gone.ID: activities.TableGone, forgotten.ID: activities.TableGone,
	}, is)
}

func filesWrong(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	files := f.recordFiles(t, row, "a", "b")
	check := activities.FileCheck{Looked: []string{files[0].ID, files[1].ID}, Well: []string{files[1].ID}, Wrong: []activities.WrongFile{f.changed(row, files[0], "x")}}
	assert.Equal(t, activities.FileCheckCounts{Opened: 1}, f.settle(t, check))
	found := f.findings(t, models.FindingFilter{})
	require.Len(t, found, 1)
	check.Wrong[0] = f.changed(row, files[0], "y")
	assert.Zero(t, f.settle(t, check), "it is open already")
	again := f.findings(t, models.FindingFilter{})
	require.Len(t, again, 1)
	assert.Equal(t, found[0].ID, again[0].ID)
	assert.Equal(t, "y", again[0].SeenFile().ETag, "what was seen last")
	assert.WithinDuration(t, found[0].FirstSeenAt, again[0].FirstSeenAt, 0)
	assert.True(t, again[0].LastSeenAt.After(found[0].LastSeenAt))
	events := f.audit(t, models.AuditFindingOpened)
	require.Len(t, events, 1)
	assert.Equal(t, []string{"sluice", "main", "sales", "sales.orders", row.UUID}, []string{events[0].Principal, events[0].Catalog, events[0].Namespace, events[0].Table, events[0].TableUUID})
	assert.EqualValues(t, 7, *events[0].SnapshotID)
	assert.Equal(t, found[0].ID, events[0].Details.V["findingId"])
	assert.Equal(t, "high", events[0].Details.V["severity"])
}

func filesWell(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	files := f.recordFiles(t, row, "a", "b")
	ids := []string{files[0].ID, files[1].ID}
	f.settle(t, activities.FileCheck{Looked: ids, Wrong: []activities.WrongFile{f.missing(row, files[0]), f.missing(row, files[1])}})
	assert.Equal(t, activities.FileCheckCounts{Opened: 1, Resolved: 1}, f.settle(t, activities.FileCheck{
		Looked: ids, Wrong: []activities.WrongFile{f.changed(row, files[0], "x")},
	}), "a file that is there with another content is missing no more")
	assert.Equal(t, activities.FileCheckCounts{Resolved: 2}, f.settle(t, activities.FileCheck{Looked: ids, Well: ids}))
	assert.Zero(t, f.settle(t, activities.FileCheck{Looked: ids, Well: ids}))
	open := true
	assert.Empty(t, f.findings(t, models.FindingFilter{Open: &open}))
	events := f.audit(t, models.AuditFindingResolved)
	require.Len(t, events, 3)
	assert.NotEmpty(t, events[0].Details.V["note"])
	f.settle(t, activities.FileCheck{Looked: ids, Wrong: []activities.WrongFile{f.changed(row, files[0], "z")}})
	assert.Len(t, f.findings(t, models.FindingFilter{Kind: models.FindingFileChanged}), 2, "another time is another finding")
}

func filesAccepted(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	files := f.recordFiles(t, row, "a", "b")
	f.settle(t, activities.FileCheck{Wrong: []activities.WrongFile{f.changed(row, files[0], "x"), f.missing(row, files[1])}})
	for _, finding := range f.findings(t, models.FindingFilter{}) {
		_, err := f.s.ResolveFinding(t.Context(), finding.ID, "we did that", event(models.AuditFindingResolved))
		require.NoError(t, err)
	}
	left := f.toCheck(t, time.Now().Add(time.Hour), 10)
	require.Len(t, left, 1, "the missing one is watched no more")
	assert.Equal(t, []any{"x", int64(99)}, []any{left[0].ETag, left[0].Size})
	// A check that had read the records before.
	assert.Zero(t, f.settle(t, activities.FileCheck{Wrong: []activities.WrongFile{f.changed(row, files[0], "x"), f.missing(row, files[1])}}))
}

func filesRemoved(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	files := f.recordFiles(t, row, "a", "b")
	f.settle(t, activities.FileCheck{Wrong: []activities.WrongFile{f.changed(row, files[0], "x")}})
	removal := activities.FileRecording{Removed: []string{files[0].ID, "absent"}, Added: []models.FileRecord{f.file(row, "c")}}
	for range 2 {
		require.NoError(t, f.s.RecordFiles(t.Context(), removal))
	}
	var left []string
	for _, file := range f.toCheck(t, time.Now(), 10) {
		left = append(left, file.ID)
	}
	assert.ElementsMatch(t, []string{files[1].ID, removal.Added[0].ID}, left)
	assert.Len(t, f.audit(t, models.AuditFindingResolved), 1)
	assert.Zero(t, f.settle(t, activities.FileCheck{Wrong: []activities.WrongFile{f.changed(row, files[0], "y")}}), "a check that had read it before")
}

func (f *fixture) known(t *testing.T, ids ...string) map[string]models.FileRecord {
	t.Helper()
	files, err := f.s.KnownFiles(t.Context(), ids)
	require.NoError(t, err)
	out := map[string]models.FileRecord{}
	for _, file := range files {
		out[file.ID] = file
	}
	return out
}

func filesBack(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	files := f.recordFiles(t, row, "a", "b")
	removal := activities.FileRecording{Removed: []string{files[0].ID}, By: 8}
	require.NoError(t, f.s.RecordFiles(t.Context(), removal))
	known := f.known(t, files[0].ID, files[1].ID, "absent")
	require.Len(t, known, 2)
	assert.Nil(t, known[files[1].ID].RemovedAt)
	removed := known[files[0].ID]
	assert.EqualValues(t, 8, *removed.RemovedBy)
	assert.WithinRange(t, *removed.RemovedAt, f.started, time.Now())
	assert.EqualValues(t, 7, removed.SnapshotID)
	again := f.file(row, "a")
	require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Added: []models.FileRecord{again}}))
	assert.NotNil(t, f.known(t, again.ID)[again.ID].RemovedAt, "its commit is recorded once more")
	for _, snapshot := range []int64{8, 9} { // by the same commit that took it out, and by a later one
		again.SnapshotID, again.ETag, again.Size = snapshot, "new", 123
		require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Added: []models.FileRecord{again}}))
		got := f.known(t, again.ID)[again.ID]
		assert.Equal(t, []any{snapshot, "new", int64(123)}, []any{got.SnapshotID, got.ETag, got.Size})
		assert.Nil(t, got.RemovedAt)
		assert.Nil(t, got.RemovedBy)
		require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Removed: []string{again.ID}, By: snapshot}))
		assert.Nil(t, f.known(t, again.ID)[again.ID].RemovedAt, "its own commit did not take it out for good")
		require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Removed: []string{again.ID}, By: 10}))
	}
	assert.Empty(t, f.known(t))
}

func filesLate(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	for n := int64(1); n <= 4; n++ {
		row = f.commit(t, row, n, n)
	}
	file := f.file(row, "a")
	add := func(snapshot int64) {
		file.SnapshotID = snapshot
		require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Added: []models.FileRecord{file}}))
	}
	remove := func(snapshot int64) {
		require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Removed: []string{file.ID}, By: snapshot}))
	}
	add(3)
	remove(2)
	assert.Nil(t, f.known(t, file.ID)[file.ID].RemovedAt, "it was brought again after that")
	remove(4)
	add(1)
	got := f.known(t, file.ID)[file.ID]
	assert.EqualValues(t, 3, got.SnapshotID)
	assert.EqualValues(t, 4, *got.RemovedBy)
}

func filesPruned(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	files := f.recordFiles(t, row, "a", "b", "c", "d")
	ids := []string{files[0].ID, files[1].ID, files[2].ID}
	require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Removed: ids, By: 8}))
	prune := func(before time.Time, limit int) int {
		n, err := f.s.PruneFileRecords(t.Context(), before, limit)
		require.NoError(t, err)
		return n
	}
	assert.Zero(t, prune(f.started, 10))
	assert.Equal(t, 2, prune(time.Now().Add(time.Second), 2))
	assert.Equal(t, 1, prune(time.Now().Add(time.Second), 2))
	assert.Zero(t, prune(time.Now().Add(time.Second), 2))
	assert.Len(t, f.known(t, append(ids, files[3].ID)...), 1, "what is there stays")
}

func filesGone(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "other")
	files, others := f.recordFiles(t, row, "a"), f.recordFiles(t, other, "a")
	f.settle(t, activities.FileCheck{Wrong: []activities.WrongFile{f.changed(row, files[0], "x"), f.changed(other, others[0], "x")}})
	f.open(t, f.newFinding(row, models.FindingSummaryMismatch, "writer ada"))
	assert.Equal(t, activities.FileCheckCounts{Resolved: 2}, f.settle(t, activities.FileCheck{
		Looked: []string{files[0].ID}, Forgotten: []string{files[0].ID}, GoneTables: []string{row.ID},
	}))
	open := true
	left := f.findings(t, models.FindingFilter{Open: &open})
	require.Len(t, left, 1)
	assert.Equal(t, other.ID, left[0].TableID)
	assert.Len(t, f.toCheck(t, time.Now().Add(time.Hour), 10), 1)
}

func filesNamed(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	unnamed := f.file(row, "a")
	unnamed.ETag, unnamed.ModifiedAt = "", nil
	require.NoError(t, f.s.RecordFiles(t.Context(), activities.FileRecording{Added: []models.FileRecord{unnamed}}))
	named := f.file(row, "a")
	for _, etag := range []string{"first", "second"} {
		named.ETag = etag
		f.settle(t, activities.FileCheck{Well: []string{named.ID}, Named: []models.FileRecord{named}})
	}
	got := f.toCheck(t, time.Now(), 1)[0]
	assert.Equal(t, "first", got.ETag, "it is noted once")
	assert.NotNil(t, got.ModifiedAt)
}

func filesRace(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	files := f.recordFiles(t, row, "a")
	together(8, func(int) {
		_, err := f.s.SettleFiles(t.Context(), activities.FileCheck{At: time.Now(), Wrong: []activities.WrongFile{f.changed(row, files[0], "x")}})
		assert.NoError(t, err)
	})
	assert.Len(t, f.findings(t, models.FindingFilter{}), 1)
	assert.Len(t, f.audit(t, models.AuditFindingOpened), 1)
}

func filesTogether(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	r := activities.FileRecording{Added: []models.FileRecord{f.file(row, "a")}, Findings: []models.Finding{f.changed(row, f.file(row, "a"), "x").Finding}}
	for range 2 {
		require.NoError(t, f.s.RecordFiles(t.Context(), r))
	}
	assert.Len(t, f.toCheck(t, time.Now(), 10), 1)
	assert.Len(t, f.findings(t, models.FindingFilter{}), 1)
	assert.Len(t, f.audit(t, models.AuditFindingOpened), 1)
}
