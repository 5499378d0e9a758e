package dataplane_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/models"
)

// readLake is a real catalog over a SQLite file and a folder, with tables whose files the tests write, and the data plane
// over it.
type readLake struct {
	t        testing.TB
	db       *store.Store
	files    *objects.Router
	core     *catalog.Service
	cat      models.Catalog
	io       *tableio.IO
	data     *dataplane.Service
	registry *prometheus.Registry

	catalogDeps catalog.Deps // of core, and of other processes

	mu   sync.Mutex
	now  time.Time
	runs time.Time // since when the clock runs; zero while it stands
}

func (l *readLake) time() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs.IsZero() {
		return l.now
	}
	return l.now.Add(time.Since(l.runs))
}

func (l *readLake) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

func generousLimits() dataplane.Limits {
	return dataplane.Limits{
		Memory: 256 << 20, Rows: 1000, AnswerBytes: 64 << 20, RequestBytes: 64 << 20, Timeout: time.Minute, Concurrency: 4, SplitAfter: 1 << 30,
	}
}

func newReadLake(t testing.TB, change ...func(*dataplane.Deps)) *readLake {
	t.Helper()
	return readLakeOn(t, filepath.Join(t.TempDir(), "sluice.db")+"?synchronous=normal", change...)
}

func readLakeOn(t testing.TB, url string, change ...func(*dataplane.Deps)) *readLake {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	l := &readLake{t: t, now: time.Now().UTC(), registry: prometheus.NewRegistry()}
	db, err := store.Open(ctx, store.Config{URL: url, Now: l.time})
	require.NoError(t, err)
	l.db = db
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, store.Migrate(ctx, db))
	warehouse := "file://" + filepath.Join(dir, "warehouse")
	boot, _ := access.NewBootstrap("main", []string{warehouse}, models.OpenFull, time.Now().UTC())
	require.NoError(t, db.Bootstrap(ctx, boot))
	l.files, err = objects.Open(ctx, objects.Config{Roots: []string{warehouse}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.files.Close() })
	l.catalogDeps = catalog.Deps{
		Store: db, Reports: db, Files: l.files, Locations: objects.Rules{}, Inspector: reconcile.NewInspector(l.files, objects.WithinStrings),
		Now: l.time, ReservedPrefix: "sluice.", CacheBytes: 64 << 20,
	}
	l.core = catalog.New(l.catalogDeps)
	l.cat, err = db.CatalogByName(ctx, "main")
	require.NoError(t, err)
	l.io = tableio.New(l.core, l.files, l.time)
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	deps := dataplane.Deps{
		Catalog: l.core, Store: db, Tokens: ring.For("page-token"), Secrets: ring.For("data-key"), Limits: generousLimits(), Now: l.time,
		Reader:  tableread.New(l.files, scan.New(l.files), tableread.Options{Memory: 256 << 20, Workers: 1}),
		Metrics: l.registry,
	}
	deps.IO = l.io
	for _, f := range change {
		f(&deps)
	}
	l.data = dataplane.New(deps)
	_, err = l.core.CreateNamespace(ctx, l.owner(), l.cat, catalog.NamespaceInput{Levels: []string{"sales"}})
	require.NoError(t, err)
	return l
}

// holding is a principal that holds privileges on the catalog, with a clearance and principal roles.
func (l *readLake) holding(name string, clearance models.Classification, roles []string, privileges ...models.Privilege) policy.Caller {
	grants := make([]policy.Grant, len(privileges))
	for i, p := range privileges {
		grants[i] = policy.Grant{Privilege: p, ObjectID: l.cat.ID}
	}
	return policy.Caller{
		PrincipalID: "id-of-" + name, Principal: name, TokenID: "token-of-" + name, Clearance: clearance, RoleNames: roles,
		CanGovern: true, Held: policy.NewHeld(nil, grants),
	}
}

// owner may do and see everything, but for what row filters hide.
func (l *readLake) owner(roles ...string) policy.Caller {
	return l.holding("root", models.Restricted, roles, models.CatalogManageContent, models.CatalogManageAccess, models.TableGovern, models.DataRead, models.DataWrite, models.AuditRead)
}

// analyst may read, up to what is internal.
func (l *readLake) analyst(roles ...string) policy.Caller {
	return l.holding("ana", models.Internal, roles, models.DataRead)
}

func ident(name string) models.TableIdent {
	return models.TableIdent{Namespace: []string{"sales"}, Name: name}
}

