package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func versionJSON(dialect, sql string) string {
	return fmt.Sprintf(`{"version-id":1,"schema-id":-1,"timestamp-ms":1700000000000,"summary":{},"default-namespace":["db"],
		"representations":[{"type":"sql","sql":%q,"dialect":%q}]}`, sql, dialect)
}

func viewInput(name string) catalog.CreateViewInput {
	return catalog.CreateViewInput{
		Namespace: []string{"db"}, Name: name, Schema: json.RawMessage(schemaJSON),
		Version: json.RawMessage(versionJSON("spark", "SELECT * FROM events")),
	}
}

func (h *harness) createView(t *testing.T, name string) catalog.LoadedView {
	t.Helper()
	view, err := h.CreateView(context.Background(), h.root, h.cat, viewInput(name))
	must(t, err)
	return view
}

func replaceInput(t *testing.T, name string, requirements []string, updates ...string) catalog.ReplaceViewInput {
	t.Helper()
	reqs, err := metadata.DecodeViewRequirements(rawAll(requirements))
	must(t, err)
	ups, err := metadata.DecodeViewUpdates(rawAll(updates))
	must(t, err)
	return catalog.ReplaceViewInput{View: ident(name), Requirements: reqs, Updates: ups}
}

func rawAll(texts []string) []json.RawMessage {
	raw := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		raw[i] = json.RawMessage(text)
	}
	return raw
}

func (h *harness) replaceView(t *testing.T, caller policy.Caller, name string, updates ...string) (catalog.LoadedView, error) {
	t.Helper()
	return h.ReplaceView(context.Background(), caller, h.cat, replaceInput(t, name, nil, updates...))
}

func newQuery(sql string) []string {
	version := strings.Replace(versionJSON("spark", sql), `"schema-id":-1`, `"schema-id":0`, 1)
	return []string{
		`{"action":"add-view-version","view-version":` + version + `}`,
		`{"action":"set-current-view-version","view-version-id":-1}`,
	}
}

func (h *harness) query(t *testing.T, name string) string {
	t.Helper()
	view, err := h.LoadView(context.Background(), h.root, h.cat, ident(name))
	must(t, err)
	return view.Document.CurrentVersion().Representations[0].SQL
}

func TestViewLifecycle(t *testing.T) { // CASES I2
	h, ctx := newHarness(t), context.Background()
	created := h.createView(t, "top")
	if file, err := os.ReadFile(icebergtest.LocalPath(created.Row.MetadataLocation)); err != nil || string(file) != string(created.Document.Bytes()) {
		t.Fatalf("the metadata file has %q (%v)", file, err)
	}
	replaced, err := h.replaceView(t, h.root, "top", newQuery("SELECT 2")...)
	must(t, err)
	if replaced.Row.MetadataLocation == created.Row.MetadataLocation || metadata.MetadataLocationVersion(replaced.Row.MetadataLocation) != 1 {
		t.Fatalf("the replaced view is at %s", replaced.Row.MetadataLocation)
	}
	if got := h.query(t, "top"); got != "SELECT 2" {
		t.Fatalf("the view is %q", got)
	}
	moved := created.Document.Location() + "-moved"
	replaced, err = h.replaceView(t, h.root, "top", `{"action":"set-location","location":"`+moved+`"}`)
	must(t, err)
	if !strings.HasPrefix(replaced.Row.MetadataLocation, moved+"/metadata/") {
		t.Fatalf("after set-location the metadata goes to %s", replaced.Row.MetadataLocation)
	}
	same, err := h.replaceView(t, h.root, "top", `{"action":"set-location","location":"`+moved+`"}`)
	must(t, err)
	if same.Row.MetadataLocation != replaced.Row.MetadataLocation {
		t.Fatal("a commit without effect wrote a file")
	}
	_, err = h.CreateNamespace(ctx, h.root, h.cat, catalog.NamespaceInput{Levels: []string{"other"}})
	must(t, err)
	to := models.TableIdent{Namespace: []string{"other"}, Name: "renamed"}
	must(t, h.RenameView(ctx, h.root, h.cat, ident("top"), to))
	wantCode(t, h.ViewExists(ctx, h.root, h.cat, ident("top")), fault.NotFound)
	must(t, h.ViewExists(ctx, h.root, h.cat, to))
	wantCode(t, h.DropNamespace(ctx, h.root, h.cat, []string{"other"}), fault.NotEmpty)
	must(t, h.DropView(ctx, h.root, h.cat, to))
	wantCode(t, h.DropView(ctx, h.root, h.cat, to), fault.NotFound)
	must(t, h.DropNamespace(ctx, h.root, h.cat, []string{"other"}))

	again, err := h.RegisterView(ctx, h.root, h.cat, catalog.RegisterViewInput{
		Namespace: []string{"db"}, Name: "back", MetadataLocation: replaced.Row.MetadataLocation,
	})
	must(t, err)
	if again.Document.UUID() != created.Document.UUID() || again.Row.MetadataLocation != replaced.Row.MetadataLocation {
		t.Fatalf("registered %s at %s", again.Document.UUID(), again.Row.MetadataLocation)
	}
	for typ, n := range map[models.AuditType]int{
		models.AuditViewCreated: 1, models.AuditViewReplaced: 2, models.AuditViewRenamed: 1, models.AuditViewDropped: 1, models.AuditViewRegistered: 1,
	} {
		events := h.audit(t, typ)
		if len(events) != n || events[0].Principal != models.RootPrincipal || events[0].TableUUID != created.Document.UUID() {
			t.Errorf("%s: %+v", typ, events)
		}
	}
}

