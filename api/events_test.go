package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

// stage is a router over a real audit, behind the real pace of a server.
type stage struct {
	*useCases
	t     *testing.T
	url   string
	store *store.Store
	feed  *events.Feed

	mu    sync.Mutex
	ends  *time.Time // of tokens
	gone  bool       // tokens are revoked
	held  *policy.Held
	scope func(models.AuditFilter) (models.AuditFilter, error)
}

// Authenticate implements api.Authenticator.
func (s *stage) Authenticate(context.Context, string) (policy.Caller, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return policy.Caller{}, fault.New(fault.Unauthenticated, "The token was revoked.")
	}
	return policy.Caller{Principal: "ada", PrincipalID: "p", TokenID: "t", ExpiresAt: s.ends, CanGovern: true, Held: s.held}, nil
}

// AuditScope implements governance.Records.
func (s *stage) AuditScope(_ context.Context, _ policy.Caller, f models.AuditFilter) (models.AuditFilter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scope != nil {
		return s.scope(f)
	}
	return f, nil
}

func newStage(t *testing.T, change ...func(*api.Deps)) *stage {
	t.Helper()
	s := &stage{useCases: newUseCases(), t: t}
	var err error
	s.store, err = store.Open(t.Context(), store.Config{URL: "sqlite://" + filepath.Join(t.TempDir(), "sluice.db") + "?synchronous=normal"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.store.Close() })
	require.NoError(t, store.Migrate(t.Context(), s.store))
	s.feed = events.NewFeed(s.store, slog.New(slog.DiscardHandler))
	t.Cleanup(s.feed.Close)
	d := deps(s.useCases, io.Discard)
	d.Authenticator, d.Governance.Records, d.Governance.Feed = s, s, s.feed
	for _, f := range change {
		f(&d)
	}
	server := httptest.NewServer(api.Paced(api.Router(d), api.Pace{}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// happen writes a sealed event.
func (s *stage) happen(typ models.AuditType, catalog, table, principal string) string {
	s.t.Helper()
	e := models.AuditEvent{
		EventID: uuid.NewString(), Type: typ, Catalog: catalog, Namespace: "a", Table: table, TableUUID: "11111111-1111-4111-8111-" + strings.Repeat("0", 12),
		Principal: principal, Allowed: true, Details: models.JSON[map[string]any]{V: map[string]any{"text": "two\nlines <&>"}},
	}
	require.NoError(s.t, s.store.AppendAudit(s.t.Context(), e))
	_, err := s.store.SealAudit(s.t.Context(), 1000, func(state models.AuditState, records []audit.Record) []string {
		return audit.Link(state.Hash, state.Seq, records)
	})
	require.NoError(s.t, err)
	return e.EventID
}

// frame is one part of a stream.
type frame struct{ id, event, data, comment string }

// listening is an open stream.
type listening struct {
	t      *testing.T
	answer *http.Response
	frames chan frame // closed at its end
}

func (s *stage) listen(query string, header ...string) *listening {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+governancePath+"/events"+query, http.NoBody)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer good")
	req.Header.Set("Accept-Encoding", "gzip")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = answer.Body.Close() })
	l := &listening{t: s.t, answer: answer, frames: make(chan frame, 100)}
	go l.read()
	return l
}

func (l *listening) read() {
	defer close(l.frames)
	lines := bufio.NewScanner(l.answer.Body)
	lines.Buffer(nil, 1<<20)
	var f frame
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "":
			if lines.Text() == "" {
				l.frames <- f
				f = frame{}
				continue
			}
			f.comment = value
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data += value
		}
	}
}

// next gives the next event.
func (l *listening) next() frame {
	l.t.Helper()
	for {
		select {
		case f, ok := <-l.frames:
			require.True(l.t, ok, "the stream ended")
			if f.event != "" {
				return f
			}
		case <-time.After(10 * time.Second):
			l.t.Fatal("no event came")
		}
	}
}

// ends waits for the end of the stream, and gives how many events came before.
func (l *listening) ends(within time.Duration) (n int) {
	l.t.Helper()
	deadline := time.After(within)
	for {
		select {
		case f, ok := <-l.frames:
			if !ok {
				return n
			}
			if f.event != "" {
				n++
			}
		case <-deadline:
			l.t.Fatal("the stream goes on")
		}
	}
}

func TestEventsAreStreamed(t *testing.T) {
	s := newStage(t)
	s.happen(models.AuditTokenMinted, "main", "", "ada")
	l := s.listen("")
	require.Equal(t, 200, l.answer.StatusCode)
	require.Equal(t, "text/event-stream", l.answer.Header.Get("Content-Type"))
	require.Equal(t, "no", l.answer.Header.Get("X-Accel-Buffering"))
	require.Equal(t, "no-store", l.answer.Header.Get("Cache-Control"))
	require.Empty(t, l.answer.Header.Get("Content-Encoding"), "what is compressed may be held back")
	<-l.frames // the answer has begun, and where it is in the audit is settled
	time.Sleep(200 * time.Millisecond)
	began := time.Now()
	id := s.happen(models.AuditTableCommitted, "main", "a.orders", "etl")
	f := l.next()
	require.Less(t, time.Since(began), 3*time.Second)
	require.Equal(t, []string{"2", "table.committed"}, []string{f.id, f.event})
	var data map[string]any
	require.NoError(t, json.Unmarshal([]byte(f.data), &data))
	require.Equal(t, []any{id, "main.a.orders", "two\nlines <&>"}, []any{data["eventId"], data["ref"], data["details"].(map[string]any)["text"]})

	resumed := s.listen("", "Last-Event-ID", "1")
	require.Equal(t, f, resumed.next(), "one that comes again misses nothing")
	all := s.listen("?after=0")
	require.Equal(t, []string{"1", "2"}, []string{all.next().id, all.next().id})
	both := s.listen("?after=0", "Last-Event-ID", "1")
	require.Equal(t, "2", both.next().id, "where a client is counts more than where it began")
}

