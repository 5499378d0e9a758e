package catalog_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func watched(d *catalog.Deps) { d.Existence = d.Files.(catalog.Existence) }

// left makes a restricted table with a file in it, and moves it away. It gives the folder that is left and the table's metadata.
func (h *harness) left(t *testing.T, name string) (folder string, doc []byte) {
	t.Helper()
	view := h.create(t, name, models.OpenFull)
	folder = view.Document.Location()
	must(t, h.objects.CreateFile(context.Background(), folder+"/data/secret.parquet", []byte("secret")))
	h.restrict(t, name)
	_, err := h.update(h.root, name, `{"action":"set-location","location":"`+folder+`-away"}`)
	must(t, err)
	return folder, view.Document.Bytes()
}

func (h *harness) restrict(t *testing.T, name string) {
	t.Helper()
	_, err := h.SetGovernance(context.Background(), h.root, "main.db."+name, catalog.GovernanceInput{Level: models.Restricted})
	must(t, err)
}

// A table takes no folder that another one left files in: its classification and grants would be those files'.
func TestNoTableTakesFilesThatAreThere(t *testing.T) {
	h := newHarness(t, watched)
	ctx := context.Background()
	folder, doc := h.left(t, "people")
	mallory := h.with(models.TableCreate, models.TableWriteData, models.TableSetLocation, models.TableList)
	mine := h.create(t, "mine", models.OpenFull)
	crafted := mine.Document.Location() + "/metadata/v9.metadata.json"
	h.write(t, crafted, []byte(strings.Replace(string(doc), tableUUID(t, doc), uuid.NewString(), 1)))
	made := func(name, location string, stage bool) error {
		_, err := h.CreateTable(ctx, mallory, h.cat, catalog.CreateTableInput{
			Namespace: []string{"db"}, Name: name, Location: location, Schema: json.RawMessage(schemaJSON), Stage: stage,
		})
		return err
	}
	for name, try := range map[string]func(string) error{
		"create":                  func(name string) error { return made(name, folder, false) },
		"create below":            func(name string) error { return made(name, folder+"/data", false) },
		"create at the very file": func(name string) error { return made(name, folder+"/data/secret.parquet", false) },
		"stage":                   func(name string) error { return made(name, folder+"/", true) },
		"create by commit":        func(name string) error { return h.createdByCommit(mallory, name, folder) },
		"move": func(string) error {
			_, err := h.update(mallory, "mine", `{"action":"set-location","location":"`+folder+`"}`)
			return err
		},
		"register a file from elsewhere": func(name string) error {
			_, err := h.registerAs(mallory, name, crafted, false)
			return err
		},
	} {
		if err := try("x" + uuid.NewString()[:8]); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, h.objects.DeleteFile(ctx, folder+"/data/secret.parquet"))
	must(t, made("below", folder+"/data", false)) // nothing is there any more
}

// What somebody has staged it may have written into, and nobody else.
func TestAStagedTableBringsItsFiles(t *testing.T) {
	h := newHarness(t, watched)
	ctx := context.Background()
	folder := h.cat.BaseLocation + "/db/staged"
	stage := func(caller policy.Caller) error {
		_, err := h.CreateTable(ctx, caller, h.cat, catalog.CreateTableInput{
			Namespace: []string{"db"}, Name: "staged", Location: folder, Schema: json.RawMessage(schemaJSON), Stage: true,
		})
		return err
	}
	engine := h.with(models.TableCreate, models.TableWriteData)
	other := h.with(models.TableCreate, models.TableWriteData)
	other.PrincipalID = "p-other"
	must(t, stage(engine))
	must(t, h.objects.CreateFile(ctx, folder+"/data/a.parquet", []byte("a")))
	wantCode(t, stage(other), fault.Forbidden)
	wantCode(t, h.createdByCommit(other, "staged", folder), fault.Forbidden)
	must(t, stage(engine)) // again, after its job failed
	must(t, h.createdByCommit(engine, "staged", folder))
}

// Who may not read a table's files leaves them behind in no way: not by moving the table and not by forgetting it.
func TestAbandoningTakesTheClearance(t *testing.T) {
	h := newHarness(t, watched)
	ctx := context.Background()
	view := h.create(t, "people", models.OpenFull)
	h.restrict(t, "people")
	job := h.with(models.TableWriteData, models.TableSetLocation, models.TableDrop, models.TableList, models.TableCreate)
	job.EngineToken = false
	_, err := h.update(job, "people", `{"action":"set-location","location":"`+view.Document.Location()+`/sub"}`)
	wantCode(t, err, fault.Forbidden)
	if want := "takes a clearance"; !strings.Contains(fault.PublicMessage(err), want) {
		t.Errorf("it says %q", fault.PublicMessage(err))
	}
	moved := strings.Replace(string(view.Document.Bytes()), view.Document.Location(), view.Document.Location()+"/sub", 1)
	h.write(t, view.Document.Location()+"/sub/metadata/v9.metadata.json", []byte(moved))
	_, err = h.registerAs(job, "people", view.Document.Location()+"/sub/metadata/v9.metadata.json", true)
	wantCode(t, err, fault.Forbidden)
	must(t, h.DropTable(ctx, job, h.cat, ident("people"), false))
	dropped, err := h.DroppedTables(ctx, job, "main", models.DroppedFilter{})
	must(t, err)
	wantCode(t, h.ForgetTable(ctx, job, dropped.Items[0].ID), fault.Forbidden)
	job.Clearance = models.Restricted
	must(t, h.ForgetTable(ctx, job, dropped.Items[0].ID))
}

// Data goes into no folder that is called metadata, however deep: a table that is moved around it would let those at it
// who may read metadata alone.
func TestNoDataIsCalledMetadata(t *testing.T) {
	h := newHarness(t)
	location := h.create(t, "events", models.OpenFull).Document.Location()
	for path, code := range map[string]fault.Code{
		"/metadata": fault.Forbidden, "/metadata/x": fault.Forbidden, "/b/metadata": fault.Forbidden, "/b/metadata/c/": fault.Forbidden,
		"/b/metadata-of": "", "/data": "", "": "",
	} {
		_, err := h.update(h.root, "events", `{"action":"set-properties","updates":{"write.data.path":"`+location+path+`"}}`)
		if fault.CodeOf(err) != code {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// createdByCommit makes a table as the end of a staged create does.
func (h *harness) createdByCommit(caller policy.Caller, name, location string) error {
	var updates []json.RawMessage
	for _, u := range []string{
		`{"action":"assign-uuid","uuid":"` + uuid.NewString() + `"}`, `{"action":"upgrade-format-version","format-version":2}`,
		`{"action":"add-schema","schema":` + schemaJSON + `,"last-column-id":2}`, `{"action":"set-current-schema","schema-id":-1}`,
		`{"action":"add-spec","spec":{"spec-id":0,"fields":[]}}`, `{"action":"set-default-spec","spec-id":-1}`,
		`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`, `{"action":"set-default-sort-order","sort-order-id":-1}`,
		`{"action":"set-location","location":"` + location + `"}`,
	} {
		updates = append(updates, json.RawMessage(u))
	}
	_, err := h.CommitTable(context.Background(), caller, h.cat, input(name, []json.RawMessage{json.RawMessage(`{"type":"assert-create"}`)}, updates))
	return err
}

func tableUUID(t *testing.T, doc []byte) string {
	t.Helper()
	var read struct {
		UUID string `json:"table-uuid"`
	}
	must(t, json.Unmarshal(doc, &read))
	return read.UUID
}
