package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/models"
)

func (h *harness) createFormat(t *testing.T, name, version string) (catalog.TableView, error) {
	t.Helper()
	in := catalog.CreateTableInput{Namespace: []string{"db"}, Name: name, Schema: json.RawMessage(schemaJSON)}
	if version != "" {
		in.Properties = map[string]string{"format-version": version}
	}
	return h.CreateTable(context.Background(), h.root, h.cat, in)
}

func nextRowID(t *testing.T, view catalog.TableView) int64 {
	t.Helper()
	next, ok := view.Document.NextRowID()
	if !ok {
		t.Fatalf("the v3 metadata %s has no next-row-id", view.MetadataLocation)
	}
	return next
}

// TestCaseP1NextRowIDIsKept: whatever a commit does, v3 metadata has a next-row-id that never gets lower.
func TestCaseP1NextRowIDIsKept(t *testing.T) {
	h := newHarness(t)
	must(t, h.SetDefaultWritePolicy(context.Background(), h.root, "main.db", models.OpenFull))
	_, err := h.createFormat(t, "events", "3")
	must(t, err)
	_, err = h.commit(h.root, "events", h.append(t, "events", 10))
	must(t, err)
	first := h.append(t, "events", 5)
	_, err = h.commit(h.root, "events", first)
	must(t, err)
	head := h.table(t, "events").Lineage()
	steps := map[string]func() error{
		"properties": func() error {
			_, err := h.update(h.root, "events", `{"action":"set-properties","updates":{"a":"b"}}`)
			return err
		},
		"schema": func() error {
			_, err := h.update(h.root, "events", `{"action":"add-schema","schema":`+strings.Replace(schemaJSON, `"name":"email"`, `"name":"mail"`, 1)+`}`,
				`{"action":"set-current-schema","schema-id":-1}`)
			return err
		},
		"rollback": func() error {
			_, err := h.update(h.root, "events", fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":%d}`, head[1]))
			return err
		},
		"expiry": func() error {
			_, err := h.update(h.root, "events", fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, head[0]))
			return err
		},
		"governance": func() error {
			_, err := h.SetGovernance(context.Background(), h.root, "main.db.events", catalog.GovernanceInput{Level: models.Restricted})
			return err
		},
	}
	for _, name := range []string{"properties", "schema", "rollback", "expiry", "governance"} {
		must(t, steps[name]())
		if next := nextRowID(t, h.load(t, "events")); next != 15 {
			t.Fatalf("after %s next-row-id is %d, want 15", name, next)
		}
	}
	_, err = h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	if next := nextRowID(t, h.load(t, "events")); next != 16 {
		t.Fatalf("next-row-id is %d, want 16", next)
	}
}

// TestCaseP2RowLineage: a v3 append starts at the table's next row id and moves it on by its rows; an overlap is a
// conflict, so that the writer refreshes.
func TestCaseP2RowLineage(t *testing.T) {
	h := newHarness(t)
	must(t, h.SetDefaultWritePolicy(context.Background(), h.root, "main.db", models.OpenAppend))
	view, err := h.createFormat(t, "events", "3")
	must(t, err)
	for _, rows := range []int64{7, 3} {
		before := nextRowID(t, view)
		c := h.append(t, "events", rows)
		view, err = h.commit(h.with(models.TableWriteData), "events", c)
		must(t, err)
		snap, _ := view.Document.Snapshot(c.SnapshotID)
		var lineage struct {
			First *int64 `json:"first-row-id"`
			Added *int64 `json:"added-rows"`
		}
		for _, update := range c.Updates {
			var u struct{ Snapshot json.RawMessage }
			must(t, json.Unmarshal(update, &u))
			if u.Snapshot != nil {
				must(t, json.Unmarshal(u.Snapshot, &lineage))
			}
		}
		if lineage.First == nil || *lineage.First != before || nextRowID(t, view) != before+rows || snap.ID != c.SnapshotID {
			t.Fatalf("from %d on by %d rows: first-row-id %v, next-row-id %d", before, rows, lineage.First, nextRowID(t, view))
		}
	}
	stale := h.append(t, "events", 4)
	for i, u := range stale.Updates {
		stale.Updates[i] = json.RawMessage(strings.Replace(string(u), `"first-row-id":10`, `"first-row-id":9`, 1))
	}
	_, err = h.commit(h.root, "events", stale)
	wantCode(t, err, fault.Conflict)
	if next := nextRowID(t, h.load(t, "events")); next != 10 {
		t.Fatalf("the refused append moved next-row-id to %d", next)
	}
}

