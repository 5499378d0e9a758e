package activities

import (
	"context"

	"github.com/sluice-data/sluice/internal/maintenance"
)

// PurgeMetadataFiles deletes manifests, manifest lists, statistics and metadata files of a purging table that lie in its
// location and that no other table refers to. It is idempotent: what leads to a file is deleted after the file, so that
// a later attempt finds whatever is left.
func (a *Activities) PurgeMetadataFiles(ctx context.Context, in PurgeFilesInput) (PurgeFilesResult, error) {
	out, err := a.purging(ctx, in.Target, func(p purge) (maintenance.Progress, error) {
		return a.ports.Purger.DeleteMetadata(ctx, p.table, p.kept, p.from, p.beat)
	})
	return out, toTemporal(ctx, err)
}
