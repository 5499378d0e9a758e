package worker_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	chain "github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/worker"
	"github.com/sluice-data/sluice/workflows"
)

// post is webhooks over a real database and a real Temporal.
type post struct {
	*rig
	*webhooks.Service
	courier *webhooks.Courier
}

func newPost(t *testing.T) *post {
	t.Helper()
	p := &post{rig: newRig(t)}
	p.startTemporal()
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	sealer := ring.For("webhooks")
	sender := webhooks.NewSender(webhooks.SenderOptions{Private: true, Now: time.Now})
	t.Cleanup(sender.Close)
	p.Service = webhooks.New(webhooks.Deps{
		Store: p.store, Catalogs: p.store, Sealer: sealer, Sender: sender, Waker: workflows.NewStarter(p.client, p.store), Source: "sluice/test",
		Private: true, Log: silent(), Now: time.Now,
	})
	p.courier = webhooks.NewCourier(webhooks.CourierDeps{
		Store: p.store, Sealed: p.store, Sealer: sealer, Sender: sender, Source: "sluice/test", GiveUp: time.Hour, Log: silent(), Now: time.Now,
	})
	require.NoError(t, workflows.EnsureSchedules(t.Context(), p.client, workflows.ScheduleOptions{}))
	return p
}

// carry runs a worker that delivers.
func (p *post) carry() (stop func()) {
	p.t.Helper()
	ports := p.world.Ports()
	ports.Courier = p.courier
	w := worker.New(p.client, activities.New(ports), worker.Options{StopTimeout: 500 * time.Millisecond})
	require.NoError(p.t, w.Start())
	p.t.Cleanup(w.Stop)
	return w.Stop
}

func (p *post) hook(name, url string) webhooks.View {
	p.t.Helper()
	root := policy.Caller{Principal: "root", CanGovern: true, Held: policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, nil)}
	view, _, err := p.CreateWebhook(p.t.Context(), root, webhooks.Input{Name: &name, URL: &url, Types: &[]string{"token.minted"}})
	require.NoError(p.t, err)
	return view
}

func (p *post) happen(n int) (ids []string) {
	p.t.Helper()
	for range n {
		e := models.AuditEvent{EventID: uuid.NewString(), Type: models.AuditTokenMinted, Principal: "ada", Allowed: true, At: time.Now()}
		require.NoError(p.t, p.store.AppendAudit(p.t.Context(), e))
		ids = append(ids, e.EventID)
	}
	_, err := p.store.SealAudit(p.t.Context(), 10_000, func(state models.AuditState, records []chain.Record) []string {
		return chain.Link(state.Hash, state.Seq, records)
	})
	require.NoError(p.t, err)
	return ids
}

// box is a receiver.
type box struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]int // by id
	at   map[string]time.Time
}

func newBox(t *testing.T, before func()) *box {
	t.Helper()
	b := &box{seen: map[string]int{}, at: map[string]time.Time{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if before != nil {
			before()
		}
		var event struct{ ID string }
		_ = json.NewDecoder(r.Body).Decode(&event)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.seen[event.ID]++
		b.at[event.ID] = time.Now()
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *box) has(ids []string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if b.seen[id] == 0 {
			return false
		}
	}
	return true
}

// The first webhook is served without waiting for the schedule's minute, and what happens arrives within seconds.
func TestEventsReachWebhooksWithinSeconds(t *testing.T) {
	p := newPost(t)
	p.carry()
	to := newBox(t, nil)
	p.hook("a", to.URL)
	for range 3 {
		began := time.Now()
		ids := p.happen(5)
		require.Eventually(t, func() bool { return to.has(ids) }, 20*time.Second, 20*time.Millisecond)
		t.Log("arrived after", time.Since(began))
		require.Less(t, time.Since(began), 10*time.Second)
	}
	for id, n := range to.seen {
		require.Equal(t, 1, n, id)
	}
}

// A worker that dies in the middle of requests loses nothing: the next one sends again what was not written as sent.
func TestAWorkerThatDiesLosesNoDelivery(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for Temporal to notice")
	}
	p := newPost(t)
	var once sync.Once
	asked := make(chan struct{})
	stall := make(chan struct{})
	to := newBox(t, func() {
		once.Do(func() { close(asked) })
		<-stall
	})
	p.hook("a", to.URL)
	stop := p.carry()
	ids := p.happen(20)
	<-asked
	stop()
	close(stall)
	p.carry()
	require.Eventually(t, func() bool { return to.has(ids) }, 90*time.Second, 100*time.Millisecond)
}

// Receivers that never answer keep no other from its events, however many they are.
func TestDeadReceiversHoldUpNobody(t *testing.T) {
	p := newPost(t)
	p.carry()
	release := make(chan struct{})
	dead := newBox(t, func() { <-release })
	t.Cleanup(func() { close(release) })
	for n := range 6 {
		p.hook(fmt.Sprint("dead", n), dead.URL)
	}
	quick := newBox(t, nil)
	p.hook("quick", quick.URL)
	p.happen(20)
	for range 3 {
		time.Sleep(time.Second)
		began := time.Now()
		ids := p.happen(1)
		require.Eventually(t, func() bool { return quick.has(ids) }, 20*time.Second, 20*time.Millisecond)
		require.Less(t, time.Since(began), 8*time.Second)
	}
}
