package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func (h *harness) namespaces(t *testing.T, all ...[]string) {
	t.Helper()
	for _, levels := range all {
		_, err := h.CreateNamespace(context.Background(), h.root, h.cat, catalog.NamespaceInput{Levels: levels})
		must(t, err)
	}
}

func (h *harness) createIn(t *testing.T, name string, levels ...string) models.Table {
	t.Helper()
	view, err := h.CreateTable(context.Background(), h.root, h.cat, catalog.CreateTableInput{Namespace: levels, Name: name, Schema: json.RawMessage(schemaJSON)})
	must(t, err)
	return view.Row
}

// within gives the ids of the catalog and of a namespace with all above it.
func (h *harness) within(t *testing.T, levels ...string) []string {
	t.Helper()
	chain, err := h.store.NamespacePath(context.Background(), h.cat.ID, models.KeyOf(levels))
	must(t, err)
	ids := []string{h.cat.ID}
	for _, ns := range chain {
		ids = append(ids, ns.ID)
	}
	return ids
}

func deniedOf(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Denied
	}
	return ""
}

// all pages through a list and gives its items, checking that only the last page is short.
func all[T any](t *testing.T, limit int, list func(catalog.Page) (catalog.ListPage[T], error)) []T {
	t.Helper()
	var items []T
	page := catalog.Page{Limit: limit}
	for {
		got, err := list(page)
		must(t, err)
		items = append(items, got.Items...)
		if got.Next == "" {
			return items
		}
		if len(got.Items) != limit {
			t.Fatalf("a page has %d items and a next one", len(got.Items))
		}
		page.After = got.Next
	}
}

// Who holds rights on one table finds the way to it by listing, and nothing besides.
func TestB5RightsOnOneTable(t *testing.T) { // CASES B5
	h, ctx := newHarness(t), context.Background()
	h.namespaces(t, []string{"a"}, []string{"a", "b"}, []string{"a", "c"}, []string{"z"})
	for i := range 9 {
		h.createIn(t, fmt.Sprintf("t%d", i), "a", "b")
	}
	h.createIn(t, "t0", "a")
	h.createIn(t, "t0", "z")
	mine := h.createIn(t, "t5x", "a", "b")
	job := h.granted(mine.ID, h.within(t, "a", "b"), models.TableWriteData)

	namespaces := func(parent ...string) [][]string {
		return all(t, 1, func(p catalog.Page) (catalog.ListPage[[]string], error) {
			return h.ListNamespaces(ctx, job, h.cat, parent, p)
		})
	}
	tables := func(levels ...string) []models.TableIdent {
		return all(t, 1, func(p catalog.Page) (catalog.ListPage[models.TableIdent], error) {
			return h.ListTables(ctx, job, h.cat, levels, p)
		})
	}
	if got := fmt.Sprint(namespaces(), namespaces("a"), namespaces("a", "b"), tables("a"), tables("a", "b")); got != "[[a]] [[a b]] [] [] [a.b.t5x]" {
		t.Errorf("it sees %s", got)
	}
	for _, levels := range [][]string{{"a"}, {"a", "b"}} {
		must(t, h.NamespaceExists(ctx, job, h.cat, levels))
		_, err := h.LoadNamespace(ctx, job, h.cat, levels)
		wantCode(t, err, fault.Forbidden)
		if want := "lacks the privilege NAMESPACE_READ_PROPERTIES on namespace " + strings.Join(levels, ".") + "."; !strings.Contains(fault.PublicMessage(err), want) {
			t.Errorf("it says %q", fault.PublicMessage(err))
		}
	}
	for _, levels := range [][]string{{"a", "c"}, {"z"}} {
		_, load := h.LoadNamespace(ctx, job, h.cat, levels)
		_, list := h.ListTables(ctx, job, h.cat, levels, catalog.Page{})
		for _, err := range []error{load, list, h.NamespaceExists(ctx, job, h.cat, levels)} {
			wantCode(t, err, fault.NotFound)
		}
	}
	states, err := h.TableStates(ctx, job, "main", models.TableFilter{Limit: 1})
	must(t, err)
	if len(states.Items) != 1 || states.Items[0].Table.ID != mine.ID || states.Next != "" {
		t.Errorf("its tables are %+v", states)
	}
	_, err = h.LoadTable(ctx, job, h.cat, models.TableIdent{Namespace: []string{"a", "b"}, Name: "t5x"})
	must(t, err)
	_, err = h.CreateTable(ctx, job, h.cat, catalog.CreateTableInput{Namespace: []string{"a", "b"}, Name: "new", Schema: json.RawMessage(schemaJSON)})
	wantCode(t, err, fault.Forbidden)
}

