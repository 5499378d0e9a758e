package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/internal/telemetry"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// mostWriterSeries is how many writers the metrics tell of: of more, those whose cadence is known and that committed most.
const mostWriterSeries = 1000

// writersMetric tells how long ago active writers committed, and when they are due, when the metrics are read. It gives
// nothing while the database does not answer.
type writersMetric struct {
	active *telemetry.Sampled[[]models.NamedWriter]
	limits writers.Limits
	now    func() time.Time

	since, due *prometheus.Desc
}

func newWritersMetric(
	list func(context.Context, models.WriterFilter) ([]models.NamedWriter, error), limits writers.Limits, now func() time.Time,
) *writersMetric {
	labels := []string{"catalog", "table", "writer", "kind"}
	active := func(ctx context.Context) ([]models.NamedWriter, error) {
		return list(ctx, models.WriterFilter{State: models.WriterActive, Limit: mostWriterSeries, PacedFirst: true})
	}
	return &writersMetric{
		active: telemetry.NewSampled(active, now), limits: limits, now: now,
		since: prometheus.NewDesc("sluice_writer_seconds_since_last_commit",
			"Seconds since an active writer committed, or since it was declared where it never did.", labels, nil),
		due: prometheus.NewDesc("sluice_writer_due_seconds",
			"Seconds until a writer whose cadence is known or declared owes a commit; negative where it is late.", labels, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *writersMetric) Describe(out chan<- *prometheus.Desc) {
	out <- m.since
	out <- m.due
}

// Collect implements prometheus.Collector.
func (m *writersMetric) Collect(out chan<- prometheus.Metric) {
	now := m.now()
	for _, w := range m.active.Value() {
		labels := []string{w.CatalogName, w.Table, w.ID, string(w.Kind)}
		last := w.CreatedAt
		if w.LastCommitAt != nil {
			last = *w.LastCommitAt
		}
		out <- prometheus.MustNewConstMetric(m.since, prometheus.GaugeValue, now.Sub(last).Seconds(), labels...)
		if due, owes := writers.Due(w.TableWriter, m.limits); owes {
			out <- prometheus.MustNewConstMetric(m.due, prometheus.GaugeValue, due.Sub(now).Seconds(), labels...)
		}
	}
}
