package facade

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	apicatalog "github.com/sluice-data/sluice/api/catalog"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/models"
)

const keyHeader = "Idempotency-Key"

func newKey(t testing.TB) string {
	t.Helper()
	key, err := uuid.NewV7()
	require.NoError(t, err)
	return key.String()
}

func TestConfigOffersIdempotencyKeys(t *testing.T) {
	s := newSite(t)
	r, err := s.sendTo(t.Context(), "GET", s.url+mount+"/v1/config?warehouse=main", "")
	require.NoError(t, err)
	require.Contains(t, string(r.body), `"idempotency-key-lifetime":"PT1H"`)
	none := newLake(t).serve(t, func(s *setup) { s.api.Catalog.Idempotency = nil })
	r, err = none.sendTo(t.Context(), "GET", none.url+mount+"/v1/config?warehouse=main", "")
	require.NoError(t, err)
	require.NotContains(t, string(r.body), "idempotency")
}

// mutation is one request of the facade, whose repeat must do nothing and be answered alike.
type mutation struct {
	name, method, path string
	body               func(t *testing.T, s *site) string
	status             int
	says               string // in both answers
}

func fixed(body string) func(*testing.T, *site) string {
	return func(*testing.T, *site) string { return body }
}

func mutations() []mutation {
	return []mutation{
		{"create a namespace", "POST", "/namespaces", fixed(`{"namespace":["new"],"properties":{"k":"v"}}`), 200, `"k":"v"`},
		{"set and remove properties", "POST", "/namespaces/db/properties", fixed(`{"updates":{"a":"1"},"removals":["gone"]}`), 200, `"missing":["gone"]`},
		{"drop a namespace", "DELETE", "/namespaces/empty", fixed(""), 204, ""},
		{"create a table", "POST", "/namespaces/db/tables", fixed(createBody("fresh")), 200, `"metadata-location"`},
		{"stage a create", "POST", "/namespaces/db/tables", fixed(`{"name":"staged","stage-create":true,"schema":` + columns + `}`), 200, `"metadata"`},
		{"append", "POST", tablePath("a"), func(t *testing.T, s *site) string { return string(s.append(t, "a").Body()) }, 200, `"metadata-location"`},
		{"set a property", "POST", tablePath("a"), fixed(`{"requirements":[],"updates":[{"action":"set-properties","updates":{"p":"q"}}]}`), 200, `"p":"q"`},
		{"commit nothing", "POST", tablePath("a"), fixed(`{"requirements":[],"updates":[]}`), 200, `"metadata-location"`},
		{"commit to two tables", "POST", "/transactions/commit", func(t *testing.T, s *site) string {
			return transaction(change("a", s.append(t, "a")), change("b", s.append(t, "b")))
		}, 204, ""},
		{"rename", "POST", "/tables/rename", fixed(`{"source":{"namespace":["db"],"name":"b"},"destination":{"namespace":["db"],"name":"c"}}`), 204, ""},
		{"drop", "DELETE", tablePath("b"), fixed(""), 204, ""},
		{"unregister", "POST", tablePath("b") + "/unregister", fixed(""), 200, `"metadata-location"`},
		{"create a view", "POST", "/namespaces/db/views", fixed(viewBody("fresh")), 200, `"view-uuid"`},
		{"replace a view", "POST", "/namespaces/db/views/v", fixed(`{"requirements":[],"updates":[{"action":"set-properties","updates":{"p":"q"}}]}`), 200, `"p":"q"`},
		{"rename a view", "POST", "/views/rename", fixed(`{"source":{"namespace":["db"],"name":"v"},"destination":{"namespace":["db"],"name":"w"}}`), 204, ""},
		{"drop a view", "DELETE", "/namespaces/db/views/v", fixed(""), 204, ""},
	}
}

