package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
)

func TestAppendIsOneTransaction(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	c := h.append(t, "events", 7)
	view, err := h.commit(h.with(models.TableWriteData), "events", c)
	must(t, err)

	if head, ok := view.Document.CurrentSnapshotID(); !ok || head != c.SnapshotID {
		t.Fatalf("main is at %d, want %d", head, c.SnapshotID)
	}
	row, err := h.store.TableByID(context.Background(), view.Row.ID)
	must(t, err)
	if row.CurrentSnapshotID == nil || *row.CurrentSnapshotID != c.SnapshotID || row.MetadataLocation != view.MetadataLocation {
		t.Fatalf("the row points to %v at %s", row.CurrentSnapshotID, row.MetadataLocation)
	}
	ledger, err := h.store.Commit(context.Background(), row.ID, c.SnapshotID)
	must(t, err)
	if ledger.Kind != models.ExternalCommit || ledger.Status != models.CommitPending || ledger.Ref != "main" || ledger.MetadataLocation != view.MetadataLocation || ledger.Writer.V.Principal != "job" {
		t.Fatalf("the ledger says %+v", ledger)
	}
	events := h.outbox(t)
	if len(events) != 1 || events[0].SnapshotID != c.SnapshotID || events[0].TableUUID != row.UUID {
		t.Fatalf("the outbox has %+v", events)
	}
	if got := h.audit(t, models.AuditTableCommitted); len(got) != 1 || got[0].Principal != "job" || got[0].Table != "db.events" {
		t.Fatalf("the audit has %+v", got)
	}
}

func TestPolicyAtTheCommitCore(t *testing.T) {
	full := []models.Privilege{models.CatalogManageContent}
	cases := []struct {
		name   string
		policy models.WritePolicy
		commit func(t *testing.T, h *harness) icebergtest.Commit
		code   fault.Code
		says   []string
	}{
		{"an append to governed_only", models.GovernedOnly, honest, fault.Forbidden, []string{"db.events", "governed_only"}},
		{"an append to open_append", models.OpenAppend, honest, "", nil},
		{"an overwrite under open_append", models.OpenAppend, dropsParent("overwrite"), fault.Forbidden, []string{"db.events", "open_append", "open_full"}},
		{"an overwrite that calls itself append", models.OpenAppend, dropsParent("append"), fault.Forbidden, []string{"db.events", "open_append"}},
		{"a delete manifest that calls itself append", models.OpenAppend, addsDeletes, fault.Forbidden, []string{"db.events", "open_append"}},
		{"an overwrite under open_full", models.OpenFull, dropsParent("overwrite"), "", nil},
		{"a file outside the table under open_full", models.OpenFull, outside, fault.Forbidden, []string{"outside"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t)
			h.create(t, "events", models.OpenAppend)
			_, err := h.commit(h.with(full...), "events", h.append(t, "events", 3))
			must(t, err)
			_, err = h.SetWritePolicy(context.Background(), h.root, "main.db.events", c.policy)
			must(t, err)
			before := h.load(t, "events")
			_, err = h.commit(h.with(full...), "events", c.commit(t, h))
			wantCode(t, err, c.code)
			denied := h.audit(t, models.AuditCommitDenied)
			if c.code == "" {
				if len(denied) != 0 {
					t.Fatalf("denied: %+v", denied)
				}
				return
			}
			for _, word := range c.says {
				if !strings.Contains(fault.PublicMessage(err), word) {
					t.Errorf("the refusal %q does not say %q", fault.PublicMessage(err), word)
				}
			}
			if len(denied) != 1 || denied[0].Allowed || denied[0].Reason != fault.PublicMessage(err) {
				t.Errorf("the audit has %+v", denied)
			}
			if after := h.load(t, "events"); after.MetadataLocation != before.MetadataLocation {
				t.Error("a refused commit moved the pointer")
			}
		})
	}
}

func honest(t *testing.T, h *harness) icebergtest.Commit { return h.append(t, "events", 5) }

// dropsParent commits a snapshot whose manifest list forgets what the parent had.
func dropsParent(operation string) func(*testing.T, *harness) icebergtest.Commit {
	return func(t *testing.T, h *harness) icebergtest.Commit {
		table := h.table(t, "events")
		c := icebergtest.Commit{SnapshotID: 4242, DataFiles: []string{table.Location + "/data/new.parquet"}, Rows: 1}
		m, err := h.client.Manifest(table, c.SnapshotID, c.DataFiles, 1)
		must(t, err)
		c, err = h.client.Finish(table, c, operation, []iceberg.ManifestFile{m})
		must(t, err)
		return c
	}
}

