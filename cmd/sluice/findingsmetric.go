package main

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/models"
)

const (
	// countedEvery bounds how often the findings are counted: the page of metrics asks nobody who is calling.
	countedEvery = 10 * time.Second
	countTimeout = time.Second
)

// findingsMetric counts open findings when the metrics are read. It gives nothing while the database does not answer.
type findingsMetric struct {
	count func(context.Context) (map[models.FindingKind]int64, error)
	now   func() time.Time
	desc  *prometheus.Desc

	mu   sync.Mutex
	at   time.Time
	last map[models.FindingKind]int64
}

func newFindingsMetric(count func(context.Context) (map[models.FindingKind]int64, error), now func() time.Time) *findingsMetric {
	return &findingsMetric{
		count: count, now: now,
		desc: prometheus.NewDesc("sluice_findings_open", "Findings that nobody has resolved, by kind.", []string{"kind"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *findingsMetric) Describe(out chan<- *prometheus.Desc) { out <- m.desc }

// Collect implements prometheus.Collector.
func (m *findingsMetric) Collect(out chan<- prometheus.Metric) {
	counts := m.counted()
	if counts == nil {
		return
	}
	for _, kind := range models.FindingKinds() {
		out <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(counts[kind]), string(kind))
	}
}

func (m *findingsMetric) counted() map[models.FindingKind]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.at.IsZero() && m.now().Sub(m.at) < countedEvery {
		return m.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	counts, err := m.count(ctx)
	if err != nil {
		counts = nil
	}
	m.at, m.last = m.now(), counts
	return counts
}