func TestNamesAreSharedByTablesAndViews(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	h.create(t, "table", models.OpenFull)
	h.createView(t, "view")
	h.createView(t, "second")
	_, viewOnTable := h.CreateView(ctx, h.root, h.cat, viewInput("table"))
	_, viewOnView := h.CreateView(ctx, h.root, h.cat, viewInput("view"))
	table := func(name string, stage bool) error {
		_, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{Namespace: []string{"db"}, Name: name, Schema: json.RawMessage(schemaJSON), Stage: stage})
		return err
	}
	register := func(name string) error {
		_, err := h.RegisterView(ctx, h.root, h.cat, catalog.RegisterViewInput{Namespace: []string{"db"}, Name: name, MetadataLocation: "file:///x"})
		return err
	}
	for _, c := range []struct {
		err  error
		says string
	}{
		{viewOnTable, "Table with same name already exists: db.table"},
		{viewOnView, "View already exists: db.view"},
		{table("view", false), "View with same name already exists: db.view"},
		{table("view", true), "View with same name already exists: db.view"},
		{table("table", true), "Table already exists: db.table"},
		{register("view"), "View already exists: db.view"},
		{register("table"), "Table with same name already exists: db.table"},
		{h.RenameView(ctx, h.root, h.cat, ident("view"), ident("second")), "Cannot rename db.view to db.second. View already exists"},
		{h.RenameView(ctx, h.root, h.cat, ident("view"), ident("table")), "Cannot rename db.view to db.table. Table already exists"},
		{h.RenameTable(ctx, h.root, h.cat, ident("table"), ident("view")), "Cannot rename db.table to db.view. View already exists"},
	} {
		wantCode(t, c.err, fault.AlreadyExists)
		if got := fault.PublicMessage(c.err); got != c.says {
			t.Errorf("%q, want %q", got, c.says)
		}
	}
	_, loadTable := h.LoadTable(ctx, h.root, h.cat, ident("view"))
	_, loadView := h.LoadView(ctx, h.root, h.cat, ident("table"))
	_, created := h.CreateView(ctx, h.root, h.cat, catalog.CreateViewInput{Namespace: []string{"nope"}, Name: "v"})
	for says, err := range map[string]error{
		"Table does not exist: db.view":       loadTable,
		"View does not exist: db.table":       loadView,
		"View does not exist: nope.v":         h.ViewExists(ctx, h.root, h.cat, models.TableIdent{Namespace: []string{"nope"}, Name: "v"}),
		"View does not exist: db.gone":        h.RenameView(ctx, h.root, h.cat, ident("gone"), ident("x")),
		"Namespace does not exist: nope":      created,
		"Namespace does not exist: elsewhere": h.RenameView(ctx, h.root, h.cat, ident("view"), models.TableIdent{Namespace: []string{"elsewhere"}, Name: "v"}),
	} {
		wantCode(t, err, fault.NotFound)
		if got := fault.PublicMessage(err); got != says {
			t.Errorf("%q, want %q", got, says)
		}
	}
}

