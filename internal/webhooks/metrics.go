package webhooks

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/internal/telemetry"
	"github.com/sluice-data/sluice/models"
)

// The values of the label result.
const (
	resultDelivered = "delivered"
	resultFailed    = "failed" // to be tried again
	resultDead      = "dead"
)

func newResults() *prometheus.CounterVec {
	results := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sluice_webhook_attempts_total", Help: "Attempts to deliver events to webhooks, by result (delivered, failed, dead).",
	}, []string{"result"})
	// A series that starts with its first failure has no increase that an alert could see.
	for _, result := range []string{resultDelivered, resultFailed, resultDead} {
		results.WithLabelValues(result)
	}
	return results
}

// Backlogs measures what webhooks have not got, when the metrics are read. It gives nothing while the database does not
// answer.
type Backlogs struct {
	backlogs              *telemetry.Sampled[[]models.WebhookBacklog]
	now                   func() time.Time
	pending, dead, oldest *prometheus.Desc
}

// NewBacklogs makes the collector. count is WebhookBacklogs of a Store.
func NewBacklogs(count func(context.Context) ([]models.WebhookBacklog, error), now func() time.Time) *Backlogs {
	of := []string{"webhook"}
	return &Backlogs{
		backlogs: telemetry.NewSampled(count, now), now: now,
		pending: prometheus.NewDesc("sluice_webhook_deliveries_pending", "Deliveries that a webhook has not got yet.", of, nil),
		dead:    prometheus.NewDesc("sluice_webhook_deliveries_dead", "Deliveries that were given up and can be replayed.", of, nil),
		oldest:  prometheus.NewDesc("sluice_webhook_oldest_pending_seconds", "Age of the oldest delivery that a webhook has not got yet.", of, nil),
	}
}

// Describe implements prometheus.Collector.
func (b *Backlogs) Describe(out chan<- *prometheus.Desc) {
	out <- b.pending
	out <- b.dead
	out <- b.oldest
}

// Collect implements prometheus.Collector.
func (b *Backlogs) Collect(out chan<- prometheus.Metric) {
	now := b.now()
	for _, one := range b.backlogs.Value() {
		age := time.Duration(0)
		if one.OldestPending != nil {
			age = max(0, now.Sub(*one.OldestPending))
		}
		out <- prometheus.MustNewConstMetric(b.pending, prometheus.GaugeValue, float64(one.Pending), one.Webhook)
		out <- prometheus.MustNewConstMetric(b.dead, prometheus.GaugeValue, float64(one.Dead), one.Webhook)
		out <- prometheus.MustNewConstMetric(b.oldest, prometheus.GaugeValue, age.Seconds(), one.Webhook)
	}
}
