package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// brings makes a table's metadata that Sluice never saw, with one append. files, if any, are its data files.
func (h *harness) brings(t *testing.T, folder string, files ...string) string {
	t.Helper()
	plain := h.foreign(t, folder)
	raw, err := h.client.Get(plain)
	must(t, err)
	table, err := icebergtest.Parse(raw)
	must(t, err)
	c, err := h.client.Append(table, 1, 3)
	if len(files) > 0 {
		c = icebergtest.Commit{SnapshotID: 4711, DataFiles: files, Rows: 3}
		m, err := h.client.Manifest(table, c.SnapshotID, files, 3)
		must(t, err)
		c, err = h.client.Finish(table, c, "append", []iceberg.ManifestFile{m})
		must(t, err)
	}
	must(t, err)
	doc, err := metadata.Parse(raw)
	must(t, err)
	result, err := metadata.Apply(doc, input("x", nil, c.Updates).Updates, metadata.ApplyOptions{Now: time.Now()})
	must(t, err)
	location := strings.Replace(plain, "v7.", "v8.", 1)
	h.write(t, location, result.Document.Bytes())
	return location
}

func (h *harness) registerAs(caller policy.Caller, name, location string, over bool) (catalog.TableView, error) {
	return h.RegisterTable(context.Background(), caller, h.cat, catalog.RegisterInput{
		Namespace: []string{"db"}, Name: name, MetadataLocation: location, Overwrite: over,
	})
}

// A table that is registered with data is judged as one that is created with data.
func TestRegisteringWithDataIsJudged(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	steward := h.with(models.CatalogManageContent, models.TableGovern)
	steward.EngineToken = false
	creator := h.with(models.TableCreate, models.TableList)
	writer := h.with(models.TableCreate, models.TableWriteData)
	for i, c := range []struct {
		name   string
		policy models.WritePolicy
		caller policy.Caller
		says   string // of the refusal; "" is none
	}{
		{"an engine under governed_only", models.GovernedOnly, writer, "governed_only"},
		{"root under governed_only", models.GovernedOnly, h.root, "governed_only"},
		{"a steward under governed_only", models.GovernedOnly, steward, ""},
		{"without the right to write data", models.OpenFull, creator, "TABLE_WRITE_DATA"},
		{"under open_append", models.OpenAppend, writer, ""},
		{"under open_full", models.OpenFull, writer, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.db", models.OpenFull))
			name := fmt.Sprintf("t%d", i)
			location := h.brings(t, name)
			must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.db", c.policy))
			refusals := len(h.audit(t, models.AuditCommitDenied))
			view, err := h.registerAs(c.caller, name, location, false)
			if c.says != "" {
				wantCode(t, err, fault.Forbidden)
				if !strings.Contains(fault.PublicMessage(err), c.says) || len(h.audit(t, models.AuditCommitDenied)) != refusals+1 {
					t.Fatalf("it says %q, and the audit has %d refusals", fault.PublicMessage(err), len(h.audit(t, models.AuditCommitDenied))-refusals)
				}
				return
			}
			must(t, err)
			if view.Row.CurrentSnapshotID == nil || view.Row.WritePolicy != c.policy {
				t.Errorf("it is %+v", view.Row)
			}
		})
	}
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.db", models.GovernedOnly))
	if _, err := h.registerAs(creator, "empty", h.foreign(t, "empty"), false); err != nil {
		t.Errorf("an empty table: %v", err)
	}
	h.create(t, "over", models.GovernedOnly)
	all := h.with(models.CatalogManageContent)
	_, err := h.registerAs(all, "over", h.brings(t, "over"), true)
	wantCode(t, err, fault.Forbidden)
}

// Just as Sluice left it a table may come back, whatever its policy. Any other state of it is a replacement, and only an
// open_full table may be replaced: an older file rolls it back, a forged one holds what nobody judged.
func TestRegisteringIsNoWayAroundThePolicy(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenAppend)
	first, err := h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	_, err = h.commit(h.root, "events", h.append(t, "events", 2))
	must(t, err)
	_, err = h.SetWritePolicy(ctx, h.root, "main.db.events", models.GovernedOnly)
	must(t, err)
	last := h.load(t, "events")
	h.drop(t, "events", false)
	_, err = h.register("events", first.MetadataLocation, false)
	wantCode(t, err, fault.Forbidden)
	_, err = h.register("events", last.MetadataLocation, false)
	must(t, err)
	for policy, code := range map[models.WritePolicy]fault.Code{
		models.GovernedOnly: fault.Forbidden, models.OpenAppend: fault.Forbidden, models.OpenFull: "",
	} {
		_, err = h.SetWritePolicy(ctx, h.root, "main.db.events", policy)
		must(t, err)
		_, err = h.register("events", first.MetadataLocation, true)
		wantCode(t, err, code)
	}
}