func addsDeletes(t *testing.T, h *harness) icebergtest.Commit {
	table := h.table(t, "events")
	manifests, err := h.client.Manifests(table.HeadList)
	must(t, err)
	c := icebergtest.Commit{SnapshotID: 4243, Rows: 0}
	m, err := h.client.DeleteManifest(table, c.SnapshotID, table.Location+"/data/deletes.parquet")
	must(t, err)
	c, err = h.client.Finish(table, c, "append", append(manifests, m))
	must(t, err)
	return c
}

func outside(t *testing.T, h *harness) icebergtest.Commit {
	table := h.table(t, "events")
	manifests, err := h.client.Manifests(table.HeadList)
	must(t, err)
	c := icebergtest.Commit{SnapshotID: 4244, DataFiles: []string{table.Location + "-x/data/new.parquet"}, Rows: 1}
	m, err := h.client.Manifest(table, c.SnapshotID, c.DataFiles, 1)
	must(t, err)
	c, err = h.client.Finish(table, c, "append", append(manifests, m))
	must(t, err)
	return c
}

func TestReplayedCommitChangesNothing(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	c := h.append(t, "events", 7)
	first, err := h.commit(h.root, "events", c)
	must(t, err)
	_, err = h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	again, err := h.commit(h.root, "events", c)
	must(t, err)
	if again.Document.SnapshotCount() != 2 || again.MetadataLocation == first.MetadataLocation {
		t.Fatalf("the replay answers %d snapshots at %s, not the current state", again.Document.SnapshotCount(), again.MetadataLocation)
	}
	if events := h.outbox(t); len(events) != 2 {
		t.Fatalf("the outbox has %d events, want one for each of two commits", len(events))
	}
}

func TestStaleCommitIsAConflict(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	_, err := h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	stale := h.append(t, "events", 7)
	_, err = h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	_, err = h.commit(h.root, "events", stale)
	wantCode(t, err, fault.Conflict)
	if !strings.Contains(fault.PublicMessage(err), "branch main has changed") {
		t.Fatalf("the conflict says %q", fault.PublicMessage(err))
	}
}

