package catalog_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

const schemaJSON = `{"type":"struct","schema-id":0,"identifier-field-ids":[],"fields":[
 {"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"email","required":false,"type":"string"}]}`

// harness is the commit core over a real SQLite file and a real warehouse folder.
type harness struct {
	*catalog.Service
	store   *store.Store
	objects *objects.Router
	cat     models.Catalog
	root    policy.Caller
	client  icebergtest.Writer
}

type option func(*catalog.Deps)

func newHarness(t *testing.T, options ...option) *harness {
	t.Helper()
	ctx, dir := context.Background(), t.TempDir()
	db, err := store.Open(ctx, store.Config{URL: filepath.Join(dir, "sluice.db") + "?synchronous=normal"})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	must(t, store.Migrate(ctx, db))
	warehouse := "file://" + filepath.Join(dir, "warehouse")
	files, err := objects.Open(ctx, objects.Config{Roots: []string{warehouse}})
	must(t, err)
	t.Cleanup(func() { _ = files.Close() })
	boot, _ := access.NewBootstrap("main", []string{warehouse}, models.GovernedOnly, time.Now().UTC())
	must(t, db.Bootstrap(ctx, boot))

	deps := catalog.Deps{
		Store: db, Reports: db, Files: files, Locations: objects.Rules{},
		Inspector: reconcile.NewInspector(files, objects.WithinStrings),
		Now:       func() time.Time { return time.Now().UTC() }, ReservedPrefix: "sluice.", CacheBytes: 64 << 20,
	}
	for _, o := range options {
		o(&deps)
	}
	h := &harness{Service: catalog.New(deps), store: db, objects: files, client: icebergtest.LocalFiles()}
	h.cat, err = db.CatalogByName(ctx, "main")
	must(t, err)
	h.root = h.caller(t, models.RootPrincipal)
	_, err = h.CreateNamespace(ctx, h.root, h.cat, catalog.NamespaceInput{Levels: []string{"db"}})
	must(t, err)
	return h
}

func (h *harness) caller(t *testing.T, principal string) policy.Caller {
	t.Helper()
	p, err := h.store.PrincipalByName(context.Background(), principal)
	must(t, err)
	roles, err := h.store.RolesOfPrincipal(context.Background(), p.ID)
	must(t, err)
	ids := make([]string, len(roles))
	for i, r := range roles {
		ids[i] = r.ID
	}
	grants, err := h.store.GrantsOfRoles(context.Background(), ids)
	must(t, err)
	return policy.Caller{
		PrincipalID: p.ID, Principal: p.Name, Clearance: p.Clearance, TokenID: "t1", CanGovern: true,
		Held: policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, grants), Origin: policy.Origin{RequestID: "r1"},
	}
}

// with gives a caller who holds only the privileges, on the whole catalog.
func (h *harness) with(privileges ...models.Privilege) policy.Caller {
	return h.granted(h.cat.ID, nil, privileges...)
}

// granted gives a caller who holds only the privileges, on the object of an id that lies in the others.
func (h *harness) granted(id string, within []string, privileges ...models.Privilege) policy.Caller {
	var grants []policy.Grant
	for _, p := range privileges {
		grants = append(grants, policy.Grant{ObjectID: id, Privilege: p, Within: within})
	}
	return policy.Caller{Principal: "job", PrincipalID: "p-job", TokenID: "t-job", EngineToken: true, CanGovern: true, Clearance: models.Internal, Held: policy.NewHeld(nil, grants)}
}

func ident(name string) models.TableIdent {
	return models.TableIdent{Namespace: []string{"db"}, Name: name}
}

func (h *harness) create(t *testing.T, name string, p models.WritePolicy) catalog.TableView {
	t.Helper()
	ctx := context.Background()
	_, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{Namespace: []string{"db"}, Name: name, Schema: json.RawMessage(schemaJSON)})
	must(t, err)
	_, err = h.SetWritePolicy(ctx, h.root, "main.db."+name, p)
	must(t, err)
	return h.load(t, name)
}

func (h *harness) load(t *testing.T, name string) catalog.TableView {
	t.Helper()
	view, err := h.LoadTable(context.Background(), h.root, h.cat, ident(name))
	must(t, err)
	return view
}

func (h *harness) table(t *testing.T, name string) icebergtest.Table {
	t.Helper()
	table, err := icebergtest.Parse(h.load(t, name).Document.Bytes())
	must(t, err)
	return table
}

// append prepares an append of one file with rows rows to what the table is now.
func (h *harness) append(t *testing.T, name string, rows int64) icebergtest.Commit {
	t.Helper()
	c, err := h.client.Append(h.table(t, name), 1, rows)
	must(t, err)
	return c
}

func (h *harness) commit(caller policy.Caller, name string, c icebergtest.Commit) (catalog.TableView, error) {
	return h.CommitTable(context.Background(), caller, h.cat, input(name, c.Requirements, c.Updates))
}

func (h *harness) update(caller policy.Caller, name string, updates ...string) (catalog.TableView, error) {
	raw := make([]json.RawMessage, len(updates))
	for i, u := range updates {
		raw[i] = json.RawMessage(u)
	}
	decoded, err := metadata.DecodeUpdates(raw)
	if err != nil {
		return catalog.TableView{}, err
	}
	return h.CommitTable(context.Background(), caller, h.cat, catalog.CommitInput{Table: ident(name), Updates: decoded})
}

func input(name string, requirements, updates []json.RawMessage) catalog.CommitInput {
	reqs, err := metadata.DecodeRequirements(requirements)
	if err != nil {
		panic(err)
	}
	ups, err := metadata.DecodeUpdates(updates)
	if err != nil {
		panic(err)
	}
	return catalog.CommitInput{Table: ident(name), Requirements: reqs, Updates: ups}
}

func (h *harness) audit(t *testing.T, typ models.AuditType) []models.AuditEvent {
	t.Helper()
	events, err := h.store.AuditEvents(context.Background(), models.AuditFilter{Type: typ, Limit: 1000})
	must(t, err)
	return events
}

// outbox gives the events that wait to be dispatched.
func (h *harness) outbox(t *testing.T) []models.OutboxEvent {
	t.Helper()
	events, err := h.store.ClaimEvents(t.Context(), "test", time.Minute, 100, 0)
	must(t, err)
	ids := make([]int64, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	must(t, h.store.ReleaseEvents(t.Context(), "test", ids))
	return events
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Fatalf("the error is %q (%v), want %q", fault.CodeOf(err), err, code)
	}
}
