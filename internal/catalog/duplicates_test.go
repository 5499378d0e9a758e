package catalog_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// flinkSummary is what Flink writes into a snapshot.
func flinkSummary(job, checkpoint string) map[string]string {
	return map[string]string{"flink.job-id": job, "flink.operator-id": "op", "flink.max-committed-checkpoint-id": checkpoint}
}

// stream prepares an append with a summary.
func (h *harness) stream(t *testing.T, name string, summary map[string]string) icebergtest.Commit {
	t.Helper()
	client := h.client
	client.Summary = summary
	c, err := client.Append(h.table(t, name), 1, 5)
	must(t, err)
	return c
}

// readd prepares an append of files that were written before.
func (h *harness) readd(t *testing.T, name string, files ...string) icebergtest.Commit {
	t.Helper()
	at := h.table(t, name)
	c, err := h.client.Append(at, 1, 5)
	must(t, err)
	c.DataFiles = files
	manifests, err := h.client.Manifests(at.HeadList)
	must(t, err)
	added, err := h.client.Manifest(at, c.SnapshotID, files, 5)
	must(t, err)
	c, err = h.client.Finish(at, c, "append", append(manifests, added))
	must(t, err)
	return c
}

func (h *harness) ledger(t *testing.T, view catalog.TableView) []models.Commit {
	t.Helper()
	rows, err := h.store.Commits(context.Background(), models.CommitFilter{TableID: view.Row.ID, Limit: 100})
	must(t, err)
	return rows
}

func (h *harness) rejecting(t *testing.T, name string) catalog.TableView {
	t.Helper()
	view := h.create(t, name, models.OpenFull)
	_, err := h.SetDuplicateCommits(context.Background(), h.root, "main.db."+name, models.RejectDuplicates)
	must(t, err)
	return view
}

// job is an engine with all that it takes to write.
func (h *harness) job() policy.Caller {
	return h.with(models.TableWriteData, models.TableReadData, models.TableFullMetadata)
}

// rollback takes main back to a snapshot.
func (h *harness) rollback(t *testing.T, name string, to int64) {
	t.Helper()
	_, err := h.update(h.job(), name, `{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":`+jsonInt(to)+`}`)
	must(t, err)
}

func TestTheLedgerKnowsTheWriter(t *testing.T) {
	h := newHarness(t)
	view := h.create(t, "events", models.OpenAppend)
	_, err := h.commit(h.job(), "events", h.stream(t, "events", flinkSummary("j1", "12")))
	must(t, err)
	row := h.ledger(t, view)[0]
	want := writers.Identify(row.TableID, "main", row.Writer.V, row.Summary.V)
	if row.WriterID == "" || row.WriterID != want.ID || row.Job != "j1" || row.Unit != "checkpoint/12" || row.SchemaID == nil || *row.SchemaID != 0 {
		t.Errorf("the ledger has %+v", row)
	}
}

// What a client calls its engine is in every list of writers, and each look at them reads it.
func TestTheNameOfAnEngineIsBounded(t *testing.T) {
	h := newHarness(t)
	view := h.create(t, "events", models.OpenAppend)
	_, err := h.commit(h.job(), "events", h.stream(t, "events", map[string]string{"engine-name": strings.Repeat("\u202e", 100_000)}))
	must(t, err)
	if engine := h.ledger(t, view)[0].Writer.V.Engine; engine == "" || len(engine) > 200 {
		t.Errorf("the engine has %d bytes", len(engine))
	}
}

// Snapshots that a commit leaves on its way are of the branch that they were the head of; a tag does not hide it.
func TestTheLedgerKnowsTheBranch(t *testing.T) {
	h := newHarness(t)
	view := h.create(t, "events", models.OpenAppend)
	first := h.stream(t, "events", flinkSummary("j1", "1"))
	first.Updates = append(first.Updates, json.RawMessage(`{"action":"set-snapshot-ref","ref-name":"z","type":"tag","snapshot-id":`+jsonInt(first.SnapshotID)+`}`))
	_, err := h.commit(h.job(), "events", first)
	must(t, err)
	side := h.stream(t, "events", flinkSummary("j1", "2"))
	side.Updates[1] = json.RawMessage(`{"action":"set-snapshot-ref","ref-name":"side","type":"branch","snapshot-id":` + jsonInt(side.SnapshotID) + `}`)
	side.Requirements = side.Requirements[:1]
	_, err = h.commit(h.job(), "events", side)
	must(t, err)
	rows := h.ledger(t, view)
	if rows[0].Ref != "side" || rows[1].Ref != "main" || rows[0].WriterID == rows[1].WriterID {
		t.Errorf("the ledger has %s %s, %s %s", rows[0].Ref, rows[0].WriterID, rows[1].Ref, rows[1].WriterID)
	}
}