func TestConcurrentAppendsLandOnceEach(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	other := newPeer(t, h) // a second process on the same store: its own locks and cache
	const writers, each = 6, 5
	var mu sync.Mutex
	var acknowledged []int64
	var wg sync.WaitGroup
	for w := range writers {
		service := []*catalog.Service{h.Service, other}[w%2]
		wg.Go(func() {
			for range each {
				for {
					view, err := service.LoadTable(context.Background(), h.root, h.cat, ident("events"))
					if err != nil {
						t.Error(err)
						return
					}
					table, _ := icebergtest.Parse(view.Document.Bytes())
					c, _ := h.client.Append(table, 1, 1)
					_, err = service.CommitTable(context.Background(), h.root, h.cat, input("events", c.Requirements, c.Updates))
					if err == nil {
						mu.Lock()
						acknowledged = append(acknowledged, c.SnapshotID)
						mu.Unlock()
						break
					}
					if !fault.Is(err, fault.Conflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	got := h.table(t, "events").Lineage()
	slices.Sort(got)
	slices.Sort(acknowledged)
	if !slices.Equal(got, acknowledged) || len(got) != writers*each {
		t.Fatalf("%d snapshots on main, %d acknowledged, want %d the same", len(got), len(acknowledged), writers*each)
	}
}

// newPeer is another process: the same store and warehouse, nothing else shared.
func newPeer(t *testing.T, h *harness) *catalog.Service {
	t.Helper()
	var deps catalog.Deps
	newHarness(t, func(d *catalog.Deps) { deps = *d })
	deps.Store, deps.Reports, deps.Files = h.store, h.store, h.objects
	deps.Inspector = reconcile.NewInspector(h.objects, objects.WithinStrings)
	return catalog.New(deps)
}

func TestPropertyChangesRetryOnTheServer(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, err := h.update(h.root, "events", `{"action":"set-properties","updates":{"k`+string(rune('a'+i))+`":"v"}}`)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(h.load(t, "events").Document.Properties()); n < 20 {
		t.Fatalf("%d properties, want all 20 and the stamps", n)
	}
}

// faulty fails on demand what the store or the object store does.
type faulty struct {
	catalog.Store
	catalog.Files
	swap, create error
}

func (f *faulty) SwapTables(ctx context.Context, swaps []catalog.Swap) error {
	if f.swap != nil {
		return f.swap
	}
	return f.Store.SwapTables(ctx, swaps)
}

func (f *faulty) CreateFile(ctx context.Context, location string, data []byte) error {
	if f.create != nil {
		return f.create
	}
	return f.Files.CreateFile(ctx, location, data)
}

func TestFailuresAroundTheSwap(t *testing.T) {
	cases := []struct {
		name         string
		swap, create error
		code         fault.Code
		fileStays    bool
	}{
		{"the object store is down", nil, fault.New(fault.Unavailable, "down"), fault.Unavailable, false},
		{"the database is down before the swap", fault.New(fault.Unavailable, "down"), nil, fault.Unavailable, false},
		{"the swap's outcome is in doubt", fault.New(fault.UnknownState, "in doubt"), nil, fault.UnknownState, true},
		{"an error of another kind", errors.New("odd"), nil, fault.Internal, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := &faulty{}
			h := newHarness(t, func(d *catalog.Deps) {
				f.Store, f.Files = d.Store, d.Files
				d.Store, d.Files = f, f
			})
			h.create(t, "events", models.OpenAppend)
			commit := h.append(t, "events", 1)
			before := metadataFiles(t, h, "events")
			f.swap, f.create = c.swap, c.create
			_, err := h.commit(h.root, "events", commit)
			f.swap, f.create = nil, nil
			wantCode(t, err, c.code)
			if _, ok := h.load(t, "events").Document.CurrentSnapshotID(); ok {
				t.Error("the pointer moved")
			}
			if stays := len(metadataFiles(t, h, "events")) > len(before); stays != c.fileStays {
				t.Errorf("the metadata file of the failed commit stays: %v, want %v", stays, c.fileStays)
			}
		})
	}
}

func metadataFiles(t *testing.T, h *harness, name string) []string {
	t.Helper()
	files, err := filepath.Glob(icebergtest.LocalPath(h.load(t, name).Document.Location()) + "/metadata/*.metadata.json")
	must(t, err)
	return files
}

func TestTransactionIsAllOrNothing(t *testing.T) {
	h := newHarness(t)
	for _, name := range []string{"a", "b", "c"} {
		h.create(t, name, models.OpenAppend)
	}
	inputs := func() []catalog.CommitInput {
		var in []catalog.CommitInput
		for _, name := range []string{"a", "b", "c"} {
			c := h.append(t, name, 1)
			in = append(in, input(name, c.Requirements, c.Updates))
		}
		return in
	}
	heads := func() (n int) {
		for _, name := range []string{"a", "b", "c"} {
			n += h.load(t, name).Document.SnapshotCount()
		}
		return n
	}
	stale := inputs()
	_, err := h.commit(h.root, "b", h.append(t, "b", 1))
	must(t, err)
	wantCode(t, h.CommitTransaction(context.Background(), h.root, h.cat, stale), fault.Conflict)
	if heads() != 1 {
		t.Fatalf("a stale table in a transaction let %d snapshots through", heads()-1)
	}
	_, err = h.SetWritePolicy(context.Background(), h.root, "main.db.c", models.GovernedOnly)
	must(t, err)
	wantCode(t, h.CommitTransaction(context.Background(), h.root, h.cat, inputs()), fault.Forbidden)
	if heads() != 1 {
		t.Fatalf("a closed table in a transaction let %d snapshots through", heads()-1)
	}
	_, err = h.SetWritePolicy(context.Background(), h.root, "main.db.c", models.OpenAppend)
	must(t, err)
	must(t, h.CommitTransaction(context.Background(), h.root, h.cat, inputs()))
	if heads() != 4 {
		t.Fatalf("%d snapshots, want 4", heads())
	}
}

func TestReadOnlyTokenMutatesNothing(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	ro := h.root
	ro.ReadOnly = true
	ctx := context.Background()
	_, commitErr := h.commit(ro, "events", h.append(t, "events", 1))
	_, createErr := h.CreateTable(ctx, ro, h.cat, catalog.CreateTableInput{Namespace: []string{"db"}, Name: "x", Schema: json.RawMessage(schemaJSON)})
	_, nsErr := h.CreateNamespace(ctx, ro, h.cat, catalog.NamespaceInput{Levels: []string{"n"}})
	_, propErr := h.UpdateNamespaceProperties(ctx, ro, h.cat, []string{"db"}, catalog.PropertiesUpdate{Updates: map[string]string{"a": "b"}})
	_, policyErr := h.SetWritePolicy(ctx, ro, "main.db.events", models.OpenFull)
	for what, err := range map[string]error{
		"commit": commitErr, "create": createErr, "namespace": nsErr, "properties": propErr, "policy": policyErr,
		"drop":   h.DropTable(ctx, ro, h.cat, ident("events"), false),
		"rename": h.RenameTable(ctx, ro, h.cat, ident("events"), ident("e2")),
		"dropns": h.DropNamespace(ctx, ro, h.cat, []string{"db"}),
	} {
		if !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s with a read-only token: %v", what, err)
		}
	}
	if _, err := h.LoadTable(ctx, ro, h.cat, ident("events")); err != nil {
		t.Errorf("a read-only token cannot read: %v", err)
	}
}

func TestWriterMayOnlyAppend(t *testing.T) { // CASES B1
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	job := h.with(models.TableWriteData)
	first := h.append(t, "events", 1)
	_, err := h.commit(job, "events", first)
	must(t, err)
	_, err = h.commit(job, "events", h.append(t, "events", 1))
	must(t, err)
	ctx := context.Background()
	_, setLocation := h.update(job, "events", `{"action":"set-location","location":"`+h.load(t, "events").Document.Location()+`/x"}`)
	_, rollback := h.update(job, "events", `{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":`+jsonInt(first.SnapshotID)+`}`)
	_, reserved := h.update(job, "events", `{"action":"set-properties","updates":{"sluice.write-policy":"open_full"}}`)
	_, policyErr := h.SetWritePolicy(ctx, job, "main.db.events", models.OpenFull)
	for what, err := range map[string]error{
		"set-location": setLocation, "rollback": rollback, "reserved property": reserved, "policy change": policyErr,
		"drop":   h.DropTable(ctx, job, h.cat, ident("events"), true),
		"rename": h.RenameTable(ctx, job, h.cat, ident("events"), ident("mine")),
	} {
		if !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func jsonInt(n int64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func TestGovernanceIsStamped(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	_, err := h.SetGovernance(context.Background(), h.root, "main.db.events", catalog.GovernanceInput{
		Level: models.Confidential, IdentityColumns: []string{"id"},
		Columns: map[string]models.ColumnGovernance{"email": {Sensitivity: models.Restricted, Tag: "email"}},
	})
	must(t, err)
	want := map[string]string{
		"sluice.write-policy": "open_append", "sluice.classification": "confidential", "sluice.identity-columns": "id",
		"sluice.column-sensitivity.email": "restricted",
	}
	got := h.load(t, "events").Document.Properties()
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s is %q, want %q", key, got[key], value)
		}
	}
	row := h.load(t, "events").Row
	keys, err := h.Restamp(context.Background(), row.ID)
	must(t, err)
	if len(keys) != 0 || h.load(t, "events").MetadataLocation != row.MetadataLocation {
		t.Error("a second restamp wrote again")
	}
	_, err = h.SetGovernance(context.Background(), h.root, "main.db.events", catalog.GovernanceInput{IdentityColumns: []string{"nope"}})
	wantCode(t, err, fault.Invalid)
}

func TestStagedCreate(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	staged, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{Namespace: []string{"db"}, Name: "ctas", Schema: json.RawMessage(schemaJSON), Stage: true})
	must(t, err)
	if staged.MetadataLocation != "" {
		t.Fatalf("a staged table has metadata at %s", staged.MetadataLocation)
	}
	wantCode(t, h.TableExists(ctx, h.root, h.cat, ident("ctas")), fault.NotFound)
	if _, err := os.Stat(icebergtest.LocalPath(staged.Document.Location())); !os.IsNotExist(err) {
		t.Fatalf("staging left files: %v", err)
	}
	in := stagedCommit(t, h, staged)
	_, err = h.CommitTable(ctx, h.root, h.cat, in)
	wantCode(t, err, fault.Forbidden) // the namespace's default is governed_only
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.db", models.OpenAppend))
	view, err := h.CommitTable(ctx, h.root, h.cat, in)
	must(t, err)
	if view.Row.WritePolicy != models.OpenAppend || view.Document.Properties()["sluice.write-policy"] != "open_append" {
		t.Errorf("the table has policy %s, stamped %q", view.Row.WritePolicy, view.Document.Properties()["sluice.write-policy"])
	}
	_, err = h.CommitTable(ctx, h.root, h.cat, in)
	wantCode(t, err, fault.AlreadyExists)
}

// stagedCommit is what an engine sends to end a staged create with a first snapshot.
func stagedCommit(t *testing.T, h *harness, staged catalog.TableView) catalog.CommitInput {
	t.Helper()
	table, err := icebergtest.Parse(staged.Document.Bytes())
	must(t, err)
	c, err := h.client.Append(table, 1, 3)
	must(t, err)
	updates := []json.RawMessage{
		json.RawMessage(`{"action":"assign-uuid","uuid":"` + table.UUID + `"}`),
		json.RawMessage(`{"action":"upgrade-format-version","format-version":2}`),
		json.RawMessage(`{"action":"add-schema","schema":` + schemaJSON + `,"last-column-id":2}`),
		json.RawMessage(`{"action":"set-current-schema","schema-id":-1}`),
		json.RawMessage(`{"action":"add-spec","spec":{"spec-id":0,"fields":[]}}`),
		json.RawMessage(`{"action":"set-default-spec","spec-id":-1}`),
		json.RawMessage(`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`),
		json.RawMessage(`{"action":"set-default-sort-order","sort-order-id":-1}`),
		json.RawMessage(`{"action":"set-location","location":"` + table.Location + `"}`),
	}
	return input("ctas", []json.RawMessage{json.RawMessage(`{"type":"assert-create"}`)}, append(updates, c.Updates...))
}

func TestLocations(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	base := h.create(t, "events", models.OpenFull).Document.Location()
	cases := []struct {
		name, location string
		code           fault.Code
	}{
		{"inside the catalog", h.cat.BaseLocation + "/elsewhere/t", ""},
		{"outside the catalog", "file:///tmp/t", fault.Forbidden},
		{"a look-alike of the catalog", h.cat.BaseLocation + "2/t", fault.Forbidden},
		{"out by dots", h.cat.BaseLocation + "/../t", fault.Invalid},
		{"another table's", base, fault.Forbidden},
		{"inside another table", base + "/data", fault.Forbidden},
		{"around another table", h.cat.BaseLocation + "/db", fault.Forbidden},
		{"a name that only begins like another table's", base + "x", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{
				Namespace: []string{"db"}, Name: "t" + strings.ReplaceAll(c.name, " ", "_"), Location: c.location, Schema: json.RawMessage(schemaJSON)})
			wantCode(t, err, c.code)
		})
	}
	_, err := h.update(h.root, "events", `{"action":"set-properties","updates":{"write.data.path":"`+h.cat.BaseLocation+`/x"}}`)
	wantCode(t, err, fault.Forbidden)
}

func TestDroppedNameGetsAFreshLocation(t *testing.T) { // CASES J2
	h := newHarness(t)
	first := h.create(t, "events", models.OpenAppend).Document
	must(t, h.DropTable(context.Background(), h.root, h.cat, ident("events"), false))
	second := h.create(t, "events", models.OpenAppend).Document
	if first.Location() == second.Location() || first.UUID() == second.UUID() {
		t.Fatalf("the recreated table has %s, as before", second.Location())
	}
}

func TestOldWriterOfARecreatedTable(t *testing.T) { // CASES J1
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	late := h.append(t, "events", 1)
	must(t, h.DropTable(context.Background(), h.root, h.cat, ident("events"), false))
	h.create(t, "events", models.OpenAppend)
	_, err := h.commit(h.root, "events", late)
	wantCode(t, err, fault.Conflict)
}

func TestStewardCommitsForThePlatform(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.GovernedOnly)
	steward := h.with(models.TableWriteData, models.TableGovern)
	steward.EngineToken = false
	c := h.append(t, "events", 2)
	view, err := h.commit(steward, "events", c)
	must(t, err)
	ledger, err := h.store.Commit(context.Background(), view.Row.ID, c.SnapshotID)
	must(t, err)
	if ledger.Kind != models.PlatformCommit {
		t.Errorf("the ledger says %s", ledger.Kind)
	}
	steward.EngineToken = true
	_, err = h.commit(steward, "events", h.append(t, "events", 2))
	wantCode(t, err, fault.Forbidden)
}

func TestInvisibleIsAbsent(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	stranger := policy.Caller{Principal: "stranger", Held: policy.NewHeld(nil, nil)}
	ctx := context.Background()
	_, err := h.LoadTable(ctx, stranger, h.cat, ident("events"))
	wantCode(t, err, fault.NotFound)
	_, err = h.commit(stranger, "events", h.append(t, "events", 1))
	wantCode(t, err, fault.NotFound)
	_, err = h.LoadNamespace(ctx, stranger, h.cat, []string{"db"})
	wantCode(t, err, fault.NotFound)
	page, err := h.ListNamespaces(ctx, stranger, h.cat, nil, catalog.Page{})
	must(t, err)
	if len(page.Items) != 0 {
		t.Fatalf("a stranger sees %v", page.Items)
	}
}
