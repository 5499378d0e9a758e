package activities

import (
	"context"

	"github.com/sluice-data/sluice/internal/maintenance"
)

// PurgeDataFiles deletes the data and delete files of a purging table that lie in its location and that no other table
// refers to. It is idempotent: deleting what is gone is no error, and a later attempt goes on at the manifest that the
// last heartbeat reported.
func (a *Activities) PurgeDataFiles(ctx context.Context, in PurgeFilesInput) (PurgeFilesResult, error) {
	out, err := a.purging(ctx, in.Target, func(p purge) (maintenance.Progress, error) {
		return a.ports.Purger.DeleteData(ctx, p.table, p.kept, p.from, p.beat)
	})
	return out, toTemporal(ctx, err)
}
