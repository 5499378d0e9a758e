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
	able    bool // the store lets engines in
	ways    []core.Delegation
	routes  core.StorageRoutes
	signIn  string // the catalog, "" for any
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

// UseLoaded lets in who asks, in the way that it likes best.
func (u *useCases) UseLoaded(_ context.Context, caller policy.Caller, cat models.Catalog, view core.TableView, asked []core.Delegation) (core.StorageUse, error) {
	use := core.StorageUse{Caller: caller, Catalog: cat, Location: view.Row.Location}
	u.asked.ways = asked
	if len(asked) > 0 && u.asked.able {
		use.Choice.Mode = asked[0]
	}
	return use, u.fail
}

func (u *useCases) UseMade(ctx context.Context, caller policy.Caller, cat models.Catalog, view core.TableView, asked []core.Delegation) (core.StorageUse, error) {
	return u.UseLoaded(ctx, caller, cat, view, asked)
}

func (u *useCases) UsePlanned(ctx context.Context, caller policy.Caller, cat models.Catalog, view core.TableView, asked []core.Delegation) (core.StorageUse, error) {
	return u.UseLoaded(ctx, caller, cat, view, asked)
}

func (u *useCases) OpenStorage(_ context.Context, use core.StorageUse, at core.StorageRoutes) (core.StorageOpening, error) {
	u.asked.routes = at
	open := core.StorageOpening{Mode: use.Choice.Mode, Config: map[string]string{"way": string(use.Choice.Mode)}}
	if open.Mode == core.Vending {
		open.Credentials = []core.StorageCredential{{Prefix: "s3://b/t", Config: open.Config}}
	}
	return open, u.fail
}

func (u *useCases) TableCredentials(_ context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent, at core.StorageRoutes) ([]core.StorageCredential, error) {
	u.ident, u.asked.routes = ident, at
	return u.asked.keys, u.fail
}

func (u *useCases) SignRequest(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, in core.SignInput) (core.SignedRequest, error) {
	signed, err := u.SignAnywhere(ctx, caller, cat.Name, in)
	u.asked.signFor = &ident
	return signed, err
}

func (u *useCases) SignAnywhere(_ context.Context, _ policy.Caller, catalog string, in core.SignInput) (core.SignedRequest, error) {
	u.asked.signFor, u.asked.signIn, u.asked.sign = nil, catalog, in
	return core.SignedRequest{URI: in.URI + "?signed", Headers: in.Headers, Cacheable: in.Method == "GET"}, u.fail
}

func (u *useCases) Signs(context.Context, models.Catalog) bool { return u.asked.able }