// TestCaseP4FormatVersions: an upgrade needs its privilege under an open policy, and a version that the catalog allows.
func TestCaseP4FormatVersions(t *testing.T) {
	const upgrade = `{"action":"upgrade-format-version","format-version":3}`
	t.Run("under the write policy", func(t *testing.T) {
		h := newHarness(t)
		writer := h.with(models.TableWriteData)
		for policy, code := range map[models.WritePolicy]fault.Code{models.GovernedOnly: fault.Forbidden, models.OpenAppend: fault.Forbidden} {
			h.create(t, string(policy), policy)
			_, err := h.update(writer, string(policy), upgrade)
			wantCode(t, err, code)
		}
		h.create(t, "full", models.OpenFull)
		_, err := h.update(h.with(models.TableAddSnapshot, models.TableList), "full", upgrade)
		wantCode(t, err, fault.Forbidden)
		view, err := h.update(h.with(models.TableUpgradeFormatVersion, models.TableReadProperties, models.TableList), "full", upgrade)
		must(t, err)
		if view.Document.FormatVersion() != 3 {
			t.Fatalf("the format version is %d", view.Document.FormatVersion())
		}
	})
	for name, limit := range map[string]struct{ configured, property string }{
		"allowed by the configuration": {"1,2", ""}, "allowed by the catalog": {"1,2,3", "2, 1"},
	} {
		t.Run(name, func(t *testing.T) {
			versions, err := catalog.ParseFormatVersions(limit.configured)
			must(t, err)
			h := newHarness(t, func(d *catalog.Deps) { d.FormatVersions = versions })
			must(t, h.SetDefaultWritePolicy(context.Background(), h.root, "main.db", models.OpenFull))
			old, err := h.createFormat(t, "old", "2")
			must(t, err)
			if limit.property != "" {
				h.cat.Properties.V = map[string]string{"allowed-format-versions": limit.property}
			}
			checkRefused := func(err error) {
				t.Helper()
				wantCode(t, err, fault.Forbidden)
				if !strings.Contains(fault.PublicMessage(err), "only of 1, 2") {
					t.Fatalf("the refusal says %q", fault.PublicMessage(err))
				}
			}
			_, err = h.createFormat(t, "new", "3")
			checkRefused(err)
			_, err = h.update(h.root, "old", upgrade)
			checkRefused(err)
			_, err = h.CreateTable(context.Background(), h.root, h.cat, catalog.CreateTableInput{
				Namespace: []string{"db"}, Name: "staged", Schema: json.RawMessage(schemaJSON), Stage: true, Properties: map[string]string{"format-version": "3"},
			})
			checkRefused(err)
			if doc := h.load(t, "old"); doc.MetadataLocation != old.MetadataLocation {
				t.Fatal("a refused upgrade moved the pointer")
			}
			_, err = h.createFormat(t, "usual", "")
			must(t, err)
		})
	}
	t.Run("registering and staged creates", func(t *testing.T) {
		h := newHarness(t)
		must(t, h.SetDefaultWritePolicy(context.Background(), h.root, "main.db", models.OpenFull))
		made, err := h.createFormat(t, "events", "3")
		must(t, err)
		must(t, h.DropTable(context.Background(), h.root, h.cat, ident("events"), false))
		h.cat.Properties.V = map[string]string{"allowed-format-versions": "1,2"}
		_, err = h.RegisterTable(context.Background(), h.root, h.cat, catalog.RegisterInput{Namespace: []string{"db"}, Name: "again", MetadataLocation: made.MetadataLocation})
		wantCode(t, err, fault.Forbidden)
		h.cat.Properties.V = map[string]string{"allowed-format-versions": "3"}
		staged, err := h.CreateTable(context.Background(), h.root, h.cat, catalog.CreateTableInput{Namespace: []string{"db"}, Name: "ctas", Schema: json.RawMessage(schemaJSON), Stage: true})
		must(t, err)
		if staged.Document.FormatVersion() != 3 {
			t.Fatalf("a table gets format version %d where 3 alone is allowed", staged.Document.FormatVersion())
		}
		_, err = h.CommitTable(context.Background(), h.root, h.cat, stagedCommit(t, h, staged)) // says version 2
		wantCode(t, err, fault.Forbidden)
	})
	t.Run("a list that cannot be read allows nothing", func(t *testing.T) {
		h := newHarness(t)
		h.cat.Properties.V = map[string]string{"allowed-format-versions": "all"}
		_, err := h.createFormat(t, "events", "2")
		wantCode(t, err, fault.Forbidden)
	})
}

