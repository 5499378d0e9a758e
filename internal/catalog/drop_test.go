package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func drops(grace time.Duration, all bool) option {
	return func(d *catalog.Deps) { d.Drops = catalog.Drops{Grace: grace, PurgeAll: all} }
}

func (h *harness) drop(t *testing.T, name string, purge bool) models.DroppedTable {
	t.Helper()
	must(t, h.DropTable(context.Background(), h.root, h.cat, ident(name), purge))
	page, err := h.DroppedTables(context.Background(), h.root, "main", models.DroppedFilter{Limit: 1})
	must(t, err)
	if len(page.Items) != 1 || page.Items[0].Name != name || page.Items[0].CatalogName != "main" {
		t.Fatalf("the newest drop is %+v", page.Items)
	}
	return page.Items[0].DroppedTable
}

// A table that was dropped with PURGE, as Spark does it, is undropped and read in full.
func TestN1UndropAfterAPurgeRequest(t *testing.T) { // CASES N1
	h := newHarness(t, drops(time.Hour, false))
	ctx := context.Background()
	h.create(t, "events", models.OpenAppend)
	_, err := h.SetGovernance(ctx, h.root, "main.db.events", catalog.GovernanceInput{
		Level: models.Restricted, IdentityColumns: []string{"id"},
		Columns: map[string]models.ColumnGovernance{"email": {Sensitivity: models.Confidential, Mask: "hash"}},
	})
	must(t, err)
	c := h.append(t, "events", 3)
	view, err := h.commit(h.root, "events", c)
	must(t, err)
	dropped := h.drop(t, "events", true)
	if dropped.State != models.StateDropped || !dropped.PurgeRequested || dropped.PurgeAfter == nil || dropped.PurgeAfter.Before(time.Now().Add(50*time.Minute)) {
		t.Fatalf("the drop is %+v", dropped)
	}
	_, err = h.LoadTable(ctx, h.root, h.cat, ident("events"))
	wantCode(t, err, fault.NotFound)

	_, err = h.UndropTable(ctx, h.root, dropped.ID, nil)
	must(t, err)
	back := h.load(t, "events")
	if string(back.Document.Bytes()) != string(view.Document.Bytes()) || back.MetadataLocation != view.MetadataLocation {
		t.Error("the undropped table is not what it was")
	}
	if back.Row.Classification != models.Restricted || back.Row.WritePolicy != models.OpenAppend ||
		back.Row.Columns.V["email"].Mask != "hash" || !slices.Equal(back.Row.IdentityColumns.V, []string{"id"}) || back.Row.ID != view.Row.ID {
		t.Errorf("its governance is %+v", back.Row)
	}
	if _, err := os.Stat(icebergtest.LocalPath(c.ManifestList)); err != nil {
		t.Error(err)
	}
	_, err = h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	if events := h.audit(t, models.AuditTableUndropped); len(events) != 1 || events[0].Table != "db.events" {
		t.Errorf("the audit has %+v", events)
	}
}

func TestDropsWithoutPurgeKeepFilesForEver(t *testing.T) {
	for name, c := range map[string]struct {
		all, purge, due bool
	}{
		"a drop":                            {false, false, false},
		"a drop with purge":                 {false, true, true},
		"a drop where everything is purged": {true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, drops(0, c.all))
			h.create(t, "events", models.OpenAppend)
			if got := h.drop(t, "events", c.purge); (got.PurgeAfter != nil) != c.due {
				t.Errorf("it is purged after %v", got.PurgeAfter)
			}
			due, err := h.store.DuePurges(context.Background(), time.Now().Add(time.Second), "", 10)
			must(t, err)
			if (len(due) > 0) != c.due {
				t.Errorf("%d are due", len(due))
			}
		})
	}
}

func TestRecreatingANameAnyNumberOfTimes(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	locations := map[string]bool{}
	for range 4 {
		locations[h.create(t, "events", models.OpenAppend).Row.Location] = true
		h.drop(t, "events", false)
	}
	h.create(t, "events", models.OpenAppend)
	if len(locations) != 4 {
		t.Errorf("the tables lay at %v", slices.Sorted(maps.Keys(locations)))
	}
	page, err := h.DroppedTables(ctx, h.root, "", models.DroppedFilter{})
	must(t, err)
	if len(page.Items) != 4 {
		t.Fatalf("%d drops are known", len(page.Items))
	}
	_, err = h.UndropTable(ctx, h.root, page.Items[0].ID, nil)
	wantCode(t, err, fault.AlreadyExists)
	for i, d := range page.Items {
		state, err := h.UndropTable(ctx, h.root, d.ID, &models.TableIdent{Namespace: []string{"db"}, Name: fmt.Sprintf("events_%d", i)})
		must(t, err)
		if state.Table.Location != d.Location {
			t.Errorf("it is at %s", state.Table.Location)
		}
	}
}

