package data_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/api/data"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/models"
)

// site is the real router in front of the real data plane over a SQLite file and a folder, on a real port.
type site struct {
	t    testing.TB
	url  string
	core *catalog.Service
	cat  models.Catalog

	mu       sync.Mutex
	denied   []access.Denial
	failures []access.Failure
}

// change makes another site of it.
type change struct {
	data func(*dataplane.Deps)
	api  func(*api.Deps)
	pace api.Pace
}

func newSite(t testing.TB, changes ...change) *site {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	db, err := store.Open(ctx, store.Config{URL: filepath.Join(dir, "sluice.db") + "?synchronous=normal"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, store.Migrate(ctx, db))
	warehouse := "file://" + filepath.Join(dir, "warehouse")
	boot, _ := access.NewBootstrap("main", []string{warehouse}, models.OpenFull, time.Now().UTC())
	require.NoError(t, db.Bootstrap(ctx, boot))
	files, err := objects.Open(ctx, objects.Config{Roots: []string{warehouse}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = files.Close() })
	s := &site{t: t}
	s.core = catalog.New(catalog.Deps{
		Store: db, Reports: db, Files: files, Locations: objects.Rules{}, Inspector: reconcile.NewInspector(files, objects.WithinStrings),
		Now: func() time.Time { return time.Now().UTC() }, ReservedPrefix: "sluice.", CacheBytes: 64 << 20,
	})
	s.cat, err = db.CatalogByName(ctx, "main")
	require.NoError(t, err)
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	deps := dataplane.Deps{
		Catalog: s.core, Store: db, Tokens: ring.For("page-token"), Secrets: ring.For("data-key"), Now: time.Now,
		Reader: tableread.New(files, scan.New(files), tableread.Options{Memory: 256 << 20}),
		Limits: dataplane.Limits{Memory: 256 << 20, Rows: 1000, AnswerBytes: 1 << 30, RequestBytes: 64 << 20, Timeout: time.Minute, Concurrency: 4, SplitAfter: 1 << 30},
	}
	deps.IO = tableio.New(s.core, files, time.Now)
	deps.Keys = idempotency.New(idempotency.Deps{Store: db, Lifetime: time.Hour, Now: time.Now})
	router := api.Deps{Log: slog.New(slog.DiscardHandler), Authenticator: s, Denials: s}
	pace := api.Pace{}
	for _, c := range changes {
		if c.data != nil {
			c.data(&deps)
		}
		if c.api != nil {
			c.api(&router)
		}
		pace = c.pace
	}
	rows := dataplane.New(deps)
	router.Data = data.Deps{Rows: rows, Audit: rows, RequestBytes: deps.Limits.RequestBytes, Log: slog.New(slog.DiscardHandler)}
	server := httptest.NewUnstartedServer(api.Paced(api.Router(router), pace))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	s.url = server.URL
	_, err = s.core.CreateNamespace(ctx, s.caller("root"), s.cat, catalog.NamespaceInput{Levels: []string{"sales"}})
	require.NoError(t, err)
	s.create("people", `{"id":1,"name":"id","type":"long","required":true},{"id":2,"name":"note","type":"string","required":false}`)
	return s
}

// caller is the principal of that name: root may everything, ana reads what is internal, others hold nothing.
func (s *site) caller(name string) policy.Caller {
	c := policy.Caller{PrincipalID: "id-of-" + name, Principal: name, TokenID: "token-of-" + name, Clearance: models.Internal, CanGovern: true}
	var held []models.Privilege
	switch name {
	case "root":
		c.Clearance = models.Restricted
		held = []models.Privilege{models.CatalogManageContent, models.CatalogManageAccess, models.TableGovern, models.DataRead, models.DataWrite, models.AuditRead}
	case "ana":
		held = []models.Privilege{models.DataRead, models.AuditRead}
	}
	var grants []policy.Grant
	for _, p := range held {
		grants = append(grants, policy.Grant{Privilege: p, ObjectID: s.cat.ID})
	}
	c.Held = policy.NewHeld(nil, grants)
	return c
}

// Authenticate takes the name of a principal for its token.
func (s *site) Authenticate(_ context.Context, bearer string) (policy.Caller, error) {
	if bearer == "nobody" {
		return policy.Caller{}, fault.New(fault.Unauthenticated, "The token is not known.")
	}
	return s.caller(bearer), nil
}

// RecordDenial implements api.Denials.
func (s *site) RecordDenial(_ context.Context, _ policy.Caller, d access.Denial) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = append(s.denied, d)
	return nil
}

// RecordFailure implements api.Denials.
func (s *site) RecordFailure(_ context.Context, _ policy.Caller, f access.Failure) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, f)
	return nil
}

func (s *site) create(name, fields string) {
	s.t.Helper()
	_, err := s.core.CreateTable(s.t.Context(), s.caller("root"), s.cat, catalog.CreateTableInput{
		Namespace: []string{"sales"}, Name: name, Schema: json.RawMessage(`{"type":"struct","schema-id":0,"identifier-field-ids":[1],"fields":[` + fields + `]}`),
	})
	require.NoError(s.t, err)
}

// reply is an answer with its body, and with what went wrong while that was read.
type reply struct {
	*http.Response
	body []byte
	err  error
}

func (r reply) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(r.body, &v), "%d %s", r.StatusCode, r.body)
	return v
}

// message gives the sentence of a refusal.
func (r reply) message(t *testing.T, status int, kind string) string {
	t.Helper()
	require.Equal(t, status, r.StatusCode, string(r.body))
	e, ok := r.json(t)["error"].(map[string]any)
	require.True(t, ok, string(r.body))
	require.Equal(t, kind, e["type"])
	require.InDelta(t, status, e["code"], 0)
	message, _ := e["message"].(string)
	return message
}

// do sends a request of root's, unless a header says otherwise.
func (s *site) do(method, path string, body io.Reader, header ...string) reply {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer root")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	require.NoError(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return reply{answer, text, err}
}

const (
	query = "/data/v1/tables/main.sales.people/query"
	write = "/data/v1/tables/main.sales.people/write"

	ndjson = "application/x-ndjson"
	arrows = "application/vnd.apache.arrow.stream"
)

func (s *site) query(body string, header ...string) reply {
	s.t.Helper()
	return s.do(http.MethodPost, query, strings.NewReader(body), header...)
}

// fill writes n rows with long notes.
func (s *site) fill(n int) reply {
	s.t.Helper()
	var lines bytes.Buffer
	for i := range n {
		line, _ := json.Marshal(map[string]any{"id": i, "note": strings.Repeat("x", 50+i%50)})
		lines.Write(append(line, '\n'))
	}
	r := s.do(http.MethodPost, write, &lines, "Content-Type", ndjson)
	require.Equal(s.t, 200, r.StatusCode, string(r.body))
	return r
}