// TestCaseQ2NestedFieldIDs: the last assigned field id counts the fields within fields.
func TestCaseQ2NestedFieldIDs(t *testing.T) {
	h := newHarness(t)
	must(t, h.SetDefaultWritePolicy(context.Background(), h.root, "main.db", models.OpenFull))
	const nested = `{"type":"struct","fields":[
		{"id":1,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":2,"name":"a","required":false,"type":"long"}]}},
		{"id":3,"name":"l","required":false,"type":{"type":"list","element-id":4,"element":{"type":"struct","fields":[{"id":5,"name":"b","required":false,"type":"string"}]},"element-required":false}},
		{"id":6,"name":"m","required":false,"type":{"type":"map","key-id":7,"key":"string","value-id":8,"value":"long","value-required":false}}%s]}`
	view, err := h.CreateTable(context.Background(), h.root, h.cat, catalog.CreateTableInput{
		Namespace: []string{"db"}, Name: "events", Schema: json.RawMessage(fmt.Sprintf(nested, "")),
	})
	must(t, err)
	last := func(view catalog.TableView) (id int) {
		var doc struct {
			Last int `json:"last-column-id"`
		}
		must(t, json.Unmarshal(view.Document.Bytes(), &doc))
		return doc.Last
	}
	if last(view) != 8 {
		t.Fatalf("last-column-id is %d, want that of the deepest field", last(view))
	}
	evolve := func(asserted int, field string) error {
		var schema struct {
			Schemas []json.RawMessage `json:"schemas"`
		}
		must(t, json.Unmarshal(h.load(t, "events").Document.Bytes(), &schema))
		current := string(schema.Schemas[len(schema.Schemas)-1])
		added := current[:strings.LastIndex(current, "]")] + "," + field + current[strings.LastIndex(current, "]"):]
		_, err := h.CommitTable(context.Background(), h.root, h.cat, input("events",
			[]json.RawMessage{json.RawMessage(fmt.Sprintf(`{"type":"assert-last-assigned-field-id","last-assigned-field-id":%d}`, asserted))},
			[]json.RawMessage{json.RawMessage(`{"action":"add-schema","schema":` + added + `}`), json.RawMessage(`{"action":"set-current-schema","schema-id":-1}`)}))
		return err
	}
	wantCode(t, evolve(3, `{"id":9,"name":"x","required":false,"type":"long"}`), fault.Conflict)
	must(t, evolve(8, `{"id":9,"name":"x","required":false,"type":{"type":"struct","fields":[{"id":10,"name":"y","required":false,"type":"long"}]}}`))
	must(t, evolve(10, `{"id":11,"name":"z","required":false,"type":"long"}`))
	if got := last(h.load(t, "events")); got != 11 {
		t.Fatalf("last-column-id is %d, want 11", got)
	}
}

const withPhone = `{"action":"add-schema","schema":{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"},
	{"id":2,"name":"email","required":false,"type":"string"},{"id":3,"name":"%s","required":false,"type":"string"}]}}`

