package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// platform is a caller as the data plane has one: with the name of who writes, and with what the platform may.
func (h *harness) platform(principal string) policy.Caller {
	c := h.with(models.CatalogManageContent, models.TableGovern)
	c.Principal, c.EngineToken = principal, false
	return c
}

// lake is a table partitioned by its column email, and writes manifests of it.
type lake struct {
	h    *harness
	name string
	spec iceberg.PartitionSpec
}

func newLake(t *testing.T, h *harness, name string) *lake {
	t.Helper()
	ctx := context.Background()
	_, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{
		Namespace: []string{"db"}, Name: name, Schema: json.RawMessage(schemaJSON),
		PartitionSpec: json.RawMessage(`{"spec-id":0,"fields":[{"source-id":2,"field-id":1000,"name":"email","transform":"identity"}]}`),
	})
	must(t, err)
	_, err = h.SetWritePolicy(ctx, h.root, "main.db."+name, models.OpenFull)
	must(t, err)
	return &lake{h: h, name: name, spec: iceberg.NewPartitionSpec(iceberg.PartitionField{
		SourceIDs: []int{2}, FieldID: 1000, Name: "email", Transform: iceberg.IdentityTransform{},
	})}
}

// file is an entry of a manifest.
type file struct {
	status    iceberg.ManifestEntryStatus
	content   iceberg.ManifestEntryContent
	name      string
	partition string
	snapshot  int64 // that added it; 0: the manifest's
	sequence  int64 // 0: inherited
	refers    string
}

func (l *lake) entry(t *testing.T, table icebergtest.Table, snapshot int64, f file) iceberg.ManifestEntry {
	t.Helper()
	path := table.Location + "/data/" + f.name
	b, err := iceberg.NewDataFileBuilder(l.spec, f.content, path, iceberg.ParquetFile, map[int]any{1000: f.partition}, map[int]string{}, nil, 1, 1000)
	must(t, err)
	if f.content == iceberg.EntryContentEqDeletes {
		b.EqualityFieldIDs([]int{1})
	}
	if f.refers != "" {
		const pathID = 2147483546 // of the paths in a position delete file, whose bounds name the only one
		path := map[int][]byte{pathID: []byte(table.Location + "/data/" + f.refers)}
		b.LowerBoundValues(path).UpperBoundValues(path)
	}
	if f.snapshot != 0 {
		snapshot = f.snapshot
	}
	e := iceberg.NewManifestEntryBuilder(f.status, &snapshot, b.Build())
	if f.sequence != 0 {
		e.SequenceNum(f.sequence).FileSequenceNum(f.sequence)
	}
	return e.Build()
}

// manifest writes the files of one content.
func (l *lake) manifest(t *testing.T, table icebergtest.Table, snapshot int64, files ...file) iceberg.ManifestFile {
	t.Helper()
	content := iceberg.ManifestContentData
	if files[0].content != iceberg.EntryContentData {
		content = iceberg.ManifestContentDeletes
	}
	var out bytes.Buffer
	w, err := iceberg.NewManifestWriter(table.FormatVersion, &out, l.spec, table.Schema, snapshot, iceberg.WithManifestWriterContent(content))
	must(t, err)
	for _, f := range files {
		add := map[iceberg.ManifestEntryStatus]func(iceberg.ManifestEntry) error{
			iceberg.EntryStatusADDED: w.Add, iceberg.EntryStatusEXISTING: w.Existing, iceberg.EntryStatusDELETED: w.Delete,
		}[f.status]
		must(t, add(l.entry(t, table, snapshot, f)))
	}
	must(t, w.Close())
	location := fmt.Sprintf("%s/metadata/%s-m0.avro", table.Location, uuid.NewString())
	m, err := w.ToManifestFile(location, int64(out.Len()), iceberg.WithManifestFileContent(content))
	must(t, err)
	must(t, l.h.client.Put(location, out.Bytes()))
	return m
}

// commit makes a commit of new files; keep chooses among the manifests of the head, nil for all.
func (l *lake) commit(t *testing.T, operation string, keep func(iceberg.ManifestFile) bool, files ...file) icebergtest.Commit {
	t.Helper()
	table := l.h.table(t, l.name)
	c := icebergtest.Commit{SnapshotID: rand.Int64N(1<<62) + 1, Rows: 1}
	before, err := l.h.client.Manifests(table.HeadList)
	must(t, err)
	var manifests []iceberg.ManifestFile
	for _, m := range before {
		if keep == nil || keep(m) {
			manifests = append(manifests, m)
		}
	}
	if len(files) > 0 {
		manifests = append(manifests, l.manifest(t, table, c.SnapshotID, files...))
	}
	c, err = l.h.client.Finish(table, c, operation, manifests)
	must(t, err)
	return c
}

