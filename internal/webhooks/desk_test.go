package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const giveUp = time.Hour

// desk is the use cases and the courier over a real database, with a clock that tests turn.
type desk struct {
	*webhooks.Service
	courier *webhooks.Courier
	t       *testing.T
	store   *store.Store
	metrics *prometheus.Registry

	mu sync.Mutex
	at time.Time
}

func (d *desk) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at
}

func (d *desk) turn(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = d.at.Add(by)
}

func newDesk(t *testing.T, private bool, resolvers ...*net.Resolver) *desk {
	t.Helper()
	return newDeskOn(t, "sqlite://"+filepath.Join(t.TempDir(), "sluice.db")+"?synchronous=normal", private, resolvers...)
}

func newDeskOn(t *testing.T, url string, private bool, resolvers ...*net.Resolver) *desk {
	t.Helper()
	d := &desk{t: t, at: time.Now().UTC().Truncate(time.Microsecond), metrics: prometheus.NewRegistry()}
	var err error
	d.store, err = store.Open(t.Context(), store.Config{URL: url, Now: d.now})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.store.Close() })
	require.NoError(t, store.Migrate(t.Context(), d.store))
	boot, _ := access.NewBootstrap("main", []string{"file:///wh"}, models.GovernedOnly, d.at)
	require.NoError(t, d.store.Bootstrap(t.Context(), boot))
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	sealer := ring.For("webhooks")
	o := webhooks.SenderOptions{Private: private, Now: time.Now}
	if len(resolvers) > 0 {
		o.Resolver = resolvers[0]
	}
	sender := webhooks.NewSender(o)
	t.Cleanup(sender.Close)
	log := slog.New(slog.DiscardHandler)
	d.Service = webhooks.New(webhooks.Deps{
		Store: d.store, Catalogs: d.store, Sealer: sealer, Sender: sender, Source: "https://sluice.example", Private: private, Log: log, Now: d.now,
	})
	d.courier = webhooks.NewCourier(webhooks.CourierDeps{
		Store: d.store, Sealed: d.store, Sealer: sealer, Sender: sender, Source: "https://sluice.example", GiveUp: giveUp,
		Registerer: d.metrics, Log: log, Now: d.now,
	})
	return d
}

func (d *desk) root() policy.Caller {
	return policy.Caller{Principal: models.RootPrincipal, CanGovern: true, Held: policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, nil)}
}

// webhook makes one as root.
func (d *desk) webhook(in webhooks.Input) webhooks.View {
	d.t.Helper()
	w, _, err := d.CreateWebhook(d.t.Context(), d.root(), in)
	require.NoError(d.t, err)
	return w
}

// seal gives every event its place, as the sealer does.
func (d *desk) seal() {
	d.t.Helper()
	for {
		done, err := d.store.SealAudit(d.t.Context(), 1000, func(state models.AuditState, records []audit.Record) []string {
			return audit.Link(state.Hash, state.Seq, records)
		})
		require.NoError(d.t, err)
		if done.Events == 0 {
			return
		}
	}
}

// happen writes sealed events and gives their ids.
func (d *desk) happen(n int, typ models.AuditType, change ...func(*models.AuditEvent)) []string {
	d.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		snapshot := int64(9007199254740993)
		e := models.AuditEvent{
			EventID: uuid.NewString(), Type: typ, At: d.now(), Principal: "ada", Catalog: "main", Namespace: "sales", Table: "sales.orders",
			SnapshotID: &snapshot, Allowed: true, Details: models.JSON[map[string]any]{V: map[string]any{"note": "<größe> & more"}},
		}
		for _, f := range change {
			f(&e)
		}
		require.NoError(d.t, d.store.AppendAudit(d.t.Context(), e))
		ids[i] = e.EventID
	}
	d.seal()
	return ids
}

// round looks once for events and delivers what is due.
func (d *desk) round() (total webhooks.Page) {
	d.t.Helper()
	work, err := d.courier.Await(d.t.Context(), nil, 0, nil)
	require.NoError(d.t, err)
	for _, id := range work.Due {
		for more := true; more; {
			page, err := d.courier.Deliver(d.t.Context(), id)
			require.NoError(d.t, err)
			total.Delivered += page.Delivered
			total.Failed += page.Failed
			total.Dead += page.Dead
			more = page.More
		}
	}
	return total
}

func (d *desk) deliveries(id string, state models.DeliveryState) []models.WebhookDelivery {
	d.t.Helper()
	rows, err := d.Deliveries(d.t.Context(), d.root(), models.DeliveryFilter{WebhookID: id, State: state, Limit: 1000})
	require.NoError(d.t, err)
	return rows
}

func (d *desk) events(typ models.AuditType) []models.AuditEvent {
	d.t.Helper()
	rows, err := d.store.AuditEvents(d.t.Context(), models.AuditFilter{Type: typ})
	require.NoError(d.t, err)
	return rows
}

// receiver is an HTTP server that takes down what it is sent.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(n int) int // status of the nth request
	seen   []message
}

type message struct {
	header http.Header
	body   []byte
	event  map[string]any
}

func (m message) id() string { return m.header.Get("webhook-id") }

func (d *desk) receiver(status int) *receiver {
	d.t.Helper()
	return d.answering(func(int) int { return status })
}

func (d *desk) answering(answer func(n int) int) *receiver {
	d.t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(r)
	d.t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	m := message{header: req.Header.Clone(), body: body}
	_ = json.Unmarshal(body, &m.event)
	r.mu.Lock()
	r.seen = append(r.seen, m)
	status := r.answer(len(r.seen))
	r.mu.Unlock()
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "said "+strconv.Itoa(status))
}

func (r *receiver) got() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]message(nil), r.seen...)
}

func (r *receiver) ids() []string {
	out := []string{}
	for _, m := range r.got() {
		out = append(out, m.id())
	}
	return out
}

// assertSigned checks a message as a receiver does that knows Standard Webhooks alone.
func assertSigned(t *testing.T, m message, secret string) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(key), 24)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(m.header.Get("webhook-id") + "." + m.header.Get("webhook-timestamp") + "." + string(m.body)))
	assert.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)), m.header.Get("webhook-signature"))
	seconds, err := strconv.ParseInt(m.header.Get("webhook-timestamp"), 10, 64)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), time.Unix(seconds, 0), time.Minute)
}

// nameServer answers that every name is this machine, and gives its address.
func nameServer(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(thisMachine(buf[:n]), from)
		}
	}()
	return conn.LocalAddr().String()
}

// thisMachine answers a DNS question for an A record with 127.0.0.1, and another with nothing.
func thisMachine(query []byte) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the root label, type and class
	out := append([]byte(nil), query[:end]...)
	out[2], out[3] = 0x81, 0x80
	copy(out[6:12], make([]byte, 6)) // no answers, and nothing of what the query has besides its question
	if query[end-3] == 1 {
		out[7] = 1
		out = append(out, 0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1)
	}
	return out
}

func ptr[T any](v T) *T { return &v }