func viewBody(name string) string {
	return fmt.Sprintf(`{"name":%q,"schema":%s,"properties":{},"view-version":{"version-id":1,"timestamp-ms":1700000000000,"schema-id":0,"summary":{},
		"default-namespace":["db"],"representations":[{"type":"sql","sql":"SELECT 1","dialect":"spark"}]}}`, name, columns)
}

func siteForMutations(t *testing.T) *site {
	t.Helper()
	return newLake(t).siteForMutations(t)
}

func (l *lake) siteForMutations(t *testing.T) *site {
	t.Helper()
	s := l.site(t)
	s.create(t, "a")
	s.create(t, "b")
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["empty"]}`))
	s.want(t, 200, s.post(t, "/namespaces/db/views", viewBody("v")))
	return s
}

func TestRepeatedMutationsHappenOnce(t *testing.T) { eachDatabase(t, repeatedMutations) }

func repeatedMutations(t *testing.T, newLake func(testing.TB) *lake) {
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			s := newLake(t).siteForMutations(t)
			body, key := m.body(t, s), newKey(t)
			first := s.want(t, m.status, s.do(t, m.method, m.path, body, keyHeader, key))
			require.Contains(t, string(first.body), m.says)
			events, files := s.audit(t, ""), len(s.metadataFiles(t))
			other := s.serve(t) // another process knows as well
			for _, process := range []*site{s, other} {
				again := s.want(t, m.status, process.do(t, m.method, m.path, body, keyHeader, strings.ToUpper(key)))
				require.Contains(t, string(again.body), m.says)
				require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
			}
			require.Equal(t, events, s.audit(t, ""), "a repeat had an effect")
			require.Len(t, s.metadataFiles(t), files, "a repeat wrote a metadata file")
			if !strings.Contains(m.name, "stage") {
				require.Equal(t, string(first.body), string(s.do(t, m.method, m.path, body, keyHeader, key).body))
			}
		})
	}
}

func TestRefusalsAreReplayedAsTheyWere(t *testing.T) {
	cases := []struct {
		name, method, path, body string
		status                   int
		kind                     string
		cure                     func(t *testing.T, s *site) // what would make the request succeed now
	}{
		{"a namespace that exists", "POST", "/namespaces", `{"namespace":["empty"]}`, 409, "AlreadyExistsException",
			func(t *testing.T, s *site) { s.want(t, 204, s.do(t, "DELETE", "/namespaces/empty", "")) }},
		{"a namespace that is not empty", "DELETE", "/namespaces/db", "", 409, "NamespaceNotEmptyException", nil},
		{"a table that is not there", "DELETE", tablePath("none"), "", 404, "NoSuchTableException",
			func(t *testing.T, s *site) { s.create(t, "none") }},
		{"a requirement that does not hold", "POST", tablePath("a"),
			`{"requirements":[{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":7}],"updates":[]}`, 409, "CommitFailedException", nil},
		{"an update nobody knows", "POST", tablePath("a"), `{"requirements":[],"updates":[{"action":"fly"}]}`, 400, "BadRequestException", nil},
		{"a reserved property", "POST", tablePath("a"),
			`{"requirements":[],"updates":[{"action":"set-properties","updates":{"sluice.x":"y"}}]}`, 403, "ForbiddenException", nil},
		{"a key set and removed", "POST", "/namespaces/db/properties", `{"updates":{"a":"1"},"removals":["a"]}`, 422, "UnprocessableEntityException", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := siteForMutations(t)
			key := newKey(t)
			first := s.want(t, c.status, s.do(t, c.method, c.path, c.body, keyHeader, key))
			require.Equal(t, c.kind, first.kind())
			if c.cure != nil {
				c.cure(t, s)
			}
			events := s.audit(t, "")
			again := s.want(t, c.status, s.do(t, c.method, c.path, c.body, keyHeader, key))
			require.JSONEq(t, string(first.body), string(again.body))
			require.Equal(t, events, s.audit(t, ""))
			if c.cure != nil { // a new key is a new request
				require.Less(t, s.do(t, c.method, c.path, c.body, keyHeader, newKey(t)).StatusCode, 300)
			}
		})
	}
}

