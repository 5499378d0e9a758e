package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// FindingStore resolves findings. Absent ones are fault.NotFound.
type FindingStore interface {
	Finding(ctx context.Context, id string) (models.Finding, error)
	// ResolveFinding closes a finding with its event, and makes what it is about what is right from now on. The event says
	// who did it; the rest of it is the finding's. One that is resolved stays as it is.
	ResolveFinding(ctx context.Context, id, note string, event models.AuditEvent) (models.Finding, error)
	// NoteFinding opens a finding with its event, or refreshes the one that is open.
	NoteFinding(ctx context.Context, f models.Finding) error
}

// Findings gives findings, newest first: of one table, or with ref "" of all tables of the catalogs the caller manages. It
// is for whoever may see the ledger.
func (s *Service) Findings(ctx context.Context, caller policy.Caller, ref string, f models.FindingFilter) ([]models.Finding, error) {
	if err := s.scope(ctx, caller, policy.ListCommits, policy.ListAllCommits, ref, &f.CatalogID, &f.TableID); err != nil {
		return nil, err
	}
	return s.reports.Findings(ctx, f)
}

// ResolveFinding says that somebody has looked at a finding and that things are right as they are: a changed file is
// held against what it is now from then on, a missing one is watched no more. It needs CATALOG_MANAGE_ACCESS on the table, or
// on its catalog when it is gone.
func (s *Service) ResolveFinding(ctx context.Context, caller policy.Caller, id, note string) (models.Finding, error) {
	if err := refuseGoverning(caller, "resolve a finding"); err != nil {
		return models.Finding{}, err
	}
	finding, err := s.store.Finding(ctx, id)
	if err != nil {
		return models.Finding{}, err
	}
	about := aboutTable{catalogID: finding.CatalogID, tableID: finding.TableID, name: finding.Catalog + "." + finding.Table, what: "finding"}
	absent := fault.New(fault.NotFound, "There is no finding with the id %q.", id)
	if err := s.admit(ctx, caller, policy.ResolveFinding, about, absent); err != nil {
		return models.Finding{}, err
	}
	return s.store.ResolveFinding(ctx, id, note, s.event(caller, models.AuditFindingResolved, models.Catalog{Name: finding.Catalog}, nil))
}

// aboutTable is something that has an id of its own and belongs to a table.
type aboutTable struct{ catalogID, tableID, name, what string }

// admit requires what an operation on such a thing takes on its table, or on its catalog when that is gone. To a caller who
// may neither see the table nor do that, the thing is absent.
func (s *Service) admit(ctx context.Context, caller policy.Caller, op policy.Operation, about aboutTable, absent *fault.Error) error {
	if caller.CatalogID != "" && caller.CatalogID != about.catalogID {
		return fault.Conceal(absent.Subject, "The token does not open the catalog of the "+about.what+".", "%s", absent.Message)
	}
	path, err := s.pathOfTable(ctx, about.catalogID, about.tableID)
	if err != nil {
		return err
	}
	table := "table " + about.name
	if !caller.May(policy.TableExists, path) && !caller.Reaches(op, path) {
		return concealed(absent, caller, policy.TableExists, table)
	}
	return caller.Require(op, policy.Object, path, table)
}

// pathOfTable is where a table is, or its catalog when it is gone.
func (s *Service) pathOfTable(ctx context.Context, catalogID, tableID string) (policy.Path, error) {
	state, err := s.reports.TableState(ctx, tableID)
	if fault.Is(err, fault.NotFound) {
		return policy.Path{CatalogID: catalogID}, nil
	}
	if err != nil {
		return policy.Path{}, err
	}
	path, err := s.pathOf(ctx, state)
	path.TableID = tableID
	return path, err
}