func TestUndropNeedsRightsAndANamespace(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenAppend)
	d := h.drop(t, "events", false)
	for name, c := range map[string]struct {
		caller policy.Caller
		code   fault.Code
	}{
		"nothing":         {policy.Caller{Principal: "x", CanGovern: true, Held: policy.NewHeld(nil, nil)}, fault.NotFound},
		"create alone":    {h.with(models.TableCreate), fault.Forbidden},
		"drop alone":      {h.with(models.TableDrop, models.TableList), fault.Forbidden},
		"write":           {h.with(models.TableWriteData), fault.Forbidden},
		"another catalog": {func() policy.Caller { c := h.root; c.CatalogID = uuid.NewString(); return c }(), fault.NotFound},
		"read-only":       {func() policy.Caller { c := h.root; c.ReadOnly = true; return c }(), fault.Forbidden},
	} {
		_, err := h.UndropTable(ctx, c.caller, d.ID, nil)
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, h.DropNamespace(ctx, h.root, h.cat, []string{"db"}))
	_, err := h.UndropTable(ctx, h.root, d.ID, nil)
	wantCode(t, err, fault.NotFound)
	_, err = h.CreateNamespace(ctx, h.root, h.cat, catalog.NamespaceInput{Levels: []string{"other"}})
	must(t, err)
	_, err = h.UndropTable(ctx, h.with(models.TableCreate, models.TableDrop), d.ID, &models.TableIdent{Namespace: []string{"other"}, Name: "e"})
	must(t, err)
	_, err = h.UndropTable(ctx, h.root, d.ID, nil)
	if !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
		t.Errorf("undropped twice: %v", err)
	}
}

// What was granted on the table itself comes back with it, and goes to nothing else in between.
func TestGrantsComeBackWithTheTable(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	job := policy.Caller{Principal: "job", EngineToken: true, Held: policy.NewHeld(nil, []policy.Grant{
		{ObjectID: h.load(t, "events").Row.ID, Privilege: models.TableWriteData},
	})}
	d := h.drop(t, "events", false)
	h.create(t, "events", models.OpenAppend)
	_, err := h.commit(job, "events", h.append(t, "events", 1))
	wantCode(t, err, fault.NotFound)
	_, err = h.UndropTable(context.Background(), h.root, d.ID, &models.TableIdent{Namespace: []string{"db"}, Name: "back"})
	must(t, err)
	_, err = h.commit(job, "back", h.append(t, "back", 1))
	must(t, err)
}

func TestPurgeNeedsTheRightToWrite(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	dropper := h.with(models.TableDrop, models.TableList)
	wantCode(t, h.DropTable(context.Background(), dropper, h.cat, ident("events"), true), fault.Forbidden)
	must(t, h.DropTable(context.Background(), dropper, h.cat, ident("events"), false))
}