// TestViewPrivileges: who lacks the privilege to see a view is told that it is not there, who sees it is told what is missing.
func TestViewPrivileges(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	calls := map[string]func(policy.Caller) error{
		"list": func(c policy.Caller) error {
			page, err := h.ListViews(ctx, c, h.cat, []string{"db"}, catalog.Page{})
			if err == nil && len(page.Items) == 0 {
				err = fault.New(fault.NotFound, "hidden")
			}
			return err
		},
		"exists": func(c policy.Caller) error { return h.ViewExists(ctx, c, h.cat, ident("v")) },
		"load":   func(c policy.Caller) error { _, err := h.LoadView(ctx, c, h.cat, ident("v")); return err },
		"create": func(c policy.Caller) error { _, err := h.CreateView(ctx, c, h.cat, viewInput("new")); return err },
		"replace": func(c policy.Caller) error {
			_, err := h.replaceView(t, c, "v", newQuery("SELECT "+c.TokenID)...)
			return err
		},
		"drop": func(c policy.Caller) error { return h.DropView(ctx, c, h.cat, ident("v")) },
	}
	const yes, no, hidden = fault.Code(""), fault.Forbidden, fault.NotFound
	for privilege, want := range map[models.Privilege]map[string]fault.Code{
		models.NamespaceList:       {"list": hidden, "exists": hidden, "load": hidden, "create": no, "replace": hidden, "drop": hidden},
		models.TableFullMetadata:   {"list": hidden, "exists": hidden, "load": hidden, "create": no, "replace": hidden, "drop": hidden},
		models.ViewList:            {"list": yes, "exists": yes, "load": no, "create": no, "replace": no, "drop": no},
		models.ViewReadProperties:  {"list": yes, "exists": yes, "load": yes, "create": no, "replace": no, "drop": no},
		models.ViewCreate:          {"list": yes, "exists": yes, "load": no, "create": yes, "replace": no, "drop": no},
		models.ViewWriteProperties: {"list": yes, "exists": yes, "load": yes, "create": no, "replace": yes, "drop": no},
		models.ViewFullMetadata:    {"list": yes, "exists": yes, "load": yes, "create": yes, "replace": yes, "drop": yes},
	} {
		for call, code := range want {
			h.createView(t, "v")
			if err := calls[call](h.with(privilege)); fault.CodeOf(err) != code {
				t.Errorf("%s with %s: %v, want %q", call, privilege, err, code)
			}
			for _, name := range []string{"v", "new"} {
				if err := h.DropView(ctx, h.root, h.cat, ident(name)); err != nil && !fault.Is(err, fault.NotFound) {
					t.Fatal(err)
				}
			}
		}
	}
	h.createView(t, "v")
	err := h.RenameView(ctx, h.with(models.ViewDrop, models.ViewList), h.cat, ident("v"), ident("w"))
	wantCode(t, err, fault.Forbidden)
	if !strings.Contains(fault.PublicMessage(err), "VIEW_CREATE") {
		t.Errorf("the refusal is %q", fault.PublicMessage(err))
	}
	must(t, h.RenameView(ctx, h.with(models.ViewDrop, models.ViewCreate), h.cat, ident("v"), ident("w")))
}

func TestReadOnlyTokenChangesNoView(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	h.createView(t, "v")
	caller := h.root
	caller.ReadOnly = true
	_, create := h.CreateView(ctx, caller, h.cat, viewInput("new"))
	_, replace := h.replaceView(t, caller, "v", newQuery("SELECT 2")...)
	_, register := h.RegisterView(ctx, caller, h.cat, catalog.RegisterViewInput{Namespace: []string{"db"}, Name: "new"})
	for _, err := range []error{
		create, replace, register, h.DropView(ctx, caller, h.cat, ident("v")), h.RenameView(ctx, caller, h.cat, ident("v"), ident("w")),
	} {
		wantCode(t, err, fault.Forbidden)
	}
	_, err := h.LoadView(ctx, caller, h.cat, ident("v"))
	must(t, err)
}