// TestCaseQ3AppendKeepsTheNewerSchema: an append that was prepared before a schema change does not take it back.
func TestCaseQ3AppendKeepsTheNewerSchema(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	early := h.append(t, "events", 3) // says schema-id 0
	_, err := h.update(h.root, "events", fmt.Sprintf(withPhone, "phone"), `{"action":"set-current-schema","schema-id":-1}`)
	must(t, err)
	view, err := h.commit(h.root, "events", early)
	must(t, err)
	schema, err := view.Document.CurrentSchema()
	must(t, err)
	if _, ok := schema.FieldByName("phone"); !ok {
		t.Fatal("an append with an older schema took the column back")
	}
}

// TestCaseQ4TwoColumnsAtOnce: of two adders one is told to refresh, and its retry gives both columns.
func TestCaseQ4TwoColumnsAtOnce(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	add := func(schemaID, lastID int, updates ...string) error {
		raw := make([]json.RawMessage, len(updates))
		for i, u := range updates {
			raw[i] = json.RawMessage(u)
		}
		_, err := h.CommitTable(context.Background(), h.root, h.cat, input("events", []json.RawMessage{
			json.RawMessage(fmt.Sprintf(`{"type":"assert-current-schema-id","current-schema-id":%d}`, schemaID)),
			json.RawMessage(fmt.Sprintf(`{"type":"assert-last-assigned-field-id","last-assigned-field-id":%d}`, lastID)),
		}, append(raw, json.RawMessage(`{"action":"set-current-schema","schema-id":-1}`))))
		return err
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i, name := range []string{"phone", "city"} {
		wg.Go(func() { errs[i] = add(0, 2, fmt.Sprintf(withPhone, name)) })
	}
	wg.Wait()
	loser := "phone"
	if errs[0] == nil {
		loser = "city"
		wantCode(t, errs[1], fault.Conflict)
	} else {
		must(t, errs[1])
		wantCode(t, errs[0], fault.Conflict)
	}
	winner := map[string]string{"phone": "city", "city": "phone"}[loser]
	both := strings.Replace(fmt.Sprintf(withPhone, winner), `]}}`, `,{"id":4,"name":"`+loser+`","required":false,"type":"string"}]}}`, 1)
	must(t, add(1, 3, both))
	schema, err := h.load(t, "events").Document.CurrentSchema()
	must(t, err)
	for _, name := range []string{"phone", "city"} {
		if _, ok := schema.FieldByName(name); !ok {
			t.Fatalf("the column %s is lost", name)
		}
	}
}

// TestCaseV1FiveTables: with the third table stale, or one table closed, none of five commits is applied.
func TestCaseV1FiveTables(t *testing.T) {
	h := newHarness(t)
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		h.create(t, name, models.OpenAppend)
	}
	writer := h.with(models.TableWriteData)
	prepare := func() (in []catalog.CommitInput) {
		for _, name := range names {
			c := h.append(t, name, 1)
			in = append(in, input(name, c.Requirements, c.Updates))
		}
		return in
	}
	total := func() (n int) {
		for _, name := range names {
			n += h.load(t, name).Document.SnapshotCount()
		}
		return n
	}
	stale := prepare()
	_, err := h.commit(writer, "c", h.append(t, "c", 1))
	must(t, err)
	files := len(metadataFiles(t, h, "a"))
	wantCode(t, h.CommitTransaction(context.Background(), writer, h.cat, stale), fault.Conflict)
	_, err = h.SetWritePolicy(context.Background(), h.root, "main.db.d", models.GovernedOnly)
	must(t, err)
	wantCode(t, h.CommitTransaction(context.Background(), writer, h.cat, prepare()), fault.Forbidden)
	if total() != 1 || len(metadataFiles(t, h, "a")) != files {
		t.Fatalf("%d snapshots are there, want that of c alone", total())
	}
	if denied := h.audit(t, models.AuditCommitDenied); len(denied) != 1 || denied[0].Table != "db.d" {
		t.Fatalf("the audit says %+v", denied)
	}
	_, err = h.SetWritePolicy(context.Background(), h.root, "main.db.d", models.OpenAppend)
	must(t, err)
	must(t, h.CommitTransaction(context.Background(), writer, h.cat, prepare()))
	if total() != 6 {
		t.Fatalf("%d snapshots are there, want 6", total())
	}
	if _, err := icebergtest.Parse(h.load(t, "e").Document.Bytes()); err != nil {
		t.Fatal(err)
	}
}