// Lists of many objects, of which the caller sees some, come in full pages and miss none.
func TestB5PagesStayExact(t *testing.T) { // CASES B5
	h, ctx := newHarness(t), context.Background()
	var grants []policy.Grant
	var want []string
	within := h.within(t, "db")
	for i := range 40 {
		name := fmt.Sprintf("t%02d", i)
		row := h.createIn(t, name, "db")
		if i%3 == 0 {
			grants = append(grants, policy.Grant{ObjectID: row.ID, Privilege: models.TableReadProperties, Within: within})
			want = append(want, name)
		}
	}
	job := policy.Caller{Principal: "job", Held: policy.NewHeld(nil, grants)}
	for _, limit := range []int{1, 2, 7, 14, 100} {
		var got, stated []string
		for _, ident := range all(t, limit, func(p catalog.Page) (catalog.ListPage[models.TableIdent], error) {
			return h.ListTables(ctx, job, h.cat, []string{"db"}, p)
		}) {
			got = append(got, ident.Name)
		}
		for _, state := range all(t, limit, func(p catalog.Page) (catalog.ListPage[models.TableState], error) {
			return h.TableStates(ctx, job, "", models.TableFilter{After: p.After, Limit: p.Limit})
		}) {
			stated = append(stated, state.Table.Name)
		}
		slices.Sort(stated) // they are in order of ids
		if !slices.Equal(got, want) || !slices.Equal(stated, want) {
			t.Fatalf("with pages of %d it sees %v and %v, want %v", limit, got, stated, want)
		}
	}
	for _, name := range want {
		must(t, h.DropTable(ctx, h.root, h.cat, ident(name), false))
	}
	must(t, h.DropTable(ctx, h.root, h.cat, ident("t01"), false))
	drops := all(t, 3, func(p catalog.Page) (catalog.ListPage[catalog.DroppedView], error) {
		return h.DroppedTables(ctx, job, "", models.DroppedFilter{Before: p.After, Limit: p.Limit})
	})
	if len(drops) != len(want) || drops[0].CatalogName != "main" {
		t.Errorf("it sees %d drops of %d", len(drops), len(want))
	}
}

// A right on the table alone is enough for what it is a right to, whether or not the table can be listed.
func TestB10RightsOnTheTableAlone(t *testing.T) { // CASES B10
	h, ctx := newHarness(t), context.Background()
	dropped, governed := h.create(t, "events", models.OpenAppend), h.create(t, "governed", models.OpenAppend)
	within := h.within(t, "db")
	job := h.granted(dropped.Row.ID, within, models.TableDrop)
	wantCode(t, h.TableExists(ctx, job, h.cat, ident("events")), fault.NotFound)
	wantCode(t, h.DropTable(ctx, job, h.cat, ident("governed"), false), fault.NotFound)
	must(t, h.DropTable(ctx, job, h.cat, ident("events"), false))

	steward := h.granted(governed.Row.ID, within, models.CatalogManageAccess)
	_, err := h.SetWritePolicy(ctx, steward, "main.db.governed", models.OpenFull)
	must(t, err)
	_, err = h.SetWritePolicy(ctx, steward, governed.Row.UUID, models.OpenAppend)
	must(t, err)
	_, err = h.TableState(ctx, steward, "main.db.governed")
	wantCode(t, err, fault.NotFound)
}

