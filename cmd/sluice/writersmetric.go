package main

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// mostWriterSeries is how many writers the metrics tell of: of more, those whose cadence is known and that committed most.
const mostWriterSeries = 1000

// writersMetric tells how long ago active writers committed, and when they are due, when the metrics are read. It gives
// nothing while the database does not answer.
type writersMetric struct {
	list   func(context.Context, models.WriterFilter) ([]models.NamedWriter, error)
	limits writers.Limits
	now    func() time.Time

	since, due *prometheus.Desc

	mu   sync.Mutex
	at   time.Time
	last []models.NamedWriter
}

func newWritersMetric(
	list func(context.Context, models.WriterFilter) ([]models.NamedWriter, error), limits writers.Limits, now func() time.Time,
) *writersMetric {
	labels := []string{"catalog", "table", "writer", "kind"}
	return &writersMetric{
		list: list, limits: limits, now: now,
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
	for _, w := range m.listed() {
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

func (m *writersMetric) listed() []models.NamedWriter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.at.IsZero() && m.now().Sub(m.at) < countedEvery {
		return m.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	found, err := m.list(ctx, models.WriterFilter{State: models.WriterActive, Limit: mostWriterSeries, PacedFirst: true})
	if err != nil {
		found = nil
	}
	m.at, m.last = m.now(), found
	return found
}