func TestViewCommitsThatAreRefused(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	view := h.createView(t, "v")
	table := h.create(t, "table", models.OpenFull)
	stale := replaceInput(t, "v", []string{`{"type":"assert-view-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"}`}, newQuery("SELECT 2")...)
	_, err := h.ReplaceView(ctx, h.root, h.cat, stale)
	wantCode(t, err, fault.Conflict)
	if !strings.HasPrefix(fault.PublicMessage(err), "Requirement failed: view UUID does not match") {
		t.Errorf("the conflict is %q", fault.PublicMessage(err))
	}
	for name, c := range map[string]struct {
		update string
		code   fault.Code
	}{
		"a location outside the catalog": {`{"action":"set-location","location":"file:///elsewhere"}`, fault.Forbidden},
		"a location in a table's folder": {`{"action":"set-location","location":"` + table.Document.Location() + `/data"}`, fault.Forbidden},
		"metadata outside the view":      {`{"action":"set-properties","updates":{"write.metadata.path":"file:///elsewhere"}}`, fault.Forbidden},
		"a reserved property":            {`{"action":"set-properties","updates":{"Sluice.write-policy":"open_full"}}`, fault.Forbidden},
		"another uuid":                   {`{"action":"assign-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"}`, fault.Invalid},
	} {
		if _, err := h.replaceView(t, h.root, "v", c.update); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	in := viewInput("dialects")
	in.Version = json.RawMessage(strings.Replace(versionJSON("trino", "SELECT 1"), `"representations":[`,
		`"representations":[{"type":"sql","sql":"SELECT 2","dialect":"trino"},`, 1))
	if _, err = h.CreateView(ctx, h.root, h.cat, in); fault.PublicMessage(err) != "Invalid view version: Cannot add multiple queries for dialect trino" {
		t.Errorf("two queries for a dialect: %v", err)
	}
	in = viewInput("outside")
	in.Location = "file:///elsewhere"
	_, err = h.CreateView(ctx, h.root, h.cat, in)
	wantCode(t, err, fault.Forbidden)
	after, err := h.LoadView(ctx, h.root, h.cat, ident("v"))
	must(t, err)
	if after.Row.MetadataLocation != view.Row.MetadataLocation {
		t.Error("a refused commit moved the pointer")
	}
}

func TestRegisterViewTakesOnlyViewMetadata(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	table := h.create(t, "table", models.OpenFull)
	register := func(location string) error {
		_, err := h.RegisterView(ctx, h.root, h.cat, catalog.RegisterViewInput{Namespace: []string{"db"}, Name: "v", MetadataLocation: location})
		return err
	}
	wantCode(t, register(table.MetadataLocation), fault.Invalid)
	wantCode(t, register("file:///elsewhere/00000-x.metadata.json"), fault.Forbidden)
	wantCode(t, register(table.Document.Location()+"/metadata/nope.metadata.json"), fault.NotFound)
	wantCode(t, h.ViewExists(ctx, h.root, h.cat, ident("v")), fault.NotFound)
}

// TestViewReplacementsRetryOnTheServer: two processes replace one view at once; every acknowledged change is there.
func TestViewReplacementsRetryOnTheServer(t *testing.T) {
	h := newHarness(t)
	h.createView(t, "v")
	services := []*catalog.Service{h.Service, newPeer(t, h)}
	var wg sync.WaitGroup
	for i := range 16 {
		in := replaceInput(t, "v", nil, fmt.Sprintf(`{"action":"set-properties","updates":{"k%d":"v"}}`, i))
		wg.Go(func() {
			if _, err := services[i%2].ReplaceView(context.Background(), h.root, h.cat, in); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	view, err := h.LoadView(context.Background(), h.root, h.cat, ident("v"))
	must(t, err)
	if n := len(view.Document.Properties()); n != 16 {
		t.Fatalf("%d properties, want 16", n)
	}
}

// faultyViews fails on demand what the store does to views.
type faultyViews struct {
	catalog.Store
	create, swap error
}

func (f *faultyViews) CreateView(ctx context.Context, v models.View, event models.AuditEvent) error {
	if f.create != nil {
		return f.create
	}
	return f.Store.CreateView(ctx, v, event)
}

func (f *faultyViews) SwapView(ctx context.Context, v models.View, event models.AuditEvent) error {
	if f.swap != nil {
		return f.swap
	}
	return f.Store.SwapView(ctx, v, event)
}

// TestFailuresAroundTheViewsSwap: a metadata file that may be current stays, one that is certainly not is removed.
func TestFailuresAroundTheViewsSwap(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		files int
	}{
		"the database is down":  {fault.New(fault.Unavailable, "down"), 1},
		"the swap is in doubt":  {fault.New(fault.UnknownState, "in doubt"), 2},
		"another kind of error": {fault.New(fault.Internal, "odd"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := &faultyViews{}
			h := newHarness(t, func(d *catalog.Deps) { f.Store, d.Store = d.Store, f })
			view := h.createView(t, "v")
			f.swap, f.create = c.err, c.err
			_, err := h.replaceView(t, h.root, "v", newQuery("SELECT 2")...)
			wantCode(t, err, fault.CodeOf(c.err))
			_, err = h.CreateView(context.Background(), h.root, h.cat, viewInput("w"))
			wantCode(t, err, fault.CodeOf(c.err))
			if got := h.query(t, "v"); got != "SELECT * FROM events" {
				t.Errorf("the pointer moved: the view is %q", got)
			}
			left, err := os.ReadDir(icebergtest.LocalPath(view.Document.Location()) + "/metadata")
			must(t, err)
			if len(left) != c.files {
				t.Errorf("%d metadata files, want %d", len(left), c.files)
			}
		})
	}
}

func TestGrantOnOneViewOpensThatViewAlone(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	mine := h.createView(t, "mine")
	h.createView(t, "theirs")
	caller := policy.Caller{Principal: "job", Held: policy.NewHeld(nil, []policy.Grant{{ObjectID: mine.Row.ID, Privilege: models.ViewReadProperties}})}
	_, err := h.LoadView(ctx, caller, h.cat, ident("mine"))
	must(t, err)
	_, err = h.LoadView(ctx, caller, h.cat, ident("theirs"))
	wantCode(t, err, fault.NotFound)
}
