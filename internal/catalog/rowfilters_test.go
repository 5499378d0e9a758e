package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// role makes a principal role.
func (h *harness) role(t *testing.T, name string) {
	t.Helper()
	must(t, h.store.CreatePrincipalRole(context.Background(), models.PrincipalRole{ID: uuid.NewString(), Name: name, Version: 1},
		models.AuditEvent{EventID: uuid.NewString(), Type: models.AuditPrincipalRoleCreated, Principal: "root", Allowed: true}))
}

func (h *harness) filter(t *testing.T, table, role, filter string) []models.RowFilter {
	t.Helper()
	filters, err := h.SetRowFilter(context.Background(), h.root, "main.db."+table, role, &filter)
	must(t, err)
	return filters
}

func TestRowFiltersAreKeptInOrderAndAudited(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	for _, role := range []string{"us", "eu"} {
		h.role(t, role)
	}
	before := h.load(t, "orders").MetadataLocation
	h.filter(t, "orders", "us", "email LIKE 'u%'")
	h.filter(t, "orders", "eu", " id > 7 AND email IS NOT NULL ")
	h.filter(t, "orders", "eu", "id > 7 AND email IS NOT NULL") // the same
	h.filter(t, "orders", "us", "TRUE")
	got, err := h.RowFilters(ctx, h.root, "main.db.orders")
	must(t, err)
	if len(got) != 2 || got[0].Role != "eu" || got[0].Filter != "id > 7 AND email IS NOT NULL" || got[1].Role != "us" || string(got[1].Expression) != "true" {
		t.Fatalf("the filters are %+v", got)
	}
	if columns := got[0].Columns(); !reflect.DeepEqual(columns, []string{"email", "id"}) {
		t.Errorf("the first names %v", columns)
	}
	if h.load(t, "orders").MetadataLocation != before {
		t.Error("row filters are told to who reads the table's metadata")
	}
	if _, err = h.SetRowFilter(ctx, h.root, "main.db.orders", "us", nil); err != nil {
		t.Fatal(err)
	}
	_, err = h.SetRowFilter(ctx, h.root, "main.db.orders", "us", nil)
	wantCode(t, err, fault.NotFound)

	var changes []string
	for _, e := range h.audit(t, models.AuditRowFiltersChanged) { // newest first
		if e.Table != "db.orders" || e.Principal != models.RootPrincipal {
			t.Errorf("the event is about %s by %s", e.Table, e.Principal)
		}
		changes = append(changes, fmt.Sprint(e.Details.V["role"], ": ", e.Details.V["from"], " -> ", e.Details.V["to"]))
	}
	want := []string{"us: TRUE -> <nil>", "us: email LIKE 'u%' -> TRUE", "eu: <nil> -> id > 7 AND email IS NOT NULL", "us: <nil> -> email LIKE 'u%'"}
	if !reflect.DeepEqual(changes, want) {
		t.Errorf("the audit says %q", changes)
	}
}

