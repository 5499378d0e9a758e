package webhooks_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

// everywhere runs a test on every database.
func everywhere(t *testing.T, run func(t *testing.T, d *desk)) {
	t.Run("sqlite", func(t *testing.T) { run(t, newDesk(t, true)) })
	t.Run("postgres", func(t *testing.T) { run(t, newDeskOn(t, pgtest.Database(t), true)) })
}

func TestEventsArriveOnceSignedAndInOrder(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		to := d.receiver(http.StatusNoContent)
		d.happen(3, models.AuditTableCommitted) // before there is a webhook
		w, secret, err := d.CreateWebhook(t.Context(), d.root(), webhooks.Input{Name: ptr("all"), URL: &to.URL})
		require.NoError(t, err)
		want := append([]string{d.events(models.AuditWebhookCreated)[0].EventID}, d.happen(20, models.AuditTableCommitted)...)
		assert.Equal(t, webhooks.Page{Delivered: 21}, d.round())
		got := to.got()
		assert.ElementsMatch(t, want, to.ids(), "what happened since, its own making too")
		last := 0
		for i, m := range got {
			assertSigned(t, m, secret)
			seq, err := strconv.Atoi(m.event["sequence"].(string))
			require.NoError(t, err)
			assert.InDelta(t, last, seq, 16, "of two waves side by side")
			last = seq
			assert.Equal(t, "application/cloudevents+json; charset=utf-8", m.header.Get("Content-Type"), i)
		}
		assert.Zero(t, d.round(), "nothing is sent twice")
		assert.Len(t, to.got(), 21)
		for _, row := range d.deliveries(w.ID, models.DeliveryDelivered) {
			assert.Equal(t, []any{1, 204, ""}, []any{row.Attempts, row.LastStatus, row.LastError})
			assert.NotNil(t, row.DeliveredAt)
		}
	})
}

func TestACloudEventSaysWhatTheAuditSays(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	to := d.receiver(http.StatusOK)
	d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"table.commit_denied"})})
	id := d.happen(1, models.AuditCommitDenied)[0]
	d.round()
	require.Len(t, to.got(), 1)
	m := to.got()[0]
	assert.Equal(t, "1.0", m.event["specversion"])
	assert.Equal(t, id, m.event["id"])
	assert.Equal(t, id, m.id())
	assert.Equal(t, "https://sluice.example", m.event["source"])
	assert.Equal(t, "dev.sluice.table.commit_denied", m.event["type"])
	assert.Equal(t, "main.sales.orders", m.event["subject"])
	assert.Equal(t, "application/json", m.event["datacontenttype"])
	at, err := time.Parse(time.RFC3339Nano, m.event["time"].(string))
	require.NoError(t, err)
	assert.True(t, at.Equal(d.now()))
	data := m.event["data"].(map[string]any)
	assert.Equal(t, "9007199254740993", data["snapshotId"], "ids are strings")
	assert.Equal(t, map[string]any{"note": "<größe> & more"}, data["details"])
	assert.NotContains(t, string(m.body), `\u003c`)
}

func TestWebhooksGetWhatTheyWant(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.seal()
	type wish struct {
		name string
		in   webhooks.Input
		want []string
		to   *receiver
		id   string
	}
	wishes := []wish{
		{name: "a group", in: webhooks.Input{Types: ptr([]string{"finding.*"})}, want: []string{"finding.opened", "finding.resolved", "finding.opened"}},
		{name: "a kind and a group", in: webhooks.Input{Types: ptr([]string{"token.minted", "catalog.*"})}, want: []string{"token.minted"}},
		{name: "a catalog", in: webhooks.Input{Catalog: ptr("main"), Types: ptr([]string{"finding.opened"})}, want: []string{"finding.opened"}},
	}
	for i := range wishes {
		w := &wishes[i]
		w.to = d.receiver(http.StatusOK)
		w.in.Name, w.in.URL = &w.name, &w.to.URL
		w.id = d.webhook(w.in).ID
	}
	d.happen(1, models.AuditFindingOpened)
	d.happen(1, models.AuditFindingResolved)
	d.happen(1, models.AuditTokenMinted)
	d.happen(1, models.AuditFindingOpened, func(e *models.AuditEvent) { e.Catalog = "lake" })
	d.happen(5, models.AuditTableCommitted)
	d.round()
	for _, w := range wishes {
		var got []string
		for _, m := range w.to.got() {
			got = append(got, strings.TrimPrefix(m.event["type"].(string), "dev.sluice."))
		}
		assert.ElementsMatch(t, w.want, got, w.name)
		assert.Len(t, d.deliveries(w.id, ""), len(w.want), w.name)
	}
}