func TestADuplicateIsTakenUnlessItIsRejected(t *testing.T) {
	h := newHarness(t)
	view := h.create(t, "events", models.OpenAppend)
	for range 2 {
		_, err := h.commit(h.job(), "events", h.stream(t, "events", flinkSummary("j1", "12")))
		must(t, err)
	}
	if n := len(h.ledger(t, view)); n != 2 {
		t.Errorf("the ledger has %d commits", n)
	}
}

func TestADuplicateCheckpointIsRejected(t *testing.T) {
	h := newHarness(t)
	view := h.rejecting(t, "events")
	first := h.stream(t, "events", flinkSummary("j1", "12"))
	_, err := h.commit(h.job(), "events", first)
	must(t, err)
	_, err = h.commit(h.job(), "events", first)
	must(t, err) // the same request again is a replay, and no duplicate
	before := h.load(t, "events").MetadataLocation

	_, err = h.commit(h.job(), "events", h.stream(t, "events", flinkSummary("j1", "12")))
	wantCode(t, err, fault.Conflict)
	for _, says := range []string{"main.db.events", "checkpoint/12", jsonInt(first.SnapshotID), "Nothing was changed", "sluice policy duplicate-commits main.db.events audit"} {
		if !strings.Contains(fault.PublicMessage(err), says) {
			t.Errorf("%q does not say %q", fault.PublicMessage(err), says)
		}
	}
	denied := h.audit(t, models.AuditCommitDenied)
	if len(denied) != 1 || denied[0].Details.V["rule"] != "duplicate" || denied[0].Allowed || !strings.Contains(denied[0].Reason, "checkpoint/12") {
		t.Errorf("the audit has %+v", denied)
	}
	if h.load(t, "events").MetadataLocation != before || len(h.ledger(t, view)) != 1 {
		t.Error("the table moved on")
	}

	_, err = h.commit(h.job(), "events", h.stream(t, "events", flinkSummary("j1", "13")))
	must(t, err)
	_, err = h.commit(h.job(), "events", h.stream(t, "events", nil))
	must(t, err)
	other := h.job()
	other.Principal = "another"
	_, err = h.commit(other, "events", h.stream(t, "events", flinkSummary("j1", "13")))
	must(t, err) // another principal's job is another writer
}

// twice puts a second snapshot behind that of a commit, in the same request.
func (h *harness) twice(t *testing.T, name string, first icebergtest.Commit, summary map[string]string, files ...string) icebergtest.Commit {
	t.Helper()
	at := h.table(t, name)
	at.Head, at.HeadList, at.LastSequence = &first.SnapshotID, first.ManifestList, at.LastSequence+1
	client := h.client
	client.Summary = summary
	second, err := client.Append(at, 1, 5)
	must(t, err)
	if len(files) > 0 {
		manifests, err := client.Manifests(at.HeadList)
		must(t, err)
		added, err := client.Manifest(at, second.SnapshotID, files, 5)
		must(t, err)
		second, err = client.Finish(at, second, "append", append(manifests, added))
		must(t, err)
	}
	second.Requirements, second.Updates = first.Requirements, append(first.Updates, second.Updates...)
	return second
}