func TestKeysOfOtherRequestsAndPrincipals(t *testing.T) {
	s := siteForMutations(t)
	key := newKey(t)
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["one"]}`, keyHeader, key))
	t.Run("another body is 422", func(t *testing.T) {
		r := s.want(t, 422, s.post(t, "/namespaces", `{"namespace":["two"]}`, keyHeader, key))
		require.Equal(t, "UnprocessableEntityException", r.kind())
		s.want(t, 404, s.get(t, "/namespaces/two"))
	})
	t.Run("another route is 422", func(t *testing.T) {
		s.want(t, 422, s.do(t, "DELETE", "/namespaces/empty", "", keyHeader, key))
		s.want(t, 200, s.get(t, "/namespaces/empty"))
	})
	t.Run("no UUID is 400 and does nothing", func(t *testing.T) {
		for _, bad := range []string{"x", "urn:uuid:" + key, "{" + key + "}", strings.ReplaceAll(key, "-", "")} {
			s.want(t, 400, s.post(t, "/namespaces", `{"namespace":["bad"]}`, keyHeader, bad))
		}
		s.want(t, 404, s.get(t, "/namespaces/bad"))
	})
	t.Run("reads and an empty key are as without", func(t *testing.T) {
		s.want(t, 200, s.get(t, "/namespaces/one", keyHeader, key))
		s.want(t, 409, s.post(t, "/namespaces", `{"namespace":["one"]}`, keyHeader, ""))
	})
	t.Run("another principal's key is another key", func(t *testing.T) {
		ctx := t.Context()
		require.NoError(t, s.db.SettleIdempotencyKey(ctx, models.IdempotencyKey{
			PrincipalID: "somebody", Key: "0190a6c0-0000-7000-8000-000000000001", Route: "POST /x", RequestHash: "h",
			Status: models.IdempotencyDone, CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour),
		}))
		s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["mine"]}`, keyHeader, "0190a6c0-0000-7000-8000-000000000001"))
	})
}

