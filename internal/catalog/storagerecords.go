package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// StorageRecords tells who reaches the files of one table and how, or with ref "" of all tables of the catalogs the caller
// manages. It is for whoever may see the ledger.
func (s *Service) StorageRecords(ctx context.Context, caller policy.Caller, ref string, f models.StorageRecordFilter) ([]models.NamedStorageRecord, error) {
	if ref == "" {
		if err := s.everywhere(caller, policy.ListCommits, policy.ListAllCommits, &f.CatalogID); err != nil {
			return nil, err
		}
		return s.reports.StorageRecords(ctx, f)
	}
	at, row, err := s.byRef(ctx, caller, policy.ListCommits, ref)
	if err != nil {
		return nil, err
	}
	if err := caller.Require(policy.ListCommits, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return nil, err
	}
	f.TableID = row.ID
	return s.reports.StorageRecords(ctx, f)
}
