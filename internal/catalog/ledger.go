package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// CommitView is a ledger row with the name of its catalog, "" when that is gone.
type CommitView struct {
	models.Commit
	CatalogName string
}

// Commits gives the ledger, newest first: of one table, or with ref "" of all tables of the catalogs the caller manages.
func (s *Service) Commits(ctx context.Context, caller policy.Caller, ref string, f models.CommitFilter) ([]CommitView, error) {
	if ref == "" {
		if err := s.everywhere(caller, models.TableReadProperties, &f.CatalogID); err != nil {
			return nil, err
		}
		return s.viewCommits(ctx, f)
	}
	at, row, err := s.byRef(ctx, caller, ref)
	if err != nil {
		return nil, err
	}
	if err := require(caller, models.TableReadProperties, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return nil, err
	}
	f.TableID = row.ID
	return s.viewCommits(ctx, f)
}

func (s *Service) viewCommits(ctx context.Context, f models.CommitFilter) ([]CommitView, error) {
	rows, err := s.reports.Commits(ctx, f)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	views := make([]CommitView, len(rows))
	for i, row := range rows {
		name, known := names[row.CatalogID]
		if !known {
			cat, err := s.store.CatalogByID(ctx, row.CatalogID)
			if err != nil && !fault.Is(err, fault.NotFound) {
				return nil, err
			}
			name = cat.Name
			names[row.CatalogID] = name
		}
		views[i] = CommitView{Commit: row, CatalogName: name}
	}
	return views, nil
}
