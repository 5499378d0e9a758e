package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// StorageRecords tells who reaches the files of one table and how, or with ref "" of all tables of the catalogs the caller
// manages. It is for whoever may see the ledger.
func (s *Service) StorageRecords(ctx context.Context, caller policy.Caller, ref string, f models.StorageRecordFilter) ([]models.NamedStorageRecord, error) {
	if err := s.scope(ctx, caller, policy.ListCommits, policy.ListAllCommits, ref, &f.CatalogID, &f.TableID); err != nil {
		return nil, err
	}
	return s.reports.StorageRecords(ctx, f)
}
