package catalog_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// finding opens a finding about a table and gives its id.
func (h *harness) finding(t *testing.T, table string) string {
	t.Helper()
	ctx := context.Background()
	row := h.load(t, table).Row
	subject := "snapshot " + uuid.NewString()
	must(t, h.store.RecordFiles(ctx, activities.FileRecording{Findings: []models.Finding{{
		Kind: models.FindingMissingFile, Severity: models.High, CatalogID: row.CatalogID, Catalog: "main", TableID: row.ID, TableUUID: row.UUID,
		Table: "db." + table, Subject: subject, SubjectKey: models.SubjectKey(subject),
	}}}))
	found, err := h.store.Findings(ctx, models.FindingFilter{TableID: row.ID, Limit: 1})
	must(t, err)
	return found[0].ID
}

func subjects(findings []models.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Table)
	}
	slices.Sort(out)
	return out
}

func TestFindingsAreOfTheTablesThatOneSees(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	for _, name := range []string{"events", "other"} {
		h.create(t, name, models.OpenAppend)
		h.finding(t, name)
	}
	got, err := h.Findings(ctx, h.with(models.TableReadProperties), "main.db.events", models.FindingFilter{Limit: 10})
	must(t, err)
	if s := subjects(got); !slices.Equal(s, []string{"db.events"}) {
		t.Errorf("findings of one table: %v", s)
	}
	got, err = h.Findings(ctx, h.root, "", models.FindingFilter{Limit: 10})
	must(t, err)
	if s := subjects(got); !slices.Equal(s, []string{"db.events", "db.other"}) {
		t.Errorf("findings of all tables: %v", s)
	}
	_, err = h.Findings(ctx, h.with(models.TableReadProperties), "", models.FindingFilter{Limit: 10})
	wantCode(t, err, fault.Forbidden)
	_, err = h.Findings(ctx, h.with(models.TableList), "main.db.events", models.FindingFilter{Limit: 10})
	wantCode(t, err, fault.Forbidden)
	_, err = h.Findings(ctx, h.with(models.NamespaceList), "main.db.events", models.FindingFilter{Limit: 10})
	wantCode(t, err, fault.NotFound)
}

func TestAFindingIsResolvedByWhoManagesItsTable(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	row := h.create(t, "events", models.OpenAppend).Row
	id := h.finding(t, "events")
	for name, c := range map[string]struct {
		caller policy.Caller
		code   fault.Code
		says   string
	}{
		"who only sees the table":       {h.with(models.TableReadProperties), fault.Forbidden, "CATALOG_MANAGE_ACCESS"},
		"who does not see it":           {h.with(models.NamespaceList), fault.NotFound, id},
		"who manages another table":     {h.granted("another", []string{h.cat.ID}, models.CatalogManageAccess), fault.NotFound, id},
		"a token of another catalog":    {bound(h.with(models.CatalogManageAccess), "another"), fault.NotFound, id},
		"a token that does not govern":  {ungoverning(h.with(models.CatalogManageAccess)), fault.Forbidden, "canGovern"},
		"a token that is for reading":   {reading(h.with(models.CatalogManageAccess)), fault.Forbidden, "read-only"},
		"a finding that there is not":   {h.root, fault.NotFound, "no finding"},
		"an id that cannot be one's id": {h.root, fault.NotFound, "no finding"},
	} {
		of := id
		switch name {
		case "a finding that there is not":
			of = uuid.NewString()
		case "an id that cannot be one's id":
			of = "\x00"
		}
		_, err := h.ResolveFinding(ctx, c.caller, of, "")
		if !fault.Is(err, c.code) || !strings.Contains(fault.PublicMessage(err), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if c.code == fault.NotFound && of == id && deniedOf(err) == "" {
			t.Errorf("%s: the audit is not told why", name)
		}
	}
	got, err := h.ResolveFinding(ctx, h.granted(row.ID, h.within(t, "db"), models.CatalogManageAccess), id, "brought back")
	must(t, err)
	if got.ResolvedAt == nil || got.ResolvedBy != "job" || got.Note != "brought back" {
		t.Errorf("resolved as %+v", got)
	}
	events, err := h.store.AuditEvents(ctx, models.AuditFilter{Type: models.AuditFindingResolved})
	must(t, err)
	if len(events) != 1 || events[0].Principal != "job" || events[0].TokenID != "t-job" || events[0].Table != "db.events" || events[0].Namespace != "db" {
		t.Errorf("the audit has %+v", events)
	}
}

// Of a table that is gone the finding stays, for who manages the catalog.
func TestAFindingOutlivesItsTable(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenAppend)
	id := h.finding(t, "events")
	must(t, h.DropTable(ctx, h.root, h.cat, ident("events"), false))
	_, err := h.ResolveFinding(ctx, h.with(models.TableReadProperties), id, "")
	wantCode(t, err, fault.Forbidden)
	_, err = h.ResolveFinding(ctx, h.with(models.CatalogManageAccess), id, "")
	must(t, err)
}

func bound(c policy.Caller, catalogID string) policy.Caller {
	c.CatalogID = catalogID
	return c
}

func ungoverning(c policy.Caller) policy.Caller {
	c.CanGovern = false
	return c
}

func reading(c policy.Caller) policy.Caller {
	c.ReadOnly, c.CanGovern = true, false
	return c
}