// What one request brings twice is not in the ledger yet.
func TestDuplicatesWithinOneCommitAreRejected(t *testing.T) {
	h := newHarness(t)
	h.rejecting(t, "events")
	refused := func(c icebergtest.Commit, says string) {
		t.Helper()
		_, err := h.commit(h.job(), "events", c)
		wantCode(t, err, fault.Conflict)
		if got := fault.PublicMessage(err); !strings.Contains(got, says) || !strings.Contains(got, "two snapshots of this commit") {
			t.Errorf("%q does not say %q", got, says)
		}
	}
	first := h.stream(t, "events", flinkSummary("j1", "12"))
	refused(h.twice(t, "events", first, flinkSummary("j1", "12")), "checkpoint/12")
	plain := h.append(t, "events", 5)
	refused(h.twice(t, "events", plain, nil, plain.DataFiles...), plain.DataFiles[0])

	_, err := h.commit(h.job(), "events", h.twice(t, "events", first, flinkSummary("j1", "13")))
	must(t, err)
	round := map[string]string{"kafka.connect.commit-id": "c-1", "kafka.connect.task-id": "0"}
	_, err = h.commit(h.job(), "events", h.twice(t, "events", h.stream(t, "events", round), round))
	must(t, err) // a connector makes a snapshot for each partition spec
	_, err = h.commit(h.job(), "events", h.stream(t, "events", round))
	wantCode(t, err, fault.Conflict)
}

// Calling it a compaction does not let a file in again.
func TestReplacingBringsNoFileAgain(t *testing.T) {
	h := newHarness(t)
	h.rejecting(t, "events")
	first := h.append(t, "events", 5)
	_, err := h.commit(h.job(), "events", first)
	must(t, err)
	at := h.table(t, "events")
	c, err := h.client.Append(at, 1, 5)
	must(t, err)
	manifests, err := h.client.Manifests(at.HeadList)
	must(t, err)
	added, err := h.client.Manifest(at, c.SnapshotID, first.DataFiles, 5)
	must(t, err)
	c, err = h.client.Finish(at, c, "replace", append(manifests, added))
	must(t, err)
	_, err = h.commit(h.job(), "events", c)
	wantCode(t, err, fault.Conflict)
}

// What a table lost by a rollback is to be written again.
func TestRolledBackUnitsAreNoDuplicates(t *testing.T) {
	h := newHarness(t)
	h.rejecting(t, "events")
	base := h.stream(t, "events", flinkSummary("j1", "11"))
	_, err := h.commit(h.job(), "events", base)
	must(t, err)
	lost := h.stream(t, "events", flinkSummary("j1", "12"))
	_, err = h.commit(h.job(), "events", lost)
	must(t, err)
	h.rollback(t, "events", base.SnapshotID)
	_, err = h.commit(h.job(), "events", h.stream(t, "events", flinkSummary("j1", "12")))
	must(t, err)
	h.rollback(t, "events", base.SnapshotID)
	_, err = h.commit(h.job(), "events", h.readd(t, "events", lost.DataFiles...))
	must(t, err)
}

// The ledger outlives snapshots: what an engine cannot see any more is a duplicate all the same.
func TestExpiredUnitsAreDuplicates(t *testing.T) {
	h := newHarness(t)
	h.rejecting(t, "events")
	first := h.stream(t, "events", flinkSummary("j1", "12"))
	_, err := h.commit(h.job(), "events", first)
	must(t, err)
	_, err = h.commit(h.job(), "events", h.stream(t, "events", flinkSummary("j1", "13")))
	must(t, err)
	_, err = h.update(h.job(), "events", `{"action":"remove-snapshots","snapshot-ids":[`+jsonInt(first.SnapshotID)+`]}`)
	must(t, err)
	_, err = h.commit(h.job(), "events", h.stream(t, "events", flinkSummary("j1", "12")))
	wantCode(t, err, fault.Conflict)
}

