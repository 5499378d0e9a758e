package webhooks_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

func TestOldDeliveriesAreRemoved(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		to := d.receiver(http.StatusOK)
		bad := d.receiver(http.StatusGone)
		w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
		v := d.webhook(webhooks.Input{Name: ptr("b"), URL: &bad.URL, Types: ptr([]string{"token.minted"})})
		d.happen(1, models.AuditTokenMinted)
		d.round()
		count := func() [2]int { return [2]int{len(d.deliveries(w.ID, "")), len(d.deliveries(v.ID, ""))} }
		for _, step := range []struct {
			days int
			want [2]int
		}{{6, [2]int{1, 1}}, {2, [2]int{0, 1}}, {23, [2]int{0, 0}}} {
			d.turn(time.Duration(step.days) * 24 * time.Hour)
			require.NoError(t, d.courier.Prune(t.Context()))
			assert.Equal(t, step.want, count(), step.days)
		}
	})
}

func TestBacklogMetrics(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		gone := d.receiver(http.StatusGone)
		down := d.receiver(http.StatusBadGateway)
		d.webhook(webhooks.Input{Name: ptr("gone"), URL: &gone.URL, Types: ptr([]string{"token.minted"})})
		d.webhook(webhooks.Input{Name: ptr("down"), URL: &down.URL, Types: ptr([]string{"token.minted"})})
		d.webhook(webhooks.Input{Name: ptr("idle"), URL: &down.URL, Types: ptr([]string{"signing_key.created"})})
		d.happen(1, models.AuditTokenMinted)
		d.round()
		d.turn(90 * time.Second)
		require.NoError(t, d.metrics.Register(webhooks.NewBacklogs(d.store.WebhookBacklogs, d.now)))
		assert.NoError(t, testutil.GatherAndCompare(d.metrics, strings.NewReader(`
# HELP sluice_webhook_deliveries_dead Deliveries that were given up and can be replayed.
# TYPE sluice_webhook_deliveries_dead gauge
sluice_webhook_deliveries_dead{webhook="down"} 0
sluice_webhook_deliveries_dead{webhook="gone"} 1
sluice_webhook_deliveries_dead{webhook="idle"} 0
# HELP sluice_webhook_deliveries_pending Deliveries that a webhook has not got yet.
# TYPE sluice_webhook_deliveries_pending gauge
sluice_webhook_deliveries_pending{webhook="down"} 1
sluice_webhook_deliveries_pending{webhook="gone"} 0
sluice_webhook_deliveries_pending{webhook="idle"} 0
# HELP sluice_webhook_oldest_pending_seconds Age of the oldest delivery that a webhook has not got yet.
# TYPE sluice_webhook_oldest_pending_seconds gauge
sluice_webhook_oldest_pending_seconds{webhook="down"} 90
sluice_webhook_oldest_pending_seconds{webhook="gone"} 0
sluice_webhook_oldest_pending_seconds{webhook="idle"} 0
# HELP sluice_webhook_attempts_total Attempts to deliver events to webhooks, by result (delivered, failed, dead).
# TYPE sluice_webhook_attempts_total counter
sluice_webhook_attempts_total{result="dead"} 1
sluice_webhook_attempts_total{result="delivered"} 0
sluice_webhook_attempts_total{result="failed"} 1
`)))
	})
}
