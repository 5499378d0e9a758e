package catalog_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/models"
)

func (h *harness) register(name, location string, over bool) (catalog.TableView, error) {
	return h.RegisterTable(context.Background(), h.root, h.cat, catalog.RegisterInput{
		Namespace: []string{"db"}, Name: name, MetadataLocation: location, Overwrite: over,
	})
}

// write puts a metadata file into the warehouse as an engine outside would.
func (h *harness) write(t *testing.T, location string, data []byte) {
	t.Helper()
	must(t, h.client.Put(location, data))
}

// foreign makes a table's metadata that Sluice never saw, and gives the location of its file.
func (h *harness) foreign(t *testing.T, folder string) string {
	t.Helper()
	h.create(t, "template", models.OpenFull)
	doc := h.load(t, "template")
	must(t, h.DropTable(context.Background(), h.root, h.cat, ident("template"), false))
	raw := strings.ReplaceAll(string(doc.Document.Bytes()), doc.Row.UUID, uuid.NewString())
	base := h.cat.BaseLocation + "/imported/" + folder
	raw = strings.ReplaceAll(raw, doc.Document.Location(), base)
	location := base + "/metadata/v7.metadata.json"
	h.write(t, location, []byte(raw))
	return location
}

func TestRegisteringADroppedTableKeepsItsGovernance(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenFull)
	_, err := h.SetGovernance(ctx, h.root, "main.db.events", catalog.GovernanceInput{Level: models.Restricted})
	must(t, err)
	c := h.append(t, "events", 2)
	view, err := h.commit(h.root, "events", c)
	must(t, err)
	d := h.drop(t, "events", true)

	_, err = h.RegisterTable(ctx, h.with(models.TableCreate), h.cat, catalog.RegisterInput{Namespace: []string{"db"}, Name: "mine", MetadataLocation: view.MetadataLocation})
	wantCode(t, err, fault.Forbidden)
	got, err := h.register("events", view.MetadataLocation, false)
	must(t, err)
	if got.Row.UUID != view.Row.UUID || got.Row.Classification != models.Restricted || got.Row.WritePolicy != models.OpenFull {
		t.Errorf("the registered table is %+v", got.Row)
	}
	_, err = h.UndropTable(ctx, h.root, d.ID, nil)
	wantCode(t, err, fault.Conflict)
	due, err := h.store.DuePurges(ctx, d.DroppedAt.AddDate(1, 0, 0), "", 10)
	must(t, err)
	if len(due) != 0 {
		t.Error("the files of a live table are due to be purged")
	}
	_, err = h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
}

func TestUnregisterHandsTheTableOver(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenFull)
	last, err := h.commit(h.root, "events", h.append(t, "events", 2))
	must(t, err)
	late := h.append(t, "events", 1)
	_, err = h.UnregisterTable(ctx, h.with(models.TableWriteData), h.cat, ident("events"))
	wantCode(t, err, fault.Forbidden)
	got, err := h.UnregisterTable(ctx, h.root, h.cat, ident("events"))
	must(t, err)
	if got.MetadataLocation != last.MetadataLocation || string(got.Document.Bytes()) != string(last.Document.Bytes()) {
		t.Errorf("it gave %s, the last is %s", got.MetadataLocation, last.MetadataLocation)
	}
	_, err = h.commit(h.root, "events", late)
	wantCode(t, err, fault.NotFound)
	page, err := h.DroppedTables(ctx, h.root, "main", models.DroppedFilter{States: []models.DropState{models.StateUnregistered}})
	must(t, err)
	if len(page.Items) != 1 || page.Items[0].PurgeAfter != nil {
		t.Fatalf("the records are %+v", page.Items)
	}
	_, err = h.UndropTable(ctx, h.root, page.Items[0].ID, nil)
	wantCode(t, err, fault.Conflict)
	_, err = h.register("events", got.MetadataLocation, false)
	must(t, err)
	_, err = h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
}

func TestRegisterOverTheSameTable(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenFull)
	old := h.load(t, "events")
	now, err := h.commit(h.root, "events", h.append(t, "events", 2))
	must(t, err)
	_, err = h.register("events", old.MetadataLocation, false)
	wantCode(t, err, fault.AlreadyExists)
	for _, caller := range []models.Privilege{models.TableWriteData, models.TableDrop} {
		_, err = h.RegisterTable(ctx, h.with(caller, models.TableList, models.TableCreate), h.cat, catalog.RegisterInput{
			Namespace: []string{"db"}, Name: "events", MetadataLocation: old.MetadataLocation, Overwrite: true,
		})
		wantCode(t, err, fault.Forbidden)
	}
	got, err := h.register("events", old.MetadataLocation, true)
	must(t, err)
	if got.Row.ID != now.Row.ID || got.Row.CurrentSnapshotID != nil || got.Row.WritePolicy != models.OpenFull {
		t.Errorf("it is %+v", got.Row)
	}
	if h.load(t, "events").MetadataLocation != old.MetadataLocation {
		t.Error("the pointer has not moved")
	}
	_, err = h.register("events", now.MetadataLocation, true)
	must(t, err)
	events := h.audit(t, models.AuditTableRegistered)
	if len(events) != 2 || events[0].Details.V["overwrite"] != true {
		t.Errorf("the audit has %+v", events)
	}
}

