package activities

import (
	"context"
	"sync/atomic"

	"go.temporal.io/sdk/activity"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

// PurgeFilesInput names the record of the table whose files are deleted.
type PurgeFilesInput struct {
	Target PurgeTarget `json:"target"`
}

// PurgeFilesResult counts what was deleted.
type PurgeFilesResult struct {
	Files      int64 `json:"files,omitempty"`
	Bytes      int64 `json:"bytes,omitempty"`
	Skipped    bool  `json:"skipped,omitempty"`    // nothing was deleted: the files may be needed elsewhere
	Unreadable int   `json:"unreadable,omitempty"` // files of other tables, gone or damaged: what they named is not known
}

// purge is one part of deleting a table's files.
type purge struct {
	record  models.DroppedTable
	table   maintenance.Table
	sharers Sharers
	kept    maintenance.FileSet
	from    maintenance.Progress // of an earlier attempt
	beat    func(maintenance.Progress)
}

// purging runs one part. The record must be purging: nothing is deleted of a table that could still come back. Files that
// other tables refer to are looked up anew for each part, because tables may be registered at any time.
func (a *Activities) purging(ctx context.Context, t PurgeTarget, part func(purge) (maintenance.Progress, error)) (PurgeFilesResult, error) {
	record, err := a.ports.Purges.DroppedTable(ctx, t.DropID)
	if err != nil {
		return PurgeFilesResult{}, err
	}
	if record.State != models.StatePurging {
		return PurgeFilesResult{}, fault.New(fault.Invalid, "Table %s is %s: its files are not deleted.", t.TableName, record.State)
	}
	p := purge{
		record: record, kept: maintenance.FileSet{},
		table: maintenance.Table{Location: record.Location, MetadataLocation: record.MetadataLocation},
	}
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &p.from); err != nil {
			return PurgeFilesResult{}, err
		}
	}
	var progress atomic.Pointer[maintenance.Progress]
	progress.Store(&p.from)
	p.beat = func(now maintenance.Progress) {
		progress.Store(&now)
		activity.RecordHeartbeat(ctx, now)
	}
	alive := func() { activity.RecordHeartbeat(ctx, *progress.Load()) }
	var unreadable int
	if p.sharers, unreadable, err = a.spare(ctx, record, p.kept, alive); err != nil {
		return PurgeFilesResult{}, err
	}
	done, err := part(p)
	return PurgeFilesResult{Files: done.Files, Bytes: done.Bytes, Skipped: done.Skipped, Unreadable: unreadable}, err
}

// spare adds to kept what other tables refer to, and counts their files that could not be read.
func (a *Activities) spare(ctx context.Context, record models.DroppedTable, kept maintenance.FileSet, alive func()) (sharers Sharers, unreadable int, err error) {
	if sharers, err = a.ports.Purges.Sharers(ctx, record.ID); err != nil {
		return sharers, 0, err
	}
	for _, s := range sharers.Tables {
		other := maintenance.Table{Location: s.Location, MetadataLocation: s.MetadataLocation}
		n, err := a.ports.Purger.References(ctx, other, record.Location, kept, alive)
		unreadable += n
		if err != nil {
			return sharers, unreadable, err
		}
	}
	return sharers, unreadable, nil
}