func (l *lake) upsert(t *testing.T, files ...file) int64 {
	t.Helper()
	c := l.commit(t, "overwrite", nil, files...)
	_, err := l.h.land(t, l.name, c, models.UpsertRows)
	must(t, err)
	return c.SnapshotID
}

// land commits as the data plane does.
func (h *harness) land(t *testing.T, name string, c icebergtest.Commit, mode models.WriteMode) (models.GovernedWrite, error) {
	t.Helper()
	row := h.load(t, name).Row
	w := models.GovernedWrite{
		ID: uuid.NewString(), CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, TableName: "db." + name, SnapshotID: c.SnapshotID,
		Principal: "ada", Mode: mode, Rows: 1, Updated: 2, Level: models.Internal, Label: models.Restricted,
		Levels: models.JSON[map[models.Classification]int64]{V: map[models.Classification]int64{models.Internal: 1}},
		Tags:   models.JSON[map[string]int64]{V: map[string]int64{"email": 1}},
		Blocks: []models.RowAuditBlock{{RowCount: 1, FirstHash: make([]byte, 16), LastHash: make([]byte, 16), Content: []byte{1}}},
	}
	in := input(name, c.Requirements, c.Updates)
	in.Write = &w
	_, err := h.CommitTable(context.Background(), h.platform("ada"), h.cat, in)
	return w, err
}

func added(name, partition string) file {
	return file{status: iceberg.EntryStatusADDED, name: name, partition: partition}
}

func deletes(content iceberg.ManifestEntryContent, partition, refers string) file {
	return file{status: iceberg.EntryStatusADDED, content: content, name: "d.parquet", partition: partition, refers: refers}
}

// What the platform upserted is its own under open_full: engines append beside it and change their own files, no more.
func TestEnginesLeaveThePlatformsRowsAlone(t *testing.T) {
	without := func(snapshot int64) func(iceberg.ManifestFile) bool {
		return func(m iceberg.ManifestFile) bool { return m.SnapshotID() != snapshot }
	}
	for _, c := range []struct {
		name    string
		commit  func(t *testing.T, l *lake, engine, platform int64) icebergtest.Commit
		refused bool
	}{
		{"append", func(t *testing.T, l *lake, _, _ int64) icebergtest.Commit {
			return l.commit(t, "append", nil, added("n.parquet", "x"))
		}, false},
		{"overwrite of all", func(t *testing.T, l *lake, _, _ int64) icebergtest.Commit {
			return l.commit(t, "overwrite", func(iceberg.ManifestFile) bool { return false }, added("n.parquet", "x"))
		}, true},
		{"an overwrite that calls itself append", func(t *testing.T, l *lake, _, platform int64) icebergtest.Commit {
			return l.commit(t, "append", without(platform), added("n.parquet", "x"))
		}, true},
		{"overwrite of its own files", func(t *testing.T, l *lake, engine, _ int64) icebergtest.Commit {
			return l.commit(t, "overwrite", without(engine), added("n.parquet", "x"))
		}, false},
		{"delete in its own file", func(t *testing.T, l *lake, _, _ int64) icebergtest.Commit {
			return l.commit(t, "delete", nil, deletes(iceberg.EntryContentPosDeletes, "x", "e.parquet"))
		}, false},
		{"delete in a file of the platform", func(t *testing.T, l *lake, _, _ int64) icebergtest.Commit {
			return l.commit(t, "delete", nil, deletes(iceberg.EntryContentPosDeletes, "x", "p.parquet"))
		}, true},
		{"equality delete in its partition", func(t *testing.T, l *lake, _, _ int64) icebergtest.Commit {
			return l.commit(t, "delete", nil, deletes(iceberg.EntryContentEqDeletes, "x", ""))
		}, true},
		{"equality delete in another partition", func(t *testing.T, l *lake, _, _ int64) icebergtest.Commit {
			return l.commit(t, "delete", nil, deletes(iceberg.EntryContentEqDeletes, "y", ""))
		}, false},
		{"compaction", func(t *testing.T, l *lake, _, _ int64) icebergtest.Commit {
			return l.commit(t, "replace", func(iceberg.ManifestFile) bool { return false }, added("n.parquet", "x"),
				file{status: iceberg.EntryStatusDELETED, name: "e.parquet", partition: "x", sequence: 1},
				file{status: iceberg.EntryStatusDELETED, name: "p.parquet", partition: "x", sequence: 2})
		}, true},
		{"manifests written anew", func(t *testing.T, l *lake, engine, platform int64) icebergtest.Commit {
			return l.commit(t, "replace", func(iceberg.ManifestFile) bool { return false },
				file{status: iceberg.EntryStatusEXISTING, name: "e.parquet", partition: "x", snapshot: engine, sequence: 1},
				file{status: iceberg.EntryStatusEXISTING, name: "p.parquet", partition: "x", snapshot: platform, sequence: 2})
		}, false},
		{"manifests written anew, with the platform's file as another's", func(t *testing.T, l *lake, engine, _ int64) icebergtest.Commit {
			return l.commit(t, "replace", func(iceberg.ManifestFile) bool { return false },
				file{status: iceberg.EntryStatusEXISTING, name: "e.parquet", partition: "x", snapshot: engine, sequence: 1},
				file{status: iceberg.EntryStatusEXISTING, name: "p.parquet", partition: "x", snapshot: engine, sequence: 2})
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t)
			l := newLake(t, h, "events")
			first := l.commit(t, "append", nil, added("e.parquet", "x"))
			_, err := h.commit(h.with(models.CatalogManageContent), "events", first)
			must(t, err)
			platform := l.upsert(t, added("p.parquet", "x"))
			next := c.commit(t, l, first.SnapshotID, platform)
			_, err = h.commit(h.with(models.CatalogManageContent), "events", next)
			if !c.refused {
				must(t, err)
				if len(h.openFindings(t)) > 0 {
					t.Error("a finding about a commit that was let in")
				}
				return
			}
			wantCode(t, err, fault.Forbidden)
			h.wantOwnershipNoted(t, err, next.SnapshotID)
			// The platform may do it, as its own maintenance does.
			_, err = h.commit(h.platform("sluice"), "events", next)
			must(t, err)
		})
	}
}

