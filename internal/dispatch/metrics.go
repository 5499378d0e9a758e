package dispatch

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the dispatcher's measurements.
type metrics struct {
	backlog  prometheus.Gauge
	oldest   prometheus.Gauge
	started  *prometheus.CounterVec
	commits  prometheus.Counter
	failures *prometheus.CounterVec
	lapsed   prometheus.Counter
}

// The values of the label "kind" of started workflows and "part" of failures.
const (
	kindCommit, kindBatch     = "commit", "batch"
	partOutbox, partTemporal  = "outbox", "temporal"
	partEvent                 = "event"
	oldestHelp, oldestMetric  = "Age of the oldest commit that waits for its workflow, in seconds.", "sluice_outbox_oldest_seconds"
	backlogHelp, backlogGauge = "Commits that wait for their workflow to be started.", "sluice_outbox_events"
)

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		backlog: prometheus.NewGauge(prometheus.GaugeOpts{Name: backlogGauge, Help: backlogHelp}),
		oldest:  prometheus.NewGauge(prometheus.GaugeOpts{Name: oldestMetric, Help: oldestHelp}),
		started: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_dispatch_started_total", Help: "Workflows started from the outbox, by kind (commit, batch).",
		}, []string{"kind"}),
		commits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_dispatch_commits_total", Help: "Commits handed to workflows, alone or in batches.",
		}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_dispatch_failures_total", Help: "Failed rounds of the dispatcher, by the part that failed (outbox, temporal, event).",
		}, []string{"part"}),
		lapsed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_dispatch_claims_lapsed_total", Help: "Claimed commits that were left to other dispatchers because the claim was about to end.",
		}),
	}
	// A series that starts with its first failure has no increase that an alert could see.
	for _, kind := range []string{kindCommit, kindBatch} {
		m.started.WithLabelValues(kind)
	}
	for _, part := range []string{partOutbox, partTemporal, partEvent} {
		m.failures.WithLabelValues(part)
	}
	if r == nil {
		return m, nil
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.backlog, m.oldest, m.started, m.commits, m.failures, m.lapsed} {
		errs = append(errs, r.Register(c))
	}
	return m, errors.Join(errs...)
}

func (m *metrics) measured(n int64, oldest, now time.Time) {
	m.backlog.Set(float64(n))
	age := time.Duration(0)
	if n > 0 && !oldest.IsZero() {
		age = max(0, now.Sub(oldest))
	}
	m.oldest.Set(age.Seconds())
}
