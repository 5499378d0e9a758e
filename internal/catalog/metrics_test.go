package catalog_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/models"
)

func report(kind models.MetricsReportType, filter string) catalog.ReportInput {
	return catalog.ReportInput{Type: kind, Members: map[string]json.RawMessage{
		"report-type": json.RawMessage(`"` + string(kind) + `"`), "filter": json.RawMessage(filter),
	}}
}

func TestReportsNeedTheRightToWhatTheyAreOn(t *testing.T) {
	h := newHarness(t)
	h.create(t, "t", models.OpenAppend)
	reader, writer, neither := h.with(models.TableReadData), h.with(models.TableWriteData), h.with(models.TableList)
	for _, c := range []struct {
		caller policy.Caller
		kind   models.MetricsReportType
		code   fault.Code
	}{
		{reader, models.ScanReport, ""}, {reader, models.CommitReport, fault.Forbidden}, {reader, "compaction-report", ""},
		{writer, models.CommitReport, ""}, {neither, models.ScanReport, fault.Forbidden}, {h.with(), models.ScanReport, fault.NotFound},
	} {
		wantCode(t, h.ReportMetrics(context.Background(), c.caller, h.cat, ident("t"), report(c.kind, "true")), c.code)
	}
	rows, err := h.MetricsReports(context.Background(), h.root, "main.db.t", models.MetricsReportFilter{})
	must(t, err)
	if len(rows) != 3 || rows[0].TableName != "db.t" || rows[0].Principal != "job" {
		t.Fatalf("the reports are %+v", rows)
	}
	_, err = h.MetricsReports(context.Background(), neither, "main.db.t", models.MetricsReportFilter{})
	wantCode(t, err, fault.Forbidden)
	_, err = h.MetricsReports(context.Background(), neither, "", models.MetricsReportFilter{})
	wantCode(t, err, fault.Forbidden)
	rows, err = h.MetricsReports(context.Background(), h.root, "", models.MetricsReportFilter{Type: models.CommitReport})
	must(t, err)
	if len(rows) != 1 {
		t.Fatalf("there are %d commit reports", len(rows))
	}
}

func TestALongReportLosesItsFilter(t *testing.T) {
	h := newHarness(t)
	h.create(t, "t", models.OpenAppend)
	ctx, long := context.Background(), `"`+strings.Repeat("x", 100<<10)+`"`
	must(t, h.ReportMetrics(ctx, h.root, h.cat, ident("t"), report(models.ScanReport, long)))
	rows, err := h.MetricsReports(ctx, h.root, "main.db.t", models.MetricsReportFilter{})
	must(t, err)
	if rows[0].Report != `{"report-type":"scan-report"}` {
		t.Fatalf("kept is %s", rows[0].Report)
	}
	huge := report(models.ScanReport, "true")
	huge.Members["metrics"] = json.RawMessage(long)
	wantCode(t, h.ReportMetrics(ctx, h.root, h.cat, ident("t"), huge), fault.TooLarge)
}

func TestPlanningNeedsTheRightToReadData(t *testing.T) {
	h := newHarness(t)
	h.create(t, "t", models.OpenFull)
	c := h.append(t, "t", 3)
	_, err := h.commit(h.root, "t", c)
	must(t, err)
	ctx := context.Background()
	_, err = h.ReadTable(ctx, h.with(models.TableReadProperties), h.cat, ident("t"))
	wantCode(t, err, fault.Forbidden)
	_, err = h.ReadTable(ctx, h.with(models.TableWriteData), h.cat, ident("t"))
	wantCode(t, err, "") // who writes data may read it
	_, err = h.ReadTable(ctx, h.with(models.TableReadData), h.cat, ident("other"))
	wantCode(t, err, fault.NotFound)

	view, err := h.ReadTable(ctx, h.with(models.TableReadData), h.cat, ident("t"))
	must(t, err)
	plan, err := scan.New(h.objects).Plan(ctx, view.Document, scan.Request{})
	must(t, err)
	if len(plan.Tasks) != 1 || plan.Tasks[0].DataFile.FilePath != c.DataFiles[0] {
		t.Fatalf("the plan is %+v", plan.Tasks)
	}
}

func TestStorageKeysAreForWhoMayReachTheData(t *testing.T) {
	h := newHarness(t)
	h.create(t, "t", models.OpenAppend)
	ctx, in := context.Background(), catalog.SignInput{Method: "GET", URI: "https://s3/b/t"}
	for _, p := range []models.Privilege{models.TableReadData, models.TableWriteData} {
		keys, err := h.TableCredentials(ctx, h.with(p), h.cat, ident("t"), catalog.StorageRoutes{})
		must(t, err)
		if len(keys) != 0 {
			t.Fatalf("a local warehouse has the keys %v", keys)
		}
		_, err = h.SignRequest(ctx, h.with(p), h.cat, ident("t"), in)
		wantCode(t, err, fault.Unsupported)
	}
	_, err := h.TableCredentials(ctx, h.with(models.TableReadProperties), h.cat, ident("t"), catalog.StorageRoutes{})
	wantCode(t, err, fault.Forbidden)
	_, err = h.TableCredentials(ctx, h.root, h.cat, ident("other"), catalog.StorageRoutes{})
	wantCode(t, err, fault.NotFound)
	_, err = h.SignRequest(ctx, h.root, h.cat, ident("other"), in)
	wantCode(t, err, fault.NotFound)
	_, err = h.SignAnywhere(ctx, h.root, "main", in)
	wantCode(t, err, fault.Unsupported)
}
