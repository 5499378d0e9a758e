package catalog

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// What is kept of engines' reports: of each table so many, each so large, and none for longer.
const (
	keptReports    = 1000
	keptReportDays = 30
	mostReport     = 32 << 10 // bytes
)

// MetricsStore keeps what engines report of their scans and commits.
type MetricsStore interface {
	// AddMetricsReport adds a report and removes all but the newest keep of its table, and whatever is older than oldest.
	AddMetricsReport(ctx context.Context, r models.MetricsReport, keep int, oldest time.Time) error
	MetricsReports(ctx context.Context, f models.MetricsReportFilter) ([]models.MetricsReport, error)
}

// ReportInput is a report: its type, what it is of, and all members as they were sent.
type ReportInput struct {
	Type       models.MetricsReportType
	SnapshotID *int64
	Members    map[string]json.RawMessage
}

// ReportMetrics keeps an engine's report on a table. A report on commits is a writer's, any other a reader's. Reports are
// not trusted and decide nothing.
func (s *Service) ReportMetrics(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, in ReportInput) error {
	at, row, err := s.find(ctx, caller, cat, ident)
	if err != nil {
		return err
	}
	op := policy.ReportReadMetrics
	if in.Type == models.CommitReport {
		op = policy.ReportWriteMetrics
	}
	if err := caller.Require(op, policy.Object, at.tablePath(row.ID), "table "+ident.String()); err != nil {
		return err
	}
	text, err := reportText(in.Members)
	if err != nil {
		return err
	}
	now := s.now()
	return s.store.AddMetricsReport(ctx, models.MetricsReport{
		CatalogID: cat.ID, TableID: row.ID, TableUUID: row.UUID, TableName: at.name(row.Name), Type: in.Type, SnapshotID: in.SnapshotID,
		Principal: caller.Principal, Client: caller.Origin.Client, ReportedAt: now, Report: text,
	}, keptReports, now.AddDate(0, 0, -keptReportDays))
}

// reportText writes the report down, without its filter when it is too long with it: that is the one member that grows.
func reportText(members map[string]json.RawMessage) (string, error) {
	text, err := json.Marshal(members)
	if err != nil {
		return "", fault.Wrap(err, fault.Invalid, "The report is not valid JSON.")
	}
	if len(text) > mostReport && members["filter"] != nil {
		short := make(map[string]json.RawMessage, len(members))
		for name, value := range members {
			short[name] = value
		}
		delete(short, "filter")
		return reportText(short)
	}
	if len(text) > mostReport {
		return "", fault.New(fault.TooLarge, "The report is larger than the limit of %d bytes. Send fewer metrics.", mostReport)
	}
	return string(text), nil
}

// MetricsReports gives reports, newest first: of one table, or with ref "" of all tables of the catalogs the caller
// manages.
func (s *Service) MetricsReports(ctx context.Context, caller policy.Caller, ref string, f models.MetricsReportFilter) ([]models.MetricsReport, error) {
	if ref == "" {
		if err := s.everywhere(caller, policy.ListMetricsReports, policy.ListAllMetricsReports, &f.CatalogID); err != nil {
			return nil, err
		}
		return s.store.MetricsReports(ctx, f)
	}
	at, row, err := s.byRef(ctx, caller, policy.ListMetricsReports, ref)
	if err != nil {
		return nil, err
	}
	if err := caller.Require(policy.ListMetricsReports, policy.Object, at.tablePath(row.ID), "table "+at.name(row.Name)); err != nil {
		return nil, err
	}
	f.TableID = row.ID
	return s.store.MetricsReports(ctx, f)
}
