package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

func TestWritersMetricTellsWhoIsLate(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	last := now.Add(-10 * time.Minute)
	found := []models.NamedWriter{
		{CatalogName: "main", TableWriter: models.TableWriter{ID: "w1", Table: "sales.orders", Kind: models.BatchWriter, Every: 300_000, LastCommitAt: &last, State: models.WriterActive}},
		{CatalogName: "main", TableWriter: models.TableWriter{ID: "w2", Table: "sales.orders", Kind: models.BatchWriter, LastCommitAt: &last, State: models.WriterActive}},
		{CatalogName: "main", TableWriter: models.TableWriter{ID: "w3", Table: "sales.orders", Kind: models.ExpectedWriter, Every: 3_600_000, CreatedAt: now.Add(-time.Minute), State: models.WriterActive}},
	}
	var asked []models.WriterFilter
	var fail error
	m := newWritersMetric(func(_ context.Context, f models.WriterFilter) ([]models.NamedWriter, error) {
		asked = append(asked, f)
		return found, fail
	}, writers.Limits{Factor: 5, Floor: time.Minute}, func() time.Time { return now })
	const want = `
# HELP sluice_writer_due_seconds Seconds until a writer whose cadence is known or declared owes a commit; negative where it is late.
# TYPE sluice_writer_due_seconds gauge
sluice_writer_due_seconds{catalog="main",kind="batch",table="sales.orders",writer="w1"} -270
sluice_writer_due_seconds{catalog="main",kind="expected",table="sales.orders",writer="w3"} 3900
# HELP sluice_writer_seconds_since_last_commit Seconds since an active writer committed, or since it was declared where it never did.
# TYPE sluice_writer_seconds_since_last_commit gauge
sluice_writer_seconds_since_last_commit{catalog="main",kind="batch",table="sales.orders",writer="w1"} 600
sluice_writer_seconds_since_last_commit{catalog="main",kind="batch",table="sales.orders",writer="w2"} 600
sluice_writer_seconds_since_last_commit{catalog="main",kind="expected",table="sales.orders",writer="w3"} 60
`
	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(want)))
	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(want)))
	require.Equal(t, []models.WriterFilter{{State: models.WriterActive, Limit: 1000, PacedFirst: true}}, asked, "the page of metrics does not ask the database each time")

	now, fail = now.Add(time.Minute), errors.New("the database is away")
	require.Zero(t, testutil.CollectAndCount(m))
}