// Under open_full too a governed column is not lost by registering a file without it.
func TestRegisteringOverKeepsGovernedColumns(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenFull)
	_, err := h.update(h.root, "events", `{"action":"add-schema","schema":`+strings.Replace(schemaJSON, `"name":"email"`, `"name":"mail"`, 1)+`}`, `{"action":"set-current-schema","schema-id":-1}`)
	must(t, err)
	renamed := h.load(t, "events").MetadataLocation
	_, err = h.update(h.root, "events", `{"action":"set-current-schema","schema-id":0}`)
	must(t, err)
	_, err = h.SetGovernance(ctx, h.root, "main.db.events", catalog.GovernanceInput{
		Columns: map[string]models.ColumnGovernance{"email": {Sensitivity: models.Restricted}}})
	must(t, err)
	_, err = h.register("events", renamed, true)
	wantCode(t, err, fault.Forbidden)
}

// The log of a registered table may name anything: nothing in it is removed when it falls out.
func TestForgedMetadataLogRemovesNothing(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	view, err := h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	snap, _ := view.Document.Snapshot(*view.Row.CurrentSnapshotID)
	victim := view.Document.Location() + "/metadata/00007-live.metadata.json"
	must(t, h.client.Put(victim, []byte("{}")))
	var doc map[string]any
	must(t, json.Unmarshal(view.Document.Bytes(), &doc))
	doc["metadata-log"] = []any{
		map[string]any{"timestamp-ms": view.Document.LastUpdatedMs(), "metadata-file": snap.ManifestList},
		map[string]any{"timestamp-ms": view.Document.LastUpdatedMs(), "metadata-file": victim},
	}
	doc["properties"] = map[string]string{
		"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1",
	}
	raw, err := json.Marshal(doc)
	must(t, err)
	forged := view.Document.Location() + "/metadata/00009-forged.metadata.json"
	must(t, h.client.Put(forged, raw))
	_, err = h.register("events", forged, true)
	must(t, err)
	for range 3 {
		_, err = h.commit(h.root, "events", h.append(t, "events", 1))
		must(t, err)
	}
	h.Drain(context.Background())
	for _, location := range []string{snap.ManifestList, victim} {
		if _, err := h.client.Get(location); err != nil {
			t.Errorf("%s is gone: %v", location, err)
		}
	}
}

