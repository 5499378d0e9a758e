package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func (f *fixture) report(t *testing.T, row models.Table, kind models.MetricsReportType, at time.Time, keep int) {
	t.Helper()
	require.NoError(t, f.s.AddMetricsReport(t.Context(), models.MetricsReport{
		CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, TableName: "sales." + row.Name, Type: kind, SnapshotID: ptr(int64(7)),
		Principal: "ada", Client: "spark\x00\xff", ReportedAt: at, Report: fmt.Sprintf(`{"at":%d}`, at.UnixMicro()),
	}, keep, f.started.Add(-time.Hour)))
}

func (f *fixture) reports(t *testing.T, filter models.MetricsReportFilter) []models.MetricsReport {
	t.Helper()
	rows, err := f.s.MetricsReports(t.Context(), filter)
	require.NoError(t, err)
	return rows
}

func metricsCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"reports are given newest first, by what was asked": func(t *testing.T, f *fixture) {
			orders, other := f.newTable("orders"), f.newTable("other")
			f.report(t, orders, models.ScanReport, f.started, 10)
			f.report(t, other, models.ScanReport, f.started, 10)
			f.report(t, orders, models.CommitReport, f.started, 10)

			all := f.reports(t, models.MetricsReportFilter{})
			require.Len(t, all, 3)
			assert.Equal(t, models.CommitReport, all[0].Type)
			assert.Equal(t, f.started, all[0].ReportedAt.UTC())
			assert.EqualValues(t, 7, *all[0].SnapshotID)
			assert.Len(t, f.reports(t, models.MetricsReportFilter{TableID: orders.ID}), 2)
			assert.Len(t, f.reports(t, models.MetricsReportFilter{Type: models.ScanReport, CatalogID: f.cat.ID}), 2)
			assert.Empty(t, f.reports(t, models.MetricsReportFilter{CatalogID: "another"}))
			next := f.reports(t, models.MetricsReportFilter{Before: all[0].ID, Limit: 1})
			require.Len(t, next, 1)
			assert.Equal(t, all[1].ID, next[0].ID)
		},
		"only the newest of each table are kept, and none for ever": func(t *testing.T, f *fixture) {
			orders, other := f.newTable("orders"), f.newTable("other")
			f.report(t, other, models.ScanReport, f.started.Add(-2*time.Hour), 3)
			assert.Empty(t, f.reports(t, models.MetricsReportFilter{}), "it is too old")
			f.report(t, other, models.ScanReport, f.started, 3)
			for i := range 5 {
				f.report(t, orders, models.ScanReport, f.started.Add(time.Duration(i)*time.Second), 3)
			}
			kept := f.reports(t, models.MetricsReportFilter{TableID: orders.ID})
			require.Len(t, kept, 3)
			assert.Equal(t, f.started.Add(2*time.Second), kept[2].ReportedAt.UTC())
			assert.Len(t, f.reports(t, models.MetricsReportFilter{TableID: other.ID}), 1)
		},
	}
}