// What is hidden is said not to exist in the words for what does not exist, and the audit is told why.
func TestB6HiddenIsAbsentToTheClient(t *testing.T) { // CASES B6
	h, ctx := newHarness(t), context.Background()
	h.namespaces(t, []string{"secret"})
	table := h.createIn(t, "table", "secret")
	h.create(t, "shown", models.OpenFull)
	h.createView(t, "view")
	h.create(t, "gone", models.OpenFull)
	drop := h.drop(t, "gone", false)
	must(t, h.store.CreateCatalog(ctx, models.Catalog{ID: uuid.NewString(), Name: "other", BaseLocation: h.cat.BaseLocation + "-other", DefaultWritePolicy: models.GovernedOnly, Version: 1}, nil,
		models.AuditEvent{EventID: uuid.NewString(), Type: models.AuditCatalogCreated}))
	job := h.granted(h.load(t, "shown").Row.ID, h.within(t, "db"), models.TableReadData)
	bound := h.root
	bound.CatalogID = h.cat.ID

	in := func(levels ...string) func(string) models.TableIdent {
		return func(name string) models.TableIdent { return models.TableIdent{Namespace: levels, Name: name} }
	}
	for _, c := range []struct {
		what, hidden, absent string
		ask                  func(name string) error
		why                  string
	}{
		{"table", "table", "nope", func(name string) error {
			_, err := h.LoadTable(ctx, job, h.cat, in("secret")(name))
			return err
		}, "Principal job lacks the privilege TABLE_LIST on table secret.table."},
		{"commit", "table", "nope", func(name string) error {
			_, err := h.CommitTable(ctx, job, h.cat, catalog.CommitInput{Table: in("secret")(name)})
			return err
		}, "Principal job lacks the privilege TABLE_LIST on table secret.table."},
		{"ref", "main.secret.table", "main.secret.nope", func(ref string) error {
			_, err := h.TableState(ctx, job, ref)
			return err
		}, "Principal job lacks the privilege TABLE_LIST on table secret.table."},
		{"uuid", table.UUID, uuid.NewString(), func(ref string) error {
			_, err := h.TableState(ctx, job, ref)
			return err
		}, "Principal job lacks the privilege TABLE_LIST on table secret.table."},
		{"view", "view", "nope", func(name string) error {
			_, err := h.LoadView(ctx, job, h.cat, in("db")(name))
			return err
		}, "Principal job lacks the privilege VIEW_LIST on view db.view."},
		{"namespace", "secret", "nope", func(name string) error {
			_, err := h.LoadNamespace(ctx, job, h.cat, []string{name})
			return err
		}, "Principal job lacks the privilege NAMESPACE_LIST on namespace secret."},
		{"default policy", "main.secret", "main.nope", func(ref string) error {
			return h.SetDefaultWritePolicy(ctx, job, ref, models.OpenFull)
		}, "Principal job lacks the privilege NAMESPACE_LIST on namespace secret."},
		{"drop", drop.ID, uuid.NewString(), func(id string) error { return h.ForgetTable(ctx, job, id) }, "Principal job lacks the privilege TABLE_LIST on the dropped table db.gone."},
		{"catalog", "other", "nope", func(name string) error { _, err := h.Resolve(ctx, job, name); return err }, "Principal job holds nothing on catalog other or in it."},
		{"catalog of another token", "other", "nope", func(name string) error { _, err := h.Resolve(ctx, bound, name); return err }, "The token does not open catalog other."},
	} {
		hidden, absent := c.ask(c.hidden), c.ask(c.absent)
		wantCode(t, hidden, fault.NotFound)
		wantCode(t, absent, fault.NotFound)
		if want := strings.ReplaceAll(fault.PublicMessage(absent), c.absent, c.hidden); fault.PublicMessage(hidden) != want {
			t.Errorf("%s: %q, and of what is absent %q", c.what, fault.PublicMessage(hidden), fault.PublicMessage(absent))
		}
		if deniedOf(hidden) != c.why || deniedOf(absent) != "" {
			t.Errorf("%s: the audit learns %q, and of what is absent %q", c.what, deniedOf(hidden), deniedOf(absent))
		}
	}
}

// A catalog is there for who holds anything in it, however deep, or manages the service.
func TestCatalogsAreSeenFromWithin(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	row := h.create(t, "events", models.OpenAppend).Row
	for name, c := range map[string]struct {
		caller policy.Caller
		seen   bool
	}{
		"a table of it":    {h.granted(row.ID, h.within(t, "db"), models.TableReadData), true},
		"the catalog":      {h.with(models.AuditRead), true},
		"another catalog":  {h.granted(uuid.NewString(), []string{uuid.NewString()}, models.CatalogManageContent), false},
		"nothing":          {policy.Caller{Principal: "job"}, false},
		"the service":      {policy.Caller{Principal: "admin", Held: policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, nil)}, true},
		"by its own token": {policy.Caller{Principal: "job", CatalogID: h.cat.ID}, false},
	} {
		_, err := h.Resolve(ctx, c.caller, "main")
		if fault.Is(err, fault.NotFound) == c.seen {
			t.Errorf("who holds %s: %v", name, err)
		}
	}
	// What the token itself names is no secret to who has it.
	cat, err := h.Resolve(ctx, policy.Caller{CatalogID: h.cat.ID}, "")
	must(t, err)
	if cat.Name != "main" {
		t.Errorf("the token's catalog is %q", cat.Name)
	}
	_, err = h.Resolve(ctx, policy.Caller{Principal: "job"}, "main")
	if want := "Warehouse main does not exist, or none of the roles of principal job sees anything in it."; fault.PublicMessage(err) != want {
		t.Errorf("it says %q", fault.PublicMessage(err))
	}
}

// A refused commit is in the audit once: who answers the client is told so.
func TestRefusedCommitsAreAuditedOnce(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	_, err := h.update(h.with(models.TableWriteData), "events", `{"action":"set-location","location":"file:///elsewhere"}`)
	wantCode(t, err, fault.Forbidden)
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || !e.Audited || len(h.audit(t, models.AuditCommitDenied)) != 1 {
		t.Errorf("the refusal is %+v with %d events", e, len(h.audit(t, models.AuditCommitDenied)))
	}
	_, err = h.LoadTable(context.Background(), h.with(models.TableList), h.cat, ident("events"))
	if e, _ := errors.AsType[*fault.Error](err); e == nil || e.Code != fault.Forbidden || e.Audited {
		t.Errorf("a load that is refused is not in the audit yet: %+v", e)
	}
}
