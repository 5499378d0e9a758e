package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/internal/telemetry"
	"github.com/sluice-data/sluice/models"
)

// findingsMetric counts open findings when the metrics are read. It gives nothing while the database does not answer.
type findingsMetric struct {
	counts *telemetry.Sampled[map[models.FindingKind]int64]
	desc   *prometheus.Desc
}

func newFindingsMetric(count func(context.Context) (map[models.FindingKind]int64, error), now func() time.Time) *findingsMetric {
	return &findingsMetric{
		counts: telemetry.NewSampled(count, now),
		desc:   prometheus.NewDesc("sluice_findings_open", "Findings that nobody has resolved, by kind.", []string{"kind"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *findingsMetric) Describe(out chan<- *prometheus.Desc) { out <- m.desc }

// Collect implements prometheus.Collector.
func (m *findingsMetric) Collect(out chan<- prometheus.Metric) {
	counts := m.counts.Value()
	if counts == nil {
		return
	}
	for _, kind := range models.FindingKinds() {
		out <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(counts[kind]), string(kind))
	}
}
