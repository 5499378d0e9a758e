package catalog_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// writes commits to a table and records the commit and its writer, as a reconciliation does; it gives the writer's id.
func (h *harness) writes(t *testing.T, caller policy.Caller, view catalog.TableView, summary map[string]string) string {
	t.Helper()
	_, err := h.commit(caller, view.Row.Name, h.stream(t, view.Row.Name, summary))
	must(t, err)
	c := h.ledger(t, view)[0]
	w := writers.Summarize([]models.Commit{c})
	c.Status = models.CommitReconciled
	key := uuid.NewString()
	_, err = h.store.RecordCommit(context.Background(), activities.Recording{Commit: c, OnMain: true, Writers: []models.TableWriter{w}, Audit: models.AuditEvent{
		EventID: key, Type: models.AuditCommitReconciled, At: time.Now(), DedupeKey: &key,
	}})
	must(t, err)
	return w.ID
}

func idsOf(all []models.NamedWriter) []string {
	var ids []string
	for _, w := range all {
		ids = append(ids, w.ID)
	}
	return ids
}

func TestWritersAreOfTheTablesThatOneSees(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	events, other := h.create(t, "events", models.OpenAppend), h.create(t, "other", models.OpenAppend)
	a, b := h.writes(t, h.job(), events, flinkSummary("j1", "1")), h.writes(t, h.job(), other, nil)

	got, err := h.Writers(ctx, h.with(models.TableReadProperties), "main.db.events", models.WriterFilter{Limit: 10})
	must(t, err)
	if len(got) != 1 || got[0].ID != a || got[0].CatalogName != "main" || got[0].Table != "db.events" || got[0].Kind != models.FlinkWriter {
		t.Errorf("the writers of one table are %+v", got)
	}
	got, err = h.Writers(ctx, h.root, "", models.WriterFilter{Limit: 10})
	must(t, err)
	want := []string{a, b}
	slices.Sort(want)
	if !slices.Equal(idsOf(got), want) {
		t.Errorf("the writers of all tables are %v", idsOf(got))
	}
	_, err = h.Writers(ctx, h.with(models.TableReadProperties), "", models.WriterFilter{Limit: 10})
	wantCode(t, err, fault.Forbidden)
	_, err = h.Writers(ctx, h.with(models.TableList), "main.db.events", models.WriterFilter{Limit: 10})
	wantCode(t, err, fault.Forbidden)
	_, err = h.Writers(ctx, h.with(models.NamespaceList), "main.db.events", models.WriterFilter{Limit: 10})
	wantCode(t, err, fault.NotFound)

	w, err := h.Writer(ctx, h.with(models.TableReadProperties), a)
	must(t, err)
	if w.Job != "j1" || w.Watermark.V["checkpoint"] != 1 {
		t.Errorf("the writer is %+v", w)
	}
	for name, caller := range map[string]policy.Caller{
		"who does not see the table": h.with(models.NamespaceList),
		"a token of another catalog": bound(h.with(models.TableReadProperties), "another"),
	} {
		if _, err := h.Writer(ctx, caller, a); !fault.Is(err, fault.NotFound) || !strings.Contains(fault.PublicMessage(err), a) || deniedOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = h.Writer(ctx, h.with(models.TableList), a)
	wantCode(t, err, fault.Forbidden)
	_, err = h.Writer(ctx, h.root, "no such")
	wantCode(t, err, fault.NotFound)
}

func TestAWriterIsDeclared(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	view := h.create(t, "events", models.OpenAppend)
	steward := h.with(models.CatalogManageAccess)
	for name, c := range map[string]struct {
		caller    policy.Caller
		principal string
		every     time.Duration
		code      fault.Code
	}{
		"who may only read":             {h.with(models.TableReadProperties), "root", time.Minute, fault.Forbidden},
		"who does not see the table":    {h.with(models.NamespaceList), "root", time.Minute, fault.NotFound},
		"a token that does not govern":  {ungoverning(steward), "root", time.Minute, fault.Forbidden},
		"a principal that there is not": {steward, "nobody", time.Minute, fault.Invalid},
		"too often":                     {steward, "root", time.Millisecond, fault.Invalid},
		"too seldom":                    {steward, "root", 400 * 24 * time.Hour, fault.Invalid},
	} {
		if _, err := h.DeclareWriter(ctx, c.caller, "main.db.events", c.principal, c.every); !fault.Is(err, c.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w, err := h.DeclareWriter(ctx, steward, "main.db.events", "root", 10*time.Minute)
	must(t, err)
	if w.ID != writers.ExpectedID(view.Row.ID, "root") || w.Kind != models.ExpectedWriter || w.Every != 600_000 || w.LastCommitAt != nil || w.Principal != "root" {
		t.Errorf("declared as %+v", w)
	}
	again, err := h.DeclareWriter(ctx, steward, "main.db.events", "root", time.Hour)
	must(t, err)
	if again.ID != w.ID || again.Every != 3_600_000 {
		t.Errorf("declared again as %+v", again)
	}
	events := h.audit(t, models.AuditWriterDeclared)
	if len(events) != 2 || events[0].Table != "db.events" || events[0].Principal != "job" || events[0].Details.V["writerPrincipal"] != "root" || events[0].Details.V["every"] != "1h0m0s" {
		t.Errorf("the audit has %+v", events)
	}
}

// Who was declared late counts with what it had committed before.
func TestADeclaredWriterHasItsCommits(t *testing.T) {
	h := newHarness(t)
	view := h.create(t, "events", models.OpenAppend)
	root := h.root
	h.writes(t, root, view, flinkSummary("j1", "1"))
	h.writes(t, root, view, nil)
	head := h.load(t, "events").Row.CurrentSnapshotID
	w, err := h.DeclareWriter(context.Background(), root, "main.db.events", "root", time.Hour)
	must(t, err)
	if w.Commits != 2 || w.LastCommit == nil || *w.LastCommit != *head || w.LastCommitAt == nil {
		t.Errorf("declared as %+v", w)
	}
}

func TestAWritersCadenceIsSet(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	id := h.writes(t, h.job(), h.create(t, "events", models.OpenAppend), flinkSummary("j1", "1"))
	steward, every := h.with(models.CatalogManageAccess), 90*time.Second
	_, err := h.SetWriterCadence(ctx, h.with(models.TableReadProperties), id, &every)
	wantCode(t, err, fault.Forbidden)
	_, err = h.SetWriterCadence(ctx, ungoverning(steward), id, &every)
	wantCode(t, err, fault.Forbidden)
	for range 2 {
		w, err := h.SetWriterCadence(ctx, steward, id, &every)
		must(t, err)
		if w.Every != 90_000 || w.Job != "j1" {
			t.Errorf("the writer is %+v", w)
		}
	}
	w, err := h.SetWriterCadence(ctx, steward, id, nil)
	must(t, err)
	if w.Every != 0 {
		t.Errorf("the writer is %+v", w)
	}
	events := h.audit(t, models.AuditWriterDeclared)
	if len(events) != 2 || events[0].Details.V["from"] != "1m30s" || events[0].Details.V["every"] != "0s" || events[0].Namespace != "db" {
		t.Errorf("the audit has %+v", events)
	}
}

func TestAWriterIsRetired(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	view := h.create(t, "events", models.OpenAppend)
	id := h.writes(t, h.job(), view, flinkSummary("j1", "1"))
	late := models.Finding{
		Kind: models.FindingStalledWriter, Severity: models.High, CatalogID: view.Row.CatalogID, Catalog: "main", TableID: view.Row.ID,
		TableUUID: view.Row.UUID, Table: "db.events", WriterID: id, Subject: "writer", SubjectKey: models.SubjectKey(id),
	}
	must(t, h.store.NoteFinding(ctx, late))
	steward := h.with(models.CatalogManageAccess)
	_, err := h.RetireWriter(ctx, h.with(models.TableReadProperties), id, "")
	wantCode(t, err, fault.Forbidden)
	for range 2 {
		w, err := h.RetireWriter(ctx, steward, id, "moved to another table")
		must(t, err)
		if w.State != models.WriterRetired || w.RetiredBy != "job" || w.RetiredAt == nil {
			t.Errorf("retired as %+v", w)
		}
	}
	events := h.audit(t, models.AuditWriterRetired)
	if len(events) != 1 || events[0].Details.V["note"] != "moved to another table" || events[0].Details.V["writerId"] != id {
		t.Errorf("the audit has %+v", events)
	}
	open := true
	left, err := h.store.Findings(ctx, models.FindingFilter{TableID: view.Row.ID, Open: &open, Limit: 10})
	must(t, err)
	if len(left) != 0 {
		t.Errorf("still open: %+v", left)
	}
	h.writes(t, h.job(), view, flinkSummary("j1", "2"))
	w, err := h.Writer(ctx, h.root, id)
	must(t, err)
	if w.State != models.WriterActive || w.RetiredAt != nil {
		t.Errorf("after another commit it is %+v", w)
	}
}

// A writer outlives its table, for who manages the catalog.
func TestAWriterOutlivesItsTable(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	id := h.writes(t, h.job(), h.create(t, "events", models.OpenAppend), flinkSummary("j1", "1"))
	must(t, h.DropTable(ctx, h.root, h.cat, ident("events"), false))
	_, err := h.RetireWriter(ctx, h.with(models.TableReadProperties), id, "")
	wantCode(t, err, fault.Forbidden)
	_, err = h.RetireWriter(ctx, h.with(models.CatalogManageAccess), id, "")
	must(t, err)
}
