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
	Files   int64 `json:"files,omitempty"`
	Bytes   int64 `json:"bytes,omitempty"`
	Skipped bool  `json:"skipped,omitempty"` // nothing was deleted: the files may be needed elsewhere
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
	if p.sharers, err = a.ports.Purges.Sharers(ctx, t.DropID); err != nil {
		return PurgeFilesResult{}, err
	}
	for _, s := range p.sharers.Tables {
		other := maintenance.Table{Location: s.Location, MetadataLocation: s.MetadataLocation}
		if err := a.ports.Purger.References(ctx, other, record.Location, p.kept, alive); err != nil {
			return PurgeFilesResult{}, err
		}
	}
	done, err := part(p)
	return PurgeFilesResult{Files: done.Files, Bytes: done.Bytes, Skipped: done.Skipped}, err
}