func (h *harness) openFindings(t *testing.T) []models.Finding {
	t.Helper()
	found, err := h.store.Findings(context.Background(), models.FindingFilter{Kind: models.FindingOwnership, Limit: 10})
	must(t, err)
	return found
}

func (h *harness) wantOwnershipNoted(t *testing.T, refusal error, snapshot int64) {
	t.Helper()
	if m := fault.PublicMessage(refusal); !strings.Contains(m, "p.parquet") || !strings.Contains(m, "belongs to the platform") {
		t.Errorf("the refusal says %q", m)
	}
	denied := h.audit(t, models.AuditCommitDenied)
	if len(denied) != 1 || denied[0].Details.V["rule"] != policy.RuleOwnership || denied[0].Principal != "job" {
		t.Errorf("the audit has %+v", denied)
	}
	found := h.openFindings(t)
	if len(found) != 1 || found[0].Principal != "job" || found[0].Severity != models.High || found[0].Table != "db.events" {
		t.Fatalf("findings: %+v", found)
	}
	evidence := found[0].Evidence.V
	if evidence["snapshot"] != fmt.Sprint(snapshot) || !strings.HasSuffix(fmt.Sprint(evidence["file"]), "/p.parquet") || evidence["principal"] != "job" {
		t.Errorf("the evidence is %v", evidence)
	}
}

// A table that is replaced as a whole, and a branch that is moved to a snapshot beside its head, lose the platform's rows too.
func TestReplacingATableRemovesThePlatformsRows(t *testing.T) {
	h := newHarness(t)
	l := newLake(t, h, "events")
	first := l.commit(t, "append", nil, added("e.parquet", "x"))
	_, err := h.commit(h.root, "events", first)
	must(t, err)
	beside := l.commit(t, "append", nil, added("n.parquet", "x"))
	l.upsert(t, added("p.parquet", "x"))
	engine := h.with(models.CatalogManageContent)
	_, err = h.CommitTable(context.Background(), engine, h.cat, input("events", nil, renumbered(t, beside.Updates, 3)))
	wantCode(t, err, fault.Forbidden)
	if m := fault.PublicMessage(err); !strings.Contains(m, "p.parquet") {
		t.Errorf("a branch moved sideways: %q", m)
	}

	table := h.table(t, "events")
	table.Head = nil
	c := icebergtest.Commit{SnapshotID: 4711, Rows: 1}
	c, err = h.client.Finish(table, c, "append", []iceberg.ManifestFile{l.manifest(t, table, c.SnapshotID, added("n.parquet", "x"))})
	must(t, err)
	replace := append([]json.RawMessage{json.RawMessage(`{"action":"remove-snapshot-ref","ref-name":"main"}`)}, c.Updates...)
	_, err = h.CommitTable(context.Background(), engine, h.cat, input("events", nil, replace))
	wantCode(t, err, fault.Forbidden)
	if m := fault.PublicMessage(err); !strings.Contains(m, "p.parquet") {
		t.Errorf("create or replace: %q", m)
	}
}

// renumbered gives a snapshot that was made for another state of the table the sequence number of now.
func renumbered(t *testing.T, updates []json.RawMessage, sequence int) []json.RawMessage {
	t.Helper()
	out := append([]json.RawMessage{}, updates...)
	var add map[string]any
	d := json.NewDecoder(bytes.NewReader(out[0]))
	d.UseNumber()
	must(t, d.Decode(&add))
	add["snapshot"].(map[string]any)["sequence-number"] = sequence
	raw, err := json.Marshal(add)
	must(t, err)
	out[0] = raw
	return out
}