func TestAReceiverThatFailsIsTriedAgainLaterAndLater(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		to := d.answering(func(n int) int {
			if n <= 3 {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
		id := d.happen(1, models.AuditTokenMinted)[0]
		waits := []time.Duration{}
		for n := 1; n <= 3; n++ {
			assert.Equal(t, webhooks.Page{Failed: 1}, d.round())
			assert.Zero(t, d.round(), "it is not due yet")
			row := d.deliveries(w.ID, models.DeliveryPending)[0]
			assert.Equal(t, []any{n, 500, "answered 500 Internal Server Error: said 500"}, []any{row.Attempts, row.LastStatus, row.LastError})
			waits = append(waits, row.NextAt.Sub(d.now()))
			d.turn(waits[n-1])
		}
		for n, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} {
			assert.InDelta(t, want.Seconds(), waits[n].Seconds(), want.Seconds()/5+.01)
		}
		assert.Equal(t, webhooks.Page{Delivered: 1}, d.round())
		assert.Equal(t, []string{id, id, id, id}, to.ids(), "the id tells that it is the same event")
	})
}

func TestADeliveryIsGivenUpAndCanBeReplayed(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		status := http.StatusServiceUnavailable
		to := d.answering(func(int) int { return status })
		w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
		id := d.happen(1, models.AuditTokenMinted)[0]
		for range 30 {
			if d.round().Dead > 0 {
				break
			}
			d.turn(10 * time.Minute)
		}
		dead := d.deliveries(w.ID, models.DeliveryDead)
		require.Len(t, dead, 1)
		assert.GreaterOrEqual(t, dead[0].Attempts, 5)
		assert.GreaterOrEqual(t, d.now().Sub(dead[0].CreatedAt), giveUp)
		tried := len(to.got())
		d.turn(2 * time.Hour)
		assert.Zero(t, d.round(), "it is dead")
		status = http.StatusOK
		n, err := d.Replay(t.Context(), d.root(), w.ID, time.Time{}, true)
		require.NoError(t, err)
		assert.EqualValues(t, 1, n)
		assert.Equal(t, webhooks.Page{Delivered: 1}, d.round())
		assert.Equal(t, id, to.got()[tried].id())
		n, err = d.Replay(t.Context(), d.root(), w.ID, time.Time{}, true)
		require.NoError(t, err)
		assert.Zero(t, n, "nothing is dead any more")
		replays := d.events(models.AuditWebhookReplayed)
		require.Len(t, replays, 1, "a replay of nothing is none")
		assert.EqualValues(t, 1, replays[0].Details.V["deliveries"])
	})
}

func TestWhatHappenedSinceATimeCanBeReplayed(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		to := d.receiver(http.StatusOK)
		w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.*"}), Catalog: ptr("main")})
		early := d.happen(2, models.AuditTokenMinted)
		d.turn(time.Hour)
		since := d.now()
		late := d.happen(3, models.AuditTokenRevoked)
		d.happen(3, models.AuditTableCommitted)
		assert.Equal(t, 5, d.round().Delivered)
		n, err := d.Replay(t.Context(), d.root(), w.ID, since, false)
		require.NoError(t, err)
		assert.EqualValues(t, 3, n)
		assert.Equal(t, 3, d.round().Delivered)
		assert.ElementsMatch(t, append(append(early, late...), late...), to.ids())
		assert.Len(t, d.deliveries(w.ID, ""), 5, "an event has one delivery")
		n, err = d.Replay(t.Context(), d.root(), w.ID, d.now().Add(time.Hour), false)
		require.NoError(t, err)
		assert.Zero(t, n)
		assert.Zero(t, d.round().Delivered)
	})
}

func TestAReceiverThatIsGoneIsNotAskedAgain(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		to := d.receiver(http.StatusGone)
		w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
		d.happen(30, models.AuditTokenMinted)
		d.round()
		assert.LessOrEqual(t, len(to.got()), 8, "what was sent side by side")
		view, err := d.Webhook(t.Context(), d.root(), w.ID)
		require.NoError(t, err)
		assert.True(t, view.Disabled)
		updates := d.events(models.AuditWebhookUpdated)
		require.Len(t, updates, 1)
		assert.Equal(t, []any{"sluice", true, "The receiver answered 410 Gone."},
			[]any{updates[0].Principal, updates[0].Details.V["disabled"], updates[0].Details.V["why"]})
		asked := len(to.got())
		d.turn(time.Hour)
		d.happen(1, models.AuditTokenMinted)
		assert.Zero(t, d.round())
		assert.Len(t, to.got(), asked)
	})
}

// A process that dies after the request and before it is written sends it again, under the same id.
func TestADeliveryThatWasNotWrittenComesAgain(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		ctx, kill := context.WithCancel(t.Context())
		to := d.answering(func(n int) int {
			if n == 1 {
				kill()
				time.Sleep(50 * time.Millisecond) // its answer comes too late
			}
			return http.StatusOK
		})
		w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
		id := d.happen(1, models.AuditTokenMinted)[0]
		_, err := d.courier.Await(t.Context(), nil, 0, nil)
		require.NoError(t, err)
		_, err = d.courier.Deliver(ctx, w.ID)
		require.ErrorIs(t, err, context.Canceled)
		row := d.deliveries(w.ID, models.DeliveryPending)
		require.Len(t, row, 1)
		assert.Zero(t, row[0].Attempts, "that we stopped says nothing of the receiver")
		assert.Equal(t, webhooks.Page{Delivered: 1}, d.round())
		assert.Equal(t, []string{id, id}, to.ids())
	})
}