func TestKeyPastItsLifetimeIsNew(t *testing.T) {
	l := newLake(t)
	s := l.serve(t, func(s *setup) {
		s.api.Catalog.Idempotency = idempotency.New(idempotency.Deps{Store: l.db, Lifetime: time.Second, Now: time.Now})
	})
	key := newKey(t)
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["one"]}`, keyHeader, key))
	require.Eventually(t, func() bool {
		return s.post(t, "/namespaces", `{"namespace":["one"]}`, keyHeader, key).StatusCode == 409
	}, 5*time.Second, 200*time.Millisecond, "after its lifetime the request is judged anew")
}

func TestRepeatAfterTheTableIsGoneTellsWhatWasDone(t *testing.T) {
	s := siteForMutations(t)
	body, key := string(s.append(t, "a").Body()), newKey(t)
	first := s.want(t, 200, s.post(t, tablePath("a"), body, keyHeader, key))
	var was loaded
	first.into(t, &was)
	same := func(t *testing.T) {
		var again loaded
		s.want(t, 200, s.post(t, tablePath("a"), body, keyHeader, key)).into(t, &again)
		require.Equal(t, was.MetadataLocation, again.MetadataLocation)
	}
	s.want(t, 204, s.post(t, "/tables/rename", `{"source":{"namespace":["db"],"name":"a"},"destination":{"namespace":["db"],"name":"moved"}}`))
	t.Run("renamed", same)
	s.create(t, "a")
	t.Run("another table has its name", same)
}

// slowStore delays swaps, so that repeats come while the first request is under way.
type slowStore struct {
	catalog.Store
	swaps atomic.Int64
}

func (s *slowStore) SwapTables(ctx context.Context, swaps []catalog.Swap) error {
	s.swaps.Add(1)
	time.Sleep(300 * time.Millisecond)
	return s.Store.SwapTables(ctx, swaps)
}

func TestConcurrentRepeatsWaitForTheFirst(t *testing.T) { eachDatabase(t, concurrentRepeats) }

func concurrentRepeats(t *testing.T, newLake func(testing.TB) *lake) {
	slow := &slowStore{}
	l := newLake(t)
	slowed := func(s *setup) { slow.Store, s.core.Store = s.core.Store, slow }
	s, other := l.serve(t, slowed), l.serve(t)
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["db"]}`))
	s.create(t, "a")
	body, key := string(s.append(t, "a").Body()), newKey(t)
	var wg sync.WaitGroup
	for i := range 12 {
		process := s
		if i%4 == 3 {
			process = other
		}
		wg.Go(func() {
			r, err := process.send(t.Context(), "POST", tablePath("a"), body, keyHeader, key)
			if assert.NoError(t, err) {
				assert.Equal(t, 200, r.StatusCode, "%s", r.body)
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, slow.swaps.Load(), int64(1), "repeats in one process wait")
	require.Equal(t, 1, s.audit(t, models.AuditTableCommitted))
	require.Equal(t, 1, s.table(t, "a").SnapshotCount)
}

// failing fails swaps on demand.
type failing struct {
	catalog.Store
	with error
}

func (f *failing) SwapTables(ctx context.Context, swaps []catalog.Swap) error {
	if f.with != nil {
		return f.with
	}
	return f.Store.SwapTables(ctx, swaps)
}

func TestServerFailuresAreNeverKept(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"in doubt":    {fault.New(fault.UnknownState, "In doubt."), 500},
		"unavailable": {fault.New(fault.Unavailable, "Busy."), 503},
		"odd":         {context.DeadlineExceeded, 503},
	} {
		t.Run(name, func(t *testing.T) {
			f := &failing{}
			s := newSite(t, func(s *setup) { f.Store, s.core.Store = s.core.Store, f })
			s.create(t, "a")
			body, key := string(s.append(t, "a").Body()), newKey(t)
			f.with = c.err
			s.want(t, c.status, s.post(t, tablePath("a"), body, keyHeader, key))
			f.with = nil
			s.want(t, 200, s.post(t, tablePath("a"), body, keyHeader, key))
			require.Equal(t, 1, s.table(t, "a").SnapshotCount)
		})
	}
}

// TestCaseA3LostAnswer drops the answers of requests that succeeded, as a proxy does that times out: the retry under the
// same key succeeds, has no second effect, and every file the client wrote is still referenced.
func TestCaseA3LostAnswer(t *testing.T) { eachDatabase(t, lostAnswer) }

func lostAnswer(t *testing.T, newLake func(testing.TB) *lake) {
	s := newLake(t).site(t)
	s.create(t, "a")
	target, err := url.Parse(s.url)
	require.NoError(t, err)
	var drop atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if drop.Load() {
			panic(http.ErrAbortHandler) // after success: the client sees a broken connection
		}
		return nil
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)

	commit := s.append(t, "a")
	key := newKey(t)
	drop.Store(true)
	_, err = s.sendTo(t.Context(), "POST", front.URL+prefix+tablePath("a"), string(commit.Body()), keyHeader, key)
	require.Error(t, err, "the answer is lost")
	drop.Store(false)
	restarted := s.serve(t) // as after a kill between commit and answer: nothing is remembered but the database
	retry := restarted.want(t, 200, restarted.post(t, tablePath("a"), string(commit.Body()), keyHeader, key))
	var now loaded
	retry.into(t, &now)
	table, err := icebergtest.Parse(now.Metadata)
	require.NoError(t, err)
	require.Equal(t, []int64{commit.SnapshotID}, table.Lineage())
	live, err := s.writer.LiveFiles(table.HeadList)
	require.NoError(t, err)
	require.Equal(t, commit.DataFiles, live)
	require.Equal(t, 1, s.audit(t, models.AuditTableCommitted))
}

var _ apicatalog.Idempotency = (*idempotency.Keeper)(nil)
