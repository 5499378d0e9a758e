package audit

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the sealer's measurements.
type metrics struct {
	unsealed   prometheus.Gauge
	seq        prometheus.Gauge
	checkpoint prometheus.Gauge
	failures   prometheus.Counter
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		unsealed: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sluice_audit_unsealed_events", Help: "Audit events that have no place in the chain yet.",
		}),
		seq: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sluice_audit_last_seq", Help: "Place of the last sealed audit event.",
		}),
		checkpoint: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sluice_audit_checkpoint_timestamp_seconds", Help: "When the newest checkpoint of the audit was signed, as Unix time; 0 for never.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_audit_seal_failures_total", Help: "Failed rounds of the sealer of the audit.",
		}),
	}
	if r == nil {
		return m, nil
	}
	return m, errors.Join(r.Register(m.unsealed), r.Register(m.seq), r.Register(m.checkpoint), r.Register(m.failures))
}

func (m *metrics) signedAt(at time.Time) {
	if !at.IsZero() {
		m.checkpoint.Set(float64(at.Unix()))
	}
}
