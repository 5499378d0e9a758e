package activities

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/maintenance"
)

// leftoverAge is how old a file must be that no metadata names: a younger one may belong to a writer that does not know
// yet that its table is gone.
const leftoverAge = 24 * time.Hour

// PurgeLeftovers deletes what else lies in a purging table's folder. It does so only where the folder was the table's
// alone from the beginning: not of a table that was registered or moved, whose folder may hold what Sluice never
// knew of, nor where anything else lies above, at or below it. It is idempotent: it lists what is there.
func (a *Activities) PurgeLeftovers(ctx context.Context, in PurgeFilesInput) (PurgeFilesResult, error) {
	out, err := a.purging(ctx, in.Target, func(p purge) (maintenance.Progress, error) {
		if p.record.ForeignFiles || p.sharers.Overlapped {
			return maintenance.Progress{Skipped: true}, nil
		}
		before := a.ports.Now().Add(-leftoverAge)
		return a.ports.Purger.DeleteLeftovers(ctx, p.table, p.kept, before, p.from, p.beat)
	})
	return out, toTemporal(ctx, err)
}
