package facade

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	apicatalog "github.com/sluice-data/sluice/api/catalog"
	"github.com/sluice-data/sluice/api/governance"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

const (
	mount  = "/api/catalog"
	prefix = mount + "/v1/main"
)

// lake is what survives a process: the database and the warehouse.
type lake struct {
	db        *store.Store
	files     *objects.Router
	ring      *keyring.Ring
	warehouse string
	creds     access.Credentials // of root
	token     string             // of root
}

// setup is one process's parts, for a test to change before they are wired.
type setup struct {
	core catalog.Deps
	api  api.Deps
	feed *events.Feed
}

// site is one process that serves a lake.
type site struct {
	*lake
	core   *catalog.Service
	url    string
	client *http.Client
	writer icebergtest.Writer
}

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// eachDatabase runs a test on a lake with SQLite and on one with PostgreSQL.
func eachDatabase(t *testing.T, run func(t *testing.T, newLake func(testing.TB) *lake)) {
	t.Run("sqlite", func(t *testing.T) { run(t, newLake) })
	t.Run("postgres", func(t *testing.T) {
		run(t, func(t testing.TB) *lake { return lakeOn(t, pgtest.Database(t)) })
	})
}

func newLake(t testing.TB) *lake {
	t.Helper()
	return lakeOn(t, filepath.Join(t.TempDir(), "sluice.db")+"?synchronous=normal")
}

func lakeOn(t testing.TB, url string) *lake {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	db, err := store.Open(ctx, store.Config{URL: url})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, store.Migrate(ctx, db))
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	l := &lake{db: db, ring: ring, warehouse: "file://" + filepath.Join(dir, "warehouse")}
	l.files, err = objects.Open(ctx, objects.Config{Roots: []string{l.warehouse}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.files.Close() })
	boot, creds := access.NewBootstrap("main", []string{l.warehouse}, models.OpenFull, time.Now().UTC())
	require.NoError(t, db.Bootstrap(ctx, boot))
	l.creds = creds
	l.token = l.login(t, creds, "")
	return l
}

// doors is who lets callers in, in one process.
type doors struct {
	keys  *access.TokenKeys
	auth  *access.Authenticator
	oauth *access.OAuth
}

func (l *lake) doors() doors {
	var d doors
	settings := access.KeySettings{Issuer: "sluice", TokenLifetime: time.Hour, KeyLifetime: 24 * time.Hour}
	d.keys = access.NewTokenKeys(l.db, l.ring.For("signing-keys"), settings, time.Now, nil)
	d.auth = access.NewAuthenticator(l.db, d.keys, nil, time.Now)
	d.oauth = access.NewOAuth(l.db, d.auth, time.Now)
	return d
}

// login gives an access token.
func (l *lake) login(t testing.TB, creds access.Credentials, scope string) string {
	t.Helper()
	grant, err := l.doors().oauth.IssueAccessToken(t.Context(), access.GrantRequest{
		GrantType: "client_credentials", ClientID: creds.ClientID, ClientSecret: creds.ClientSecret, Scope: scope,
	})
	require.NoError(t, err)
	return grant.AccessToken
}

// secrets makes and hashes credentials for the management API.
type secrets struct{}

func (secrets) NewClientID() string       { return access.NewClientID() }
func (secrets) NewClientSecret() string   { return access.NewClientSecret() }
func (secrets) Hash(secret string) string { return access.HashSecret(secret) }

// serve starts a process on the lake.
func (l *lake) serve(t testing.TB, change ...func(*setup)) *site {
	t.Helper()
	s := setup{core: catalog.Deps{
		Store: l.db, Reports: l.db, Files: l.files, Locations: objects.Rules{},
		Inspector: reconcile.NewInspector(l.files, objects.WithinStrings),
		Now:       func() time.Time { return time.Now().UTC() }, ReservedPrefix: "sluice.", CacheBytes: 256 << 20,
	}}
	in := l.doors()
	admin := management.New(management.Deps{
		Store: l.db, Locations: objects.Rules{}, Secrets: secrets{}, Warehouses: []string{l.warehouse}, SecretOverlap: time.Hour, Now: time.Now,
	})
	s.api = api.Deps{
		Log:           slog.New(slog.DiscardHandler),
		Authenticator: in.auth, JWKS: in.keys, Denials: access.NewDenials(l.db, time.Now), Management: admin,
		Catalog: apicatalog.Deps{
			OAuth:       in.oauth,
			Idempotency: idempotency.New(idempotency.Deps{Store: l.db, Lifetime: time.Hour, Now: time.Now}),
		},
		Health: api.Health(),
	}
	s.feed = events.NewFeed(l.db, s.api.Log)
	t.Cleanup(s.feed.Close)
	for _, f := range change {
		f(&s)
	}
	core := catalog.New(s.core)
	s.api.Catalog.Resolver, s.api.Catalog.Namespaces, s.api.Catalog.Tables = core, core, core
	s.api.Catalog.Views, s.api.Catalog.Commits = core, core
	s.api.Catalog.Readable, s.api.Catalog.Metrics, s.api.Catalog.Storage = core, core, core
	s.api.Governance = governance.Deps{
		Tokens: access.NewTokens(l.db, time.Now), Policies: core, Tables: core, Records: core, Drops: core, Metrics: core, Explainer: admin, Findings: core, Writers: core,
		Checkpoints: audit.NewReader(l.db), Feed: s.feed,
		Webhooks: webhooks.New(webhooks.Deps{Store: l.db, Catalogs: l.db, Sealer: l.ring.For("webhooks"), Log: s.api.Log, Now: time.Now}),
	}
	s.api.Data = l.newData(core)
	server := httptest.NewServer(api.Router(s.api))
	t.Cleanup(server.Close)
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	return &site{lake: l, core: core, url: server.URL, client: client, writer: icebergtest.LocalFiles()}
}