func TestRegisteringChecksWhatAFileClaims(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	base := h.load(t, "events")
	for key, value := range map[string]any{
		"table-uuid": "{" + base.Row.UUID + "}", "last-updated-ms": int64(9e15), "last-sequence-number": int64(1<<63 - 1), "last-column-id": 1<<31 - 1,
	} {
		var doc map[string]any
		must(t, json.Unmarshal(base.Document.Bytes(), &doc))
		doc[key] = value
		raw, err := json.Marshal(doc)
		must(t, err)
		location := base.Document.Location() + "/metadata/00009-" + key + ".metadata.json"
		must(t, h.client.Put(location, raw))
		_, err = h.register("events", location, true)
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestRegisteringKeepsFilesAndPropertiesInside(t *testing.T) {
	h := newHarness(t)
	must(t, h.SetDefaultWritePolicy(context.Background(), h.root, "main.db", models.OpenFull))
	other := h.create(t, "other", models.OpenFull)
	elsewhere := other.Document.Location() + "/data/theirs.parquet"
	for i, c := range []struct {
		name, old, new string
		files          []string
		says           string
	}{
		{"a data file of another table", "", "", []string{elsewhere}, "outside"},
		{"a manifest list elsewhere", `"manifest-list":"`, `"manifest-list":"` + other.Document.Location() + `/`, nil, "outside"},
		{"a statistics file elsewhere", `"statistics":[]`, `"statistics":[{"snapshot-id":4711,"STATISTICS-PATH":"x","statistics-path":"` + elsewhere + `","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}]`, []string{""}, "outside"},
		{"a data folder elsewhere", `"properties":{`, `"properties":{"write.data.path":"` + other.Document.Location() + `",`, nil, "write.data.path"},
		{"a metadata folder elsewhere", `"properties":{`, `"properties":{"write.metadata.path":"` + other.Document.Location() + `/metadata",`, nil, "write.metadata.path"},
		{"a look-alike of a stamp", `"properties":{`, `"properties":{"SLUICE.write-policy":"open_full",`, nil, "SLUICE.write-policy"},
		{"a reserved property", `"properties":{`, `"properties":{"sluice.secret":"x",`, nil, "sluice.secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := fmt.Sprintf("in%d", i)
			if len(c.files) == 1 && c.files[0] == "" {
				c.files[0] = h.cat.BaseLocation + "/imported/" + folder + "/data/own.parquet"
			}
			location := h.brings(t, folder, c.files...)
			raw, err := h.client.Get(location)
			must(t, err)
			changed := location
			if c.old != "" {
				if !strings.Contains(string(raw), c.old) {
					t.Fatalf("the metadata has no %s: %s", c.old, raw)
				}
				changed = strings.Replace(location, "v8.", "v9.", 1)
				h.write(t, changed, []byte(strings.Replace(string(raw), c.old, c.new, 1)))
			}
			for _, over := range []string{folder, "replaced"} {
				if over == "replaced" {
					h.create(t, "replaced", models.OpenFull)
				}
				_, err = h.register(over, changed, over == "replaced")
				wantCode(t, err, fault.Forbidden)
				if !strings.Contains(fault.PublicMessage(err), c.says) {
					t.Errorf("it says %q, want %q", fault.PublicMessage(err), c.says)
				}
			}
			must(t, h.DropTable(context.Background(), h.root, h.cat, ident("replaced"), false))
		})
	}
}

// Where an operator allows files anywhere, tables are registered with them; but what Sluice itself writes stays inside.
func TestRegisteringWithFilesAnywhere(t *testing.T) {
	h := newHarness(t, func(d *catalog.Deps) { d.AnyLocation = true })
	must(t, h.SetDefaultWritePolicy(context.Background(), h.root, "main.db", models.OpenFull))
	_, err := h.register("legacy", h.brings(t, "legacy", h.cat.BaseLocation+"/old/data/a.parquet"), false)
	must(t, err)
}

// History that no ref reaches is not read when a table is registered, but when a ref comes back to it.
func TestRegisteredHistoryIsReadWhenARefComesBack(t *testing.T) {
	h := newHarness(t)
	must(t, h.SetDefaultWritePolicy(context.Background(), h.root, "main.db", models.OpenFull))
	location := h.brings(t, "history", h.cat.BaseLocation+"/elsewhere/a.parquet")
	raw, err := h.client.Get(location)
	must(t, err)
	doc, err := metadata.Parse(raw)
	must(t, err)
	gone, _ := doc.CurrentSnapshotID()
	result, err := metadata.Apply(doc, input("x", nil, []json.RawMessage{json.RawMessage(`{"action":"remove-snapshot-ref","ref-name":"main"}`)}).Updates, metadata.ApplyOptions{Now: time.Now()})
	must(t, err)
	h.write(t, location+".metadata.json", result.Document.Bytes())
	_, err = h.register("history", location+".metadata.json", false)
	must(t, err)
	for _, ref := range []string{"main", "side"} {
		_, err = h.update(h.root, "history", fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":%q,"type":"branch","snapshot-id":%d}`, ref, gone))
		wantCode(t, err, fault.Forbidden)
	}
}

func TestRegisterOfADamagedFile(t *testing.T) {
	h := newHarness(t)
	for name, content := range map[string]string{
		"no.metadata.json": "{", "empty.metadata.json": "", "other.metadata.json": `{"format-version":2}`, "zip.gz.metadata.json": "{}",
	} {
		location := h.cat.BaseLocation + "/damaged/metadata/" + name
		h.write(t, location, []byte(content))
		_, err := h.register("damaged", location, false)
		wantCode(t, err, fault.Invalid)
		if !strings.Contains(fault.PublicMessage(err), location) {
			t.Errorf("%s: it says %q", name, fault.PublicMessage(err))
		}
	}
}
