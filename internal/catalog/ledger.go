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
	if err := s.scope(ctx, caller, policy.ListCommits, policy.ListAllCommits, ref, &f.CatalogID, &f.TableID); err != nil {
		return nil, err
	}
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
		name, err := s.catalogName(ctx, row.CatalogID, names)
		if err != nil {
			return nil, err
		}
		views[i] = CommitView{Commit: row, CatalogName: name}
	}
	return views, nil
}

// catalogName gives the name of a catalog, "" when it is gone; known is those that were asked for before.
func (s *Service) catalogName(ctx context.Context, id string, known map[string]string) (string, error) {
	if name, ok := known[id]; ok {
		return name, nil
	}
	cat, err := s.store.CatalogByID(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	known[id] = cat.Name
	return cat.Name, nil
}