// Who may drop a table may not clear what protects it.
func TestN3ProtectionNeedsItsOwnPrivilege(t *testing.T) { // CASES N3
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenFull)
	location := h.load(t, "events").MetadataLocation
	etl := h.with(models.TableWriteData, models.TableDrop, models.TableFullMetadata, models.TableCreate, models.CatalogManageContent)
	etl.EngineToken = false
	_, err := h.SetProtection(ctx, etl, "main.db.events", true)
	wantCode(t, err, fault.Forbidden)
	state, err := h.SetProtection(ctx, h.with(models.CatalogManageAccess, models.TableReadProperties), "main.db.events", true)
	must(t, err)
	if !state.Table.Protected {
		t.Error("it is not shown as protected")
	}
	_, clearErr := h.SetProtection(ctx, etl, "main.db.events", false)
	_, unregisterErr := h.UnregisterTable(ctx, etl, h.cat, ident("events"))
	_, overwriteErr := h.RegisterTable(ctx, etl, h.cat, catalog.RegisterInput{Namespace: []string{"db"}, Name: "events", MetadataLocation: location, Overwrite: true})
	for what, err := range map[string]error{
		"clear": clearErr, "unregister": unregisterErr, "register over": overwriteErr,
		"drop":  h.DropTable(ctx, h.root, h.cat, ident("events"), false),
		"purge": h.DropTable(ctx, h.root, h.cat, ident("events"), true),
	} {
		if !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", what, err)
		} else if what != "clear" && !strings.Contains(fault.PublicMessage(err), "CATALOG_MANAGE_ACCESS") {
			t.Errorf("%s does not say who may clear it: %v", what, err)
		}
	}
	must(t, h.RenameTable(ctx, h.root, h.cat, ident("events"), ident("moved")))
	_, err = h.commit(h.root, "moved", h.append(t, "moved", 1))
	must(t, err)
	_, err = h.SetProtection(ctx, h.root, "main.db.moved", false)
	must(t, err)
	must(t, h.DropTable(ctx, h.root, h.cat, ident("moved"), false))
	if n := len(h.audit(t, models.AuditProtectionChanged)); n != 2 {
		t.Errorf("%d changes are in the audit", n)
	}
}

// A staged create under the uuid of a dropped table would give two tables one history.
func TestADroppedUUIDIsNotFree(t *testing.T) {
	h := newHarness(t)
	view := h.create(t, "events", models.OpenFull)
	h.drop(t, "events", false)
	in := input("twin", []json.RawMessage{json.RawMessage(`{"type":"assert-create"}`)}, []json.RawMessage{
		json.RawMessage(`{"action":"assign-uuid","uuid":"` + view.Row.UUID + `"}`),
		json.RawMessage(`{"action":"upgrade-format-version","format-version":2}`),
		json.RawMessage(`{"action":"add-schema","schema":` + schemaJSON + `,"last-column-id":2}`),
		json.RawMessage(`{"action":"set-current-schema","schema-id":-1}`),
		json.RawMessage(`{"action":"add-spec","spec":{"spec-id":0,"fields":[]}}`),
		json.RawMessage(`{"action":"set-default-spec","spec-id":-1}`),
		json.RawMessage(`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`),
		json.RawMessage(`{"action":"set-default-sort-order","sort-order-id":-1}`),
		json.RawMessage(`{"action":"set-location","location":"` + h.cat.BaseLocation + `/db/twin"}`),
	})
	_, err := h.CommitTable(context.Background(), h.root, h.cat, in)
	wantCode(t, err, fault.Invalid)
}

func TestForgottenTablesFreeTheirLocation(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	location := h.create(t, "events", models.OpenAppend).Row.Location
	d := h.drop(t, "events", false)
	again := catalog.CreateTableInput{Namespace: []string{"db"}, Name: "again", Location: location, Schema: json.RawMessage(schemaJSON)}
	_, err := h.CreateTable(ctx, h.root, h.cat, again)
	wantCode(t, err, fault.Forbidden)
	if !strings.Contains(fault.PublicMessage(err), "db.events (dropped)") {
		t.Errorf("the refusal says %q", fault.PublicMessage(err))
	}
	wantCode(t, h.ForgetTable(ctx, h.with(models.TableList), d.ID), fault.Forbidden)
	must(t, h.ForgetTable(ctx, h.root, d.ID))
	_, err = h.CreateTable(ctx, h.root, h.cat, again)
	must(t, err)
	_, err = h.UndropTable(ctx, h.root, d.ID, nil)
	wantCode(t, err, fault.Conflict)
}

// Where the operator lets files lie anywhere, a folder may have one table after another, as test kits make them.
func TestAnyLocationLetsDroppedTablesShareAFolder(t *testing.T) {
	h := newHarness(t, func(d *catalog.Deps) { d.AnyLocation = true })
	in := catalog.CreateTableInput{Namespace: []string{"db"}, Name: "events", Location: h.cat.BaseLocation + "/fixed", Schema: json.RawMessage(schemaJSON)}
	for range 3 {
		view, err := h.CreateTable(context.Background(), h.root, h.cat, in)
		must(t, err)
		if !view.Row.ForeignFiles {
			t.Error("a purge would take the folder for the table's alone")
		}
		h.drop(t, "events", true)
	}
}