// create makes a table; fields are those of an Iceberg schema.
func (l *readLake) create(name, fields string, more ...string) {
	l.t.Helper()
	extra := ""
	if len(more) > 0 {
		extra = "," + more[0]
	}
	_, err := l.core.CreateTable(l.t.Context(), l.owner(), l.cat, catalog.CreateTableInput{
		Namespace: []string{"sales"}, Name: name, Schema: json.RawMessage(`{"type":"struct","schema-id":0,"fields":[` + fields + `]` + extra + `}`),
	})
	require.NoError(l.t, err)
}

func (l *readLake) load(name string) catalog.TableView {
	l.t.Helper()
	view, err := l.core.LoadTable(l.t.Context(), l.owner(), l.cat, ident(name))
	require.NoError(l.t, err)
	return view
}

// add appends files, one of each JSON array of rows, in one commit, and gives its snapshot.
func (l *readLake) add(name string, files ...string) int64 {
	l.t.Helper()
	ctx, base := l.t.Context(), l.load(name).Document
	d := tableio.Delta{Table: ident(name), Base: base}
	current, err := base.CurrentSchema()
	require.NoError(l.t, err)
	schema, err := columnar.FromMetadata(current)
	require.NoError(l.t, err)
	for i, text := range files {
		w, err := l.io.NewFileWriter(ctx, base, tableio.FileOptions{Name: fmt.Sprintf("%03d-%03d", base.LastSequenceNumber(), i)})
		require.NoError(l.t, err)
		r, err := rows.NewReader(strings.NewReader(text), rows.JSON, schema, rows.ReadOptions{})
		require.NoError(l.t, err)
		for {
			batch, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(l.t, err)
			require.Empty(l.t, batch.Bad)
			require.NoError(l.t, w.Write(batch.Rows))
			batch.Release()
		}
		written, err := w.Close()
		require.NoError(l.t, err)
		d.Adds = append(d.Adds, written)
	}
	staged, err := l.io.Stage(ctx, d)
	require.NoError(l.t, err)
	_, err = l.core.CommitTable(ctx, l.owner(), l.cat, staged.Input)
	require.NoError(l.t, err)
	return staged.SnapshotID
}

// change commits metadata updates.
func (l *readLake) change(name string, updates ...string) {
	l.t.Helper()
	raw := make([]json.RawMessage, len(updates))
	for i, u := range updates {
		raw[i] = json.RawMessage(u)
	}
	parsed, err := metadata.DecodeUpdates(raw)
	require.NoError(l.t, err)
	_, err = l.core.CommitTable(l.t.Context(), l.owner(), l.cat, catalog.CommitInput{Table: ident(name), Updates: parsed})
	require.NoError(l.t, err)
}

// govern says how sensitive a table and its columns are.
func (l *readLake) govern(name string, level models.Classification, identity []string, columns map[string]models.ColumnGovernance) {
	l.t.Helper()
	_, err := l.core.SetGovernance(l.t.Context(), l.owner(), "main.sales."+name, catalog.GovernanceInput{Level: level, IdentityColumns: identity, Columns: columns})
	require.NoError(l.t, err)
}

// got is an answer to a query.
type got struct {
	head dataplane.Head
	body bytes.Buffer
}

// Begin implements dataplane.Sink.
func (g *got) Begin(h dataplane.Head) (io.Writer, error) { g.head = h; return &g.body, nil }

func (l *readLake) query(caller policy.Caller, name string, in dataplane.QueryInput) (*got, error) {
	l.t.Helper()
	return l.queryIn(l.t.Context(), caller, name, in)
}

func (l *readLake) queryIn(ctx context.Context, caller policy.Caller, name string, in dataplane.QueryInput) (*got, error) {
	if in.Format == "" {
		in.Format = rows.JSON
	}
	g := &got{}
	err := l.data.Query(ctx, caller, "main.sales."+name, in, g)
	return g, err
}

// rowsOf gives the rows of an answer in JSON, each as compact text.
func (g *got) rowsOf(t testing.TB) []string {
	t.Helper()
	var body struct {
		Rows []json.RawMessage `json:"rows"`
	}
	require.NoError(t, json.Unmarshal(g.body.Bytes(), &body), g.body.String())
	out := []string{}
	for _, r := range body.Rows {
		out = append(out, string(r))
	}
	return out
}

func (l *readLake) rows(caller policy.Caller, name string, in dataplane.QueryInput) []string {
	l.t.Helper()
	g, err := l.query(caller, name, in)
	require.NoError(l.t, err)
	return g.rowsOf(l.t)
}

// refused checks that an error has a code and says something.
func refused(t *testing.T, err error, code fault.Code, says string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, fault.CodeOf(err), err.Error())
	require.Contains(t, fault.PublicMessage(err), says)
}
