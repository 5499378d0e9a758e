package api_test

import (
	"context"

	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/models"
)

// asked is what the newer use cases were asked last.
type asked struct {
	scan    scan.Request
	token   string
	report  core.ReportInput
	sign    core.SignInput
	signFor *models.TableIdent
	reports models.MetricsReportFilter
	keys    []core.StorageCredential
}

func (u *useCases) ReadTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (core.TableView, error) {
	return u.LoadTable(ctx, caller, cat, ident)
}

func (u *useCases) Plan(_ context.Context, _ *metadata.Document, req scan.Request) (scan.Plan, error) {
	u.asked.scan = req
	file := scan.ContentFile{Content: "data", FilePath: "s3://b/t/1.parquet", FileFormat: "parquet"}
	return scan.Plan{ID: "p1", Page: scan.Page{Tasks: []scan.Task{{DataFile: file}}, PlanTasks: []string{"t1"}}}, u.fail
}

func (u *useCases) Poll(ctx context.Context, doc *metadata.Document, id string) (scan.Plan, error) {
	if u.asked.token = id; id != "p1" {
		return scan.Plan{}, fault.About(fault.NotFound, fault.Plan, "Plan does not exist.")
	}
	return u.Plan(ctx, doc, scan.Request{})
}

func (u *useCases) Cancel(ctx context.Context, doc *metadata.Document, id string) error {
	_, err := u.Poll(ctx, doc, id)
	return err
}

func (u *useCases) Tasks(_ context.Context, _ *metadata.Document, token string) (scan.Page, error) {
	if u.asked.token = token; token != "t1" {
		return scan.Page{}, fault.About(fault.NotFound, fault.PlanTask, "Plan task does not exist.")
	}
	return scan.Page{}, u.fail
}

func (u *useCases) ReportMetrics(_ context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent, in core.ReportInput) error {
	u.ident, u.asked.report = ident, in
	return u.fail
}

func (u *useCases) MetricsReports(_ context.Context, _ policy.Caller, ref string, f models.MetricsReportFilter) ([]models.MetricsReport, error) {
	u.ref, u.asked.reports = ref, f
	var out []models.MetricsReport
	for i := range min(u.rows, f.Limit) {
		out = append(out, models.MetricsReport{ID: int64(100 - i), Type: models.ScanReport, TableName: "db.t", Report: `{"report-type":"scan-report"}`})
	}
	return out, u.fail
}

func (u *useCases) TableCredentials(_ context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent) ([]core.StorageCredential, error) {
	u.ident = ident
	return u.asked.keys, u.fail
}

func (u *useCases) SignRequest(_ context.Context, _ policy.Caller, _ models.Catalog, ident *models.TableIdent, in core.SignInput) (core.SignedRequest, error) {
	u.asked.signFor, u.asked.sign = ident, in
	return core.SignedRequest{URI: in.URI + "?signed", Headers: in.Headers}, u.fail
}
