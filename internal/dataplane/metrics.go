package dataplane

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/internal/fault"
)

// metrics counts governed reads and writes. Without a registerer it counts for nobody.
type metrics struct {
	requests *prometheus.CounterVec // by kind and outcome
	rows     *prometheus.CounterVec // by kind
	bytes    *prometheus.CounterVec // by kind
	running  *prometheus.GaugeVec   // by kind
}

// Kinds of what is counted.
const (
	kindQuery   = "query"
	kindPreview = "preview"
	kindProfile = "profile"
	kindWrite   = "write"
)

func newMetrics(reg prometheus.Registerer, log *slog.Logger) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_data_requests_total", Help: "Governed reads and writes that ended, by kind and by the code of their error (ok: none).",
		}, []string{"kind", "outcome"}),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_data_rows_total", Help: "Rows that governed reads answered with and governed writes landed.",
		}, []string{"kind"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_data_bytes_total", Help: "Bytes that governed reads answered with and governed writes were sent.",
		}, []string{"kind"}),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sluice_data_running", Help: "Governed reads and writes under way.",
		}, []string{"kind"}),
	}
	if reg == nil {
		return m
	}
	for _, c := range []prometheus.Collector{m.requests, m.rows, m.bytes, m.running} {
		if err := reg.Register(c); err != nil {
			log.Error("metrics of the data plane are not exposed", "error", err.Error())
		}
	}
	return m
}

// showMemory exposes how much reads and writes hold, each of which has a part of the memory.
func showMemory(reg prometheus.Registerer, log *slog.Logger, of string, held func() int64) {
	if reg == nil {
		return
	}
	err := reg.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sluice_data_memory_bytes", Help: "Memory that governed reads and writes hold.", ConstLabels: prometheus.Labels{"of": of},
	}, func() float64 { return float64(held()) }))
	if err != nil {
		log.Error("metrics of the data plane are not exposed", "error", err.Error())
	}
}

// start counts one that begins; the function that it gives counts its end.
func (m *metrics) start(kind string) (end func(rows, bytes int64, err error)) {
	m.running.WithLabelValues(kind).Inc()
	return func(rows, bytes int64, err error) {
		m.running.WithLabelValues(kind).Dec()
		outcome := "ok"
		if err != nil {
			outcome = string(fault.CodeOf(err))
		}
		m.requests.WithLabelValues(kind, outcome).Inc()
		m.rows.WithLabelValues(kind).Add(float64(rows))
		m.bytes.WithLabelValues(kind).Add(float64(bytes))
	}
}