func TestEventsAreFiltered(t *testing.T) {
	s := newStage(t)
	for _, e := range []struct {
		typ                       models.AuditType
		catalog, table, principal string
	}{
		{models.AuditFindingOpened, "main", "a.orders", "sluice"},
		{models.AuditFindingResolved, "main", "a.items", "ada"},
		{models.AuditTableCommitted, "main", "a.orders", "etl"},
		{models.AuditTableCommitted, "lake", "a.orders", "etl"},
	} {
		s.happen(e.typ, e.catalog, e.table, e.principal)
	}
	for query, want := range map[string][]string{
		"type=finding.*":                             {"1", "2"},
		"type=table.committed":                       {"3", "4"},
		"catalog=lake":                               {"4"},
		"principal=etl":                              {"3", "4"},
		"table=main.a.orders":                        {"1", "3"},
		"table=lake.a.orders&type=table.committed":   {"4"},
		"table=11111111-1111-4111-8111-000000000000": {"1", "2", "3", "4"},
	} {
		l := s.listen("?after=0&" + query)
		var got []string
		for range want {
			got = append(got, l.next().id)
		}
		require.Equal(t, want, got, query)
	}
	s.mu.Lock()
	s.scope = func(f models.AuditFilter) (models.AuditFilter, error) { f.Catalog = "lake"; return f, nil }
	s.mu.Unlock()
	require.Equal(t, "4", s.listen("?after=0").next().id, "of what is asked for one gets what one may see")
}

func TestStreamsThatAreRefused(t *testing.T) {
	s := newStage(t)
	for query, want := range map[string]string{
		"?type=finding.open": "finding.opened", "?type=findings.*": "There is no event", "?after=x": "after", "?after=-1": "after",
		"?since=1h": "unknown", "?table=x": "catalog.namespace.table", "?table=main.a.b&catalog=lake": "contradict",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+governancePath+"/events"+query, http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer good")
		answer, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		var body struct{ Error struct{ Message string } }
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&body))
		answer.Body.Close()
		require.Equal(t, 400, answer.StatusCode, query)
		require.Contains(t, body.Error.Message, want, query)
	}
	s.scope = func(f models.AuditFilter) (models.AuditFilter, error) { return f, fault.New(fault.Forbidden, "No.") }
	require.Equal(t, 403, s.listen("").answer.StatusCode)
	s.gone = true
	require.Equal(t, 401, s.listen("").answer.StatusCode)
}

// A stream outlives the time of other requests, and takes no place of theirs.
func TestStreamsAreNotCutAsOtherRequests(t *testing.T) {
	s := newStage(t, func(d *api.Deps) {
		d.Limits.RequestTimeout = 300 * time.Millisecond
		d.Limits.InFlight = 1
	})
	l := s.listen("")
	<-l.frames
	time.Sleep(time.Second)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+governancePath+"/whoami", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer good")
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, 200, answer.StatusCode)
	s.happen(models.AuditTokenMinted, "", "", "ada")
	require.Equal(t, "1", l.next().id)
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	s := newStage(t)
	ends := time.Now().Add(1500 * time.Millisecond)
	s.ends = &ends
	l := s.listen("")
	s.happen(models.AuditTokenMinted, "", "", "ada")
	require.Equal(t, 1, l.ends(5*time.Second))
	require.WithinDuration(t, ends, time.Now(), time.Second)
}

func TestABeatTellsWhereTheStreamIs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	l := s.listen("?type=finding.*")
	<-l.frames
	s.happen(models.AuditTokenMinted, "", "", "ada")
	select {
	case f := <-l.frames:
		require.Equal(t, frame{id: "1", comment: "beat"}, f, "though nothing was for it")
	case <-time.After(20 * time.Second):
		t.Fatal("no beat came")
	}
}

// A token that is revoked, or a principal that may not read the audit any more, is noticed at the next beat.
func TestAStreamEndsWithItsRights(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*stage){
		"revoked": func(s *stage) { s.gone = true },
		"forbidden": func(s *stage) {
			s.scope = func(f models.AuditFilter) (models.AuditFilter, error) { return f, fault.New(fault.Forbidden, "No.") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			l := s.listen("")
			<-l.frames
			s.mu.Lock()
			change(s)
			s.mu.Unlock()
			require.Zero(t, l.ends(20*time.Second))
		})
	}
}

func TestStreamsEndAtOnceWithTheProcess(t *testing.T) {
	s := newStage(t)
	l := s.listen("")
	<-l.frames
	s.feed.Close()
	require.Zero(t, l.ends(2*time.Second))
	require.Equal(t, 503, s.listen("").answer.StatusCode)
}

func TestAClientThatLeavesIsForgotten(t *testing.T) {
	s := newStage(t)
	for n := range 70 { // more than there may be at once
		l := s.listen("")
		require.Equal(t, 200, l.answer.StatusCode, strconv.Itoa(n))
		<-l.frames
		_ = l.answer.Body.Close()
		if n%16 == 15 {
			time.Sleep(200 * time.Millisecond)
		}
	}
}