// Two couriers at one webhook may send a thing twice; what one wrote as delivered, the other does not undo.
func TestALateAttemptUndoesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		to := d.receiver(http.StatusOK)
		w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
		d.happen(1, models.AuditTokenMinted)
		_, err := d.courier.Await(t.Context(), nil, 0, nil)
		require.NoError(t, err)
		due, err := d.store.DueDeliveries(t.Context(), w.ID, d.now(), 10)
		require.NoError(t, err)
		require.Len(t, due, 1)
		assert.Equal(t, 1, d.round().Delivered)
		late := due[0].WebhookDelivery
		late.Attempts, late.LastError = 1, "no answer"
		require.NoError(t, d.store.SettleDeliveries(t.Context(), w.ID, []models.WebhookDelivery{late}, time.Time{}))
		assert.Len(t, d.deliveries(w.ID, models.DeliveryDelivered), 1)
	})
}

// A receiver that is down is tried with a few, not with all that waits; one that refuses some takes the others.
func TestABacklogDoesNotHammerAReceiverThatIsDown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	down := d.receiver(http.StatusBadGateway)
	picky := d.answering(func(n int) int {
		if n <= 8 {
			return http.StatusUnprocessableEntity
		}
		return http.StatusOK
	})
	first := d.webhook(webhooks.Input{Name: ptr("down"), URL: &down.URL, Types: ptr([]string{"token.minted"})})
	second := d.webhook(webhooks.Input{Name: ptr("picky"), URL: &picky.URL, Types: ptr([]string{"token.minted"})})
	d.happen(200, models.AuditTokenMinted)
	d.round()
	assert.Len(t, down.got(), 8)
	assert.Len(t, picky.got(), 200)
	assert.Len(t, d.deliveries(second.ID, models.DeliveryDelivered), 192)
	assert.Zero(t, d.round(), "the rest waits with the first ones")
	d.turn(7 * time.Second)
	d.round()
	assert.LessOrEqual(t, len(down.got()), 24)
	view, err := d.Webhook(t.Context(), d.root(), first.ID)
	require.NoError(t, err)
	assert.EqualValues(t, 200, view.Pending)
}

// A receiver that never answers costs its own webhook time, and no other.
func TestASlowReceiverHoldsUpNobody(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(release) })
	quick := d.receiver(http.StatusOK)
	a := d.webhook(webhooks.Input{Name: ptr("slow"), URL: &slow.URL, Types: ptr([]string{"token.minted"})})
	b := d.webhook(webhooks.Input{Name: ptr("quick"), URL: &quick.URL, Types: ptr([]string{"token.minted"})})
	d.happen(1, models.AuditTokenMinted)
	work, err := d.courier.Await(t.Context(), []string{a.ID}, 0, nil)
	require.NoError(t, err)
	assert.Equal(t, webhooks.Work{Webhooks: 2, Due: []string{b.ID}}, work, "who is busy is left out")
	began := time.Now()
	done := make(chan webhooks.Page, 1)
	go func() {
		page, _ := d.courier.Deliver(context.Background(), a.ID)
		done <- page
	}()
	page, err := d.courier.Deliver(t.Context(), b.ID)
	require.NoError(t, err)
	assert.Equal(t, webhooks.Page{Delivered: 1}, page)
	assert.Less(t, time.Since(began), 5*time.Second)
	assert.Equal(t, webhooks.Page{Failed: 1}, <-done)
	assert.InDelta(t, 10, time.Since(began).Seconds(), 4)
	assert.Equal(t, "no answer within 10s", d.deliveries(a.ID, "")[0].LastError)
}

func TestAReceiverSaysWhenToComeAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(busy.Close)
	w := d.webhook(webhooks.Input{Name: ptr("busy"), URL: &busy.URL, Types: ptr([]string{"token.minted"})})
	d.happen(1, models.AuditTokenMinted)
	d.round()
	assert.Equal(t, 10*time.Minute, d.deliveries(w.ID, "")[0].NextAt.Sub(d.now()))
}

// Await comes back when something is sealed, at once when there is no webhook, and when it is told to stop.
func TestAwait(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	began := time.Now()
	work, err := d.courier.Await(t.Context(), nil, time.Minute, nil)
	require.NoError(t, err)
	assert.Zero(t, work)
	to := d.receiver(http.StatusOK)
	w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
	d.seal()
	go func() {
		time.Sleep(300 * time.Millisecond)
		d.happen(1, models.AuditTokenMinted)
	}()
	work, err = d.courier.Await(t.Context(), nil, time.Minute, nil)
	require.NoError(t, err)
	assert.Equal(t, webhooks.Work{Webhooks: 1, Due: []string{w.ID}}, work)
	d.round()
	stop := make(chan struct{})
	close(stop)
	work, err = d.courier.Await(t.Context(), nil, time.Minute, stop)
	require.NoError(t, err)
	assert.Equal(t, webhooks.Work{Webhooks: 1, Due: []string{}}, work)
	assert.Less(t, time.Since(began), 10*time.Second)
}