func TestRegisterOverAnotherTable(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	location := h.foreign(t, "legacy")
	h.create(t, "events", models.OpenFull)
	_, err := h.SetGovernance(ctx, h.root, "main.db.events", catalog.GovernanceInput{Level: models.Restricted})
	must(t, err)
	old := h.load(t, "events")
	got, err := h.register("events", location, true)
	must(t, err)
	if got.Row.ID == old.Row.ID || got.Row.UUID == old.Row.UUID {
		t.Fatalf("it is %+v", got.Row)
	}
	if got.Row.Classification != models.Restricted || got.Row.WritePolicy != models.OpenFull {
		t.Errorf("the name is not governed as before: %+v", got.Row)
	}
	page, err := h.DroppedTables(ctx, h.root, "main", models.DroppedFilter{TableUUID: old.Row.UUID})
	must(t, err)
	if len(page.Items) != 1 || page.Items[0].PurgeAfter != nil {
		t.Fatalf("the old table is %+v", page.Items)
	}
	_, err = h.UndropTable(ctx, h.root, page.Items[0].ID, &models.TableIdent{Namespace: []string{"db"}, Name: "events_before"})
	must(t, err)
	_, err = h.register("fresh", h.foreign(t, "legacy2"), true) // nothing to register over
	must(t, err)
}

func TestL1CompressedMetadataInBothSpellings(t *testing.T) { // CASES L1
	for _, name := range []string{"00003-x.gz.metadata.json", "v3.metadata.json.gz"} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			plain := h.foreign(t, "zipped")
			raw, err := h.client.Get(plain)
			must(t, err)
			raw = bytes.Replace(raw, []byte(`"properties":{`), []byte(`"properties":{"write.metadata.compression-codec":"gzip",`), 1)
			var buf bytes.Buffer
			zip := gzip.NewWriter(&buf)
			_, err = zip.Write(raw)
			must(t, err)
			must(t, zip.Close())
			location := strings.Replace(plain, "v7.metadata.json", name, 1)
			h.write(t, location, buf.Bytes())
			_, err = h.register("zipped", location, false)
			must(t, err)
			_, err = h.SetWritePolicy(context.Background(), h.root, "main.db.zipped", models.OpenAppend)
			must(t, err)
			view, err := h.commit(h.root, "zipped", h.append(t, "zipped", 1))
			must(t, err)
			if !strings.HasSuffix(view.MetadataLocation, ".gz.metadata.json") {
				t.Fatalf("the next file is %s", view.MetadataLocation)
			}
			written, err := h.client.Get(view.MetadataLocation)
			must(t, err)
			if !bytes.HasPrefix(written, []byte{0x1f, 0x8b}) {
				t.Error("the next file is not compressed")
			}
		})
	}
}

func TestRegisterOfAMissingFile(t *testing.T) {
	missed := 0
	h := newHarness(t, func(d *catalog.Deps) { d.Missing = func(string) { missed++ } })
	_, err := h.register("x", h.cat.BaseLocation+"/nowhere/metadata/v1.metadata.json", false)
	wantCode(t, err, fault.NotFound)
	if missed != 0 {
		t.Error("a client's mistake alarmed the operators")
	}
}

// Answers from the cache must not hide that a table's metadata file is gone.
func TestK3MissingMetadataFile(t *testing.T) { // CASES K3
	var missed []string
	h := newHarness(t, func(d *catalog.Deps) {
		d.Missing = func(location string) { missed = append(missed, location) }
		d.Existence = d.Files.(catalog.Existence)
	})
	view := h.create(t, "events", models.OpenAppend)
	path := icebergtest.LocalPath(view.MetadataLocation)
	must(t, os.Rename(path, path+".moved"))
	_, err := h.LoadTable(context.Background(), h.root, h.cat, ident("events"))
	wantCode(t, err, fault.NotFound)
	if want := "Failed to open input stream for file: " + view.MetadataLocation; !strings.Contains(fault.PublicMessage(err), want) {
		t.Errorf("it says %q, want %q", fault.PublicMessage(err), want)
	}
	if len(missed) != 1 || missed[0] != view.MetadataLocation {
		t.Errorf("operators were told of %v", missed)
	}
	must(t, h.TableExists(context.Background(), h.root, h.cat, ident("events")))
	must(t, os.Rename(path+".moved", path))
	h.load(t, "events")
}

// The columns that identify rows stay governed, and its rows hidden from whom they were, when the table comes back by its
// metadata file.
func TestForgottenGovernanceIsRemembered(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenFull)
	_, err := h.SetGovernance(ctx, h.root, "main.db.events", catalog.GovernanceInput{IdentityColumns: []string{"id"}})
	must(t, err)
	before := h.load(t, "events").Row
	row := before
	row.RowFilters.V = []models.RowFilter{{Role: "analysts", Filter: "id = 1", Expression: json.RawMessage(`{"type":"eq","term":"id","value":1}`)}}
	must(t, h.store.UpdateGovernance(ctx, before, row, models.AuditEvent{Type: models.AuditRowFiltersChanged}))
	view := h.load(t, "events")
	d := h.drop(t, "events", false)
	must(t, h.ForgetTable(ctx, h.root, d.ID))
	got, err := h.register("events", view.MetadataLocation, false)
	must(t, err)
	if raw, _ := json.Marshal(got.Row.IdentityColumns.V); string(raw) != `["id"]` {
		t.Errorf("the identity columns are %s", raw)
	}
	if raw, _ := json.Marshal(got.Row.RowFilters.V); string(raw) != `[{"role":"analysts","filter":"id = 1","expression":{"type":"eq","term":"id","value":1}}]` {
		t.Errorf("the row filters are %s", raw)
	}
}