func TestRowFiltersThatCannotBeAreRefused(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	h.role(t, "eu")
	for says, c := range map[string]struct {
		role, filter string
		code         fault.Code
	}{
		"no principal role \"e u\"": {"e u", "id = 1", fault.NotFound},
		"is empty":                  {"eu", "  ", fault.Invalid},
		"region":                    {"eu", "region = 'EU'", fault.Invalid},
		"character":                 {"eu", "id = ", fault.Invalid},
		"id":                        {"eu", "id = 'x'", fault.Invalid},
	} {
		_, err := h.SetRowFilter(ctx, h.root, "main.db.orders", c.role, &c.filter)
		wantCode(t, err, c.code)
		if !strings.Contains(fault.PublicMessage(err), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	weak := h.with(models.TableReadProperties)
	every := "TRUE"
	_, err := h.SetRowFilter(ctx, weak, "main.db.orders", "eu", &every)
	wantCode(t, err, fault.Forbidden)
	_, err = h.RowFilters(ctx, weak, "main.db.orders")
	wantCode(t, err, fault.Forbidden)
	_, err = h.SetRowFilter(ctx, h.root, "main.db.nope", "eu", &every)
	wantCode(t, err, fault.NotFound)
	if n := len(h.audit(t, models.AuditRowFiltersChanged)); n != 0 {
		t.Errorf("%d changes", n)
	}
}

// What row filters let through tells of values: who may not set them does not read them either.
func TestRowFiltersAreShownToWhoMayReadThem(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	h.role(t, "eu")
	h.filter(t, "orders", "eu", "email = 'ann@example.com'")
	for _, c := range []struct {
		who  policy.Caller
		want int
	}{{h.root, 1}, {h.with(models.TableReadProperties), 0}} {
		state, err := h.TableState(ctx, c.who, "main.db.orders")
		must(t, err)
		page, err := h.TableStates(ctx, c.who, "main", models.TableFilter{Limit: 10})
		must(t, err)
		if len(state.Table.RowFilters.V) != c.want || len(page.Items) != 1 || len(page.Items[0].Table.RowFilters.V) != c.want {
			t.Errorf("%s sees %+v", c.who.Principal, state.Table.RowFilters.V)
		}
	}
}

// Files have all rows. Who does not see all of them reads none, whatever it holds.
func TestFilteredCallersReadNoFiles(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	for _, role := range []string{"eu", "auditors"} {
		h.role(t, role)
	}
	h.filter(t, "orders", "eu", "id > 7")
	h.filter(t, "orders", "auditors", "TRUE OR id = 3")
	for _, c := range []struct {
		roles []string
		code  fault.Code
	}{
		{nil, fault.Forbidden}, {[]string{"eu"}, fault.Forbidden}, {[]string{"others"}, fault.Forbidden}, {[]string{"auditors", "eu"}, ""},
	} {
		for _, who := range []policy.Caller{h.root, h.with(models.TableWriteData)} {
			who.RoleNames = c.roles
			_, err := h.ReadTable(ctx, who, h.cat, ident("orders"))
			wantCode(t, err, c.code)
			if err != nil && !strings.Contains(fault.PublicMessage(err), "row filters") {
				t.Errorf("the refusal does not say why: %v", err)
			}
		}
	}
}

// A filter is kept by the names of its columns.
func TestColumnsOfRowFiltersStay(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenFull)
	h.role(t, "eu")
	h.filter(t, "orders", "eu", "email IS NULL")
	engine := h.with(models.CatalogManageContent)
	rename := `{"action":"add-schema","schema":{"type":"struct","schema-id":1,"fields":[
		{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"mail","required":false,"type":"string"}]},"last-column-id":2}`
	current := `{"action":"set-current-schema","schema-id":-1}`
	_, err := h.update(engine, "orders", rename, current)
	wantCode(t, err, fault.Forbidden)
	if !strings.Contains(fault.PublicMessage(err), "row filter") {
		t.Errorf("the refusal does not say why: %v", err)
	}
	if _, err := h.SetRowFilter(ctx, h.root, "main.db.orders", "eu", nil); err != nil {
		t.Fatal(err)
	}
	_, err = h.update(engine, "orders", rename, current)
	must(t, err)
}

// Filters that are set at one time are all kept, and so is what else governance says then.
func TestChangesOfGovernanceAtOneTimeAreAllKept(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	const roles = 8
	for i := range roles {
		h.role(t, fmt.Sprint("role", i))
	}
	var wg sync.WaitGroup
	errs := make([]error, 2*roles)
	for i := range roles {
		wg.Go(func() {
			filter := fmt.Sprint("id = ", i)
			_, errs[2*i] = h.SetRowFilter(ctx, h.root, "main.db.orders", fmt.Sprint("role", i), &filter)
		})
		wg.Go(func() {
			_, errs[2*i+1] = h.SetGovernance(ctx, h.root, "main.db.orders", catalog.GovernanceInput{Columns: map[string]models.ColumnGovernance{"email": {Tag: fmt.Sprint(i)}}})
		})
	}
	wg.Wait()
	for _, err := range errs {
		must(t, err)
	}
	filters, err := h.RowFilters(ctx, h.root, "main.db.orders")
	must(t, err)
	if len(filters) != roles {
		t.Errorf("%d filters are kept", len(filters))
	}
}

func TestARegisteredTableKeepsItsRowFilters(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	h.role(t, "eu")
	h.filter(t, "orders", "eu", "id > 7")
	location := h.load(t, "orders").MetadataLocation
	must(t, h.DropTable(ctx, h.root, h.cat, ident("orders"), false))
	_, err := h.RegisterTable(ctx, h.root, h.cat, catalog.RegisterInput{Namespace: []string{"db"}, Name: "orders", MetadataLocation: location})
	must(t, err)
	filters, err := h.RowFilters(ctx, h.root, "main.db.orders")
	must(t, err)
	if len(filters) != 1 {
		t.Errorf("the filters are %+v", filters)
	}
}

func TestColumnLevels(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	_, err := h.SetGovernance(ctx, h.root, "main.db.orders", catalog.GovernanceInput{
		Level: models.Confidential, Columns: map[string]models.ColumnGovernance{"email": {Sensitivity: models.Restricted}},
	})
	must(t, err)
	levels, err := h.ColumnLevels(ctx, h.with(models.TableReadProperties), "main.db.orders")
	must(t, err)
	text, err := json.Marshal(levels)
	must(t, err)
	if string(text) != `{"email":"restricted","id":"confidential"}` {
		t.Errorf("the levels are %s", text)
	}
	_, err = h.ColumnLevels(ctx, h.with(models.TableList), "main.db.orders")
	wantCode(t, err, fault.Forbidden)
}
