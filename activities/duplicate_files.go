package activities

import (
	"context"
	"maps"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

// repeats is what is known of files that a snapshot adds and that another one added before.
type repeats struct {
	found []models.Finding
	// stale are records, by id, of files whose snapshot this one does not build on, as after a rollback, or where it
	// publishes one that was staged: the files are this snapshot's from now on.
	stale map[string]models.FileRecord
}

// duplicateFiles finds files that were added twice on one line of snapshots, by c or, where that was reconciled before, by a
// later one.
func (a *Activities) duplicateFiles(ctx context.Context, in RecordFilesInput, at found, c models.Commit, changes maintenance.ChangedFiles) (repeats, error) {
	out := repeats{stale: map[string]models.FileRecord{}}
	rows, others, err := a.otherFiles(ctx, in.Target, changes)
	if err != nil || len(others) == 0 {
		return out, err
	}
	if at, err = a.locate(ctx, in.Target); err != nil || at.gone != NotGone { // those may be of later snapshots
		return out, err
	}
	before, err := a.ancestors(ctx, at, snapshotsOf(others))
	if err != nil {
		return out, err
	}
	twins := out.twinsOf(in, at, others, before, rows)
	for _, later := range slices.Sorted(maps.Keys(twins)) {
		commit := c
		if later != in.Target.SnapshotID {
			if commit, err = a.commitOf(ctx, in.Target.At(later)); err != nil {
				return out, err
			}
		}
		for _, f := range findings.OfDuplicateFile(commit, twins[later]) {
			ofCommit(&f, commit, in.Catalog)
			out.found = append(out.found, f)
		}
	}
	return out, nil
}

// twinsOf gives the files that are there twice, by the later of the two snapshots, and notes the stale ones. before tells
// which snapshots this one builds on, rows the rows of the files by record id.
func (r *repeats) twinsOf(in RecordFilesInput, at found, others []models.FileRecord, before map[int64]bool, rows map[string]int64) map[int64][]findings.TwinFile {
	this := in.Target.SnapshotID
	twins := map[int64][]findings.TwinFile{}
	for _, record := range others {
		switch other := record.SnapshotID; {
		case before[other]:
			if record.RemovedBy == nil || !before[*record.RemovedBy] {
				record.RemovedAt, record.RemovedBy = nil, nil // not on this line
			}
			twins[this] = append(twins[this], findings.TwinFile{Record: record, Rows: rows[record.ID]})
		case at.current.IsAncestor(this, other):
			record.SnapshotID, record.RemovedAt, record.RemovedBy = this, nil, nil
			twins[other] = append(twins[other], findings.TwinFile{Record: record, Rows: rows[record.ID]})
		case in.OnMain:
			r.stale[record.ID] = record
		}
	}
	return twins
}

// otherFiles gives the records of added files that another snapshot had added, and the rows of the files by record id. A file
// that the snapshot itself replaces is none.
func (a *Activities) otherFiles(ctx context.Context, t Target, changes maintenance.ChangedFiles) (map[string]int64, []models.FileRecord, error) {
	rows, removed := map[string]int64{}, map[string]bool{}
	for _, path := range changes.Removed {
		removed[models.FileRecordID(t.TableID, path)] = true
	}
	var others []models.FileRecord
	for chunk := range slices.Chunk(changes.Added, fileChunk) {
		ids := make([]string, len(chunk))
		for i, f := range chunk {
			ids[i] = models.FileRecordID(t.TableID, f.Path)
			rows[ids[i]] = f.Rows
		}
		records, err := a.ports.Files.KnownFiles(ctx, ids)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range records {
			if r.SnapshotID != t.SnapshotID && !removed[r.ID] {
				others = append(others, r)
			}
		}
	}
	return rows, others, nil
}

// snapshotsOf gives the snapshots that records name.
func snapshotsOf(records []models.FileRecord) []int64 {
	var ids []int64
	for _, r := range records {
		ids = append(ids, r.SnapshotID)
		if r.RemovedBy != nil {
			ids = append(ids, *r.RemovedBy)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// commitOf gives the ledger row of a snapshot, or what the target says where the ledger has none.
func (a *Activities) commitOf(ctx context.Context, t Target) (models.Commit, error) {
	c, err := a.recentCommit(ctx, t.TableID, t.SnapshotID)
	if fault.Is(err, fault.NotFound) {
		return models.Commit{
			CatalogID: t.CatalogID, TableID: t.TableID, TableUUID: t.TableUUID, TableName: t.TableName, SnapshotID: t.SnapshotID,
		}, nil
	}
	return c, err
}