func TestDuplicateFilesAreRejected(t *testing.T) {
	h := newHarness(t)
	view := h.rejecting(t, "events")
	first := h.append(t, "events", 5)
	_, err := h.commit(h.job(), "events", first)
	must(t, err)
	refused := func(says string) {
		t.Helper()
		_, err := h.commit(h.job(), "events", h.readd(t, "events", first.DataFiles...))
		wantCode(t, err, fault.Conflict)
		if got := fault.PublicMessage(err); !strings.Contains(got, says) || !strings.Contains(got, first.DataFiles[0]) || !strings.Contains(got, jsonInt(first.SnapshotID)) {
			t.Errorf("%q", got)
		}
	}
	refused("has the file") // its reconciliation is pending: nothing but its manifest knows

	record := models.FileRecord{
		ID: models.FileRecordID(view.Row.ID, first.DataFiles[0]), TableID: view.Row.ID, Location: first.DataFiles[0], SnapshotID: first.SnapshotID, Size: 1000,
		RecordedAt: time.Now(), CheckedAt: time.Now(),
	}
	ctx := context.Background()
	must(t, h.store.RecordFiles(ctx, activities.FileRecording{Added: []models.FileRecord{record}}))
	refused("has the file")
	must(t, h.store.RecordFiles(ctx, activities.FileRecording{Removed: []string{record.ID}, By: 77}))
	refused("snapshot 77 removed it")

	_, err = h.commit(h.root, "events", h.readd(t, "events", first.DataFiles...))
	wantCode(t, err, fault.Conflict)
	steward := h.with(models.TableWriteData, models.TableReadData, models.TableGovern)
	steward.EngineToken = false
	_, err = h.commit(steward, "events", h.readd(t, "events", first.DataFiles...))
	must(t, err) // who governs the table may
}

func TestDuplicateCommitsAreSetByWhoGoverns(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenAppend)
	_, err := h.SetDuplicateCommits(ctx, h.with(models.TableFullMetadata), "main.db.events", models.RejectDuplicates)
	wantCode(t, err, fault.Forbidden)
	_, err = h.SetDuplicateCommits(ctx, h.with(models.NamespaceList), "main.db.events", models.RejectDuplicates)
	wantCode(t, err, fault.NotFound)
	_, err = h.SetDuplicateCommits(ctx, ungoverning(h.with(models.CatalogManageAccess)), "main.db.events", models.RejectDuplicates)
	wantCode(t, err, fault.Forbidden)
	_, err = h.SetDuplicateCommits(ctx, h.root, "main.db.events", "maybe")
	wantCode(t, err, fault.Invalid)
	for range 2 {
		state, err := h.SetDuplicateCommits(ctx, h.with(models.CatalogManageAccess), "main.db.events", models.RejectDuplicates)
		must(t, err)
		if state.Table.DuplicateCommits != models.RejectDuplicates {
			t.Errorf("the mode is %q", state.Table.DuplicateCommits)
		}
	}
	events := h.audit(t, models.AuditDuplicatesChanged)
	if len(events) != 1 || events[0].Details.V["from"] != "audit" || events[0].Details.V["to"] != "reject" || events[0].Table != "db.events" {
		t.Errorf("the audit has %+v", events)
	}
}

func TestAStaleIdentityIsAFinding(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenAppend)
	stale := h.stream(t, "events", flinkSummary("j1", "3"))
	old := h.load(t, "events").Row.UUID
	must(t, h.DropTable(ctx, h.root, h.cat, ident("events"), false))
	view := h.create(t, "events", models.OpenAppend)
	job := h.job()
	job.Origin = policy.Origin{Address: "10.0.0.9", Client: "flink/1.20"}
	for range 2 {
		_, err := h.commit(job, "events", stale)
		wantCode(t, err, fault.Conflict)
	}
	found, err := h.store.Findings(ctx, models.FindingFilter{TableID: view.Row.ID, Limit: 10})
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("%d findings", len(found))
	}
	f := found[0]
	e := f.Evidence.V
	if f.Kind != models.FindingStaleIdentity || f.Catalog != "main" || f.Table != "db.events" || f.Principal != "job" || f.Subject != "flink writer op of job" ||
		e["claimedUuid"] != old || e["uuid"] != view.Row.UUID || e["address"] != "10.0.0.9" || e["unit"] != "checkpoint/3" {
		t.Errorf("the finding is %+v", f)
	}
	fresh := h.stream(t, "events", flinkSummary("j2", "1"))
	_, err = h.commit(job, "events", fresh)
	must(t, err)
	_, err = h.commit(job, "events", h.append(t, "events", 1))
	must(t, err)
	lost := h.append(t, "events", 1)
	_, err = h.commit(job, "events", h.append(t, "events", 1))
	must(t, err)
	_, err = h.commit(job, "events", lost)
	wantCode(t, err, fault.Conflict) // a lost race is none
	found, err = h.store.Findings(ctx, models.FindingFilter{TableID: view.Row.ID, Limit: 10})
	must(t, err)
	if len(found) != 1 {
		t.Errorf("%d findings", len(found))
	}
}