// newSite is a fresh lake with one process and the namespace db.
func newSite(t testing.TB, change ...func(*setup)) *site {
	t.Helper()
	return newLake(t).site(t, change...)
}

// site serves a fresh lake and makes the namespace db.
func (l *lake) site(t testing.TB, change ...func(*setup)) *site {
	t.Helper()
	s := l.serve(t, change...)
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["db"]}`))
	return s
}

// reply is an answer with its body read.
type reply struct {
	*http.Response
	body []byte
}

// kind is the error type of a refusal.
func (r reply) kind() string {
	var v struct {
		Error struct{ Type, Message string }
	}
	_ = json.Unmarshal(r.body, &v)
	return v.Error.Type
}

func (r reply) into(t testing.TB, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(r.body, v), "body: %s", r.body)
}

// send asks for a path below /v1/main, with headers in pairs.
func (s *site) send(ctx context.Context, method, path, body string, header ...string) (reply, error) {
	return s.sendTo(ctx, method, s.url+prefix+path, body, header...)
}

func (s *site) sendTo(ctx context.Context, method, url, body string, header ...string) (reply, error) {
	var payload io.Reader
	if body != "" {
		payload = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, payload)
	if err != nil {
		return reply{}, err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return reply{answer, raw}, err
}

func (s *site) do(t testing.TB, method, path, body string, header ...string) reply {
	t.Helper()
	r, err := s.send(t.Context(), method, path, body, header...)
	require.NoError(t, err)
	return r
}

func (s *site) get(t testing.TB, path string, header ...string) reply {
	t.Helper()
	return s.do(t, "GET", path, "", header...)
}

func (s *site) post(t testing.TB, path, body string, header ...string) reply {
	t.Helper()
	return s.do(t, "POST", path, body, header...)
}

func (s *site) want(t testing.TB, status int, r reply) reply {
	t.Helper()
	require.Equal(t, status, r.StatusCode, "body: %s", r.body)
	return r
}

const columns = `{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"email","required":false,"type":"string"}]}`

func createBody(name string) string { return fmt.Sprintf(`{"name":%q,"schema":%s}`, name, columns) }

func tablePath(name string) string { return "/namespaces/db/tables/" + name }

func (s *site) create(t testing.TB, name string) {
	t.Helper()
	s.want(t, 200, s.post(t, "/namespaces/db/tables", createBody(name)))
}

// loaded is what a load or commit answers.
type loaded struct {
	MetadataLocation string          `json:"metadata-location"`
	Metadata         json.RawMessage `json:"metadata"`
}

func (s *site) load(t testing.TB, name string) loaded {
	t.Helper()
	var l loaded
	s.want(t, 200, s.get(t, tablePath(name))).into(t, &l)
	return l
}

func (s *site) table(t testing.TB, name string) icebergtest.Table {
	t.Helper()
	table, err := icebergtest.Parse(s.load(t, name).Metadata)
	require.NoError(t, err)
	return table
}

// append prepares an append of one file to what the table is now.
func (s *site) append(t testing.TB, name string) icebergtest.Commit {
	t.Helper()
	c, err := s.writer.Append(s.table(t, name), 1, 3)
	require.NoError(t, err)
	return c
}

// change is one table's part of a transaction.
func change(name string, c icebergtest.Commit) map[string]any {
	return map[string]any{
		"identifier":   map[string]any{"namespace": []string{"db"}, "name": name},
		"requirements": c.Requirements, "updates": c.Updates,
	}
}

func transaction(changes ...map[string]any) string {
	return toJSON(map[string]any{"table-changes": changes})
}

func toJSON(v any) string {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		panic(err) // maps of strings and raw JSON always encode
	}
	return strings.TrimSpace(b.String())
}

// metadataFiles gives the table metadata files of the whole warehouse.
func (s *site) metadataFiles(t testing.TB) []string {
	t.Helper()
	var found []string
	for _, depth := range []string{"*/*/metadata", "*/metadata", "*/*/*/metadata"} {
		files, err := filepath.Glob(filepath.Join(icebergtest.LocalPath(s.warehouse), depth, "*.metadata.json"))
		require.NoError(t, err)
		found = append(found, files...)
	}
	return found
}

func (s *site) audit(t testing.TB, kind models.AuditType) int {
	t.Helper()
	events, err := s.db.AuditEvents(t.Context(), models.AuditFilter{Type: kind, Limit: 10000})
	require.NoError(t, err)
	return len(events)
}
