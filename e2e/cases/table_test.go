package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
)

const schema = `{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"email","required":false,"type":"string"}]}`

// fileSize is what the manifests of icebergtest say of a data file.
const fileSize = 1000

// table is a table that a test writes to as engines do.
type table struct {
	*bench
	name, ref string
	writer    icebergtest.Writer
}

// commit is one that a writer makes.
type commit struct {
	summary   map[string]string // what the engine adds to it
	files     []string          // data files, by location; nil: a new one
	rows      int64             // of each file; 0: 3
	operation string            // "": append
	alone     bool              // nothing that was in the table stays
	updates   []string          // before the snapshot, in the same commit
	uuid      string            // that the writer believes the table to have; "": as it is
}

func newTable(b *bench) *table {
	b.t.Helper()
	name := "t" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	tb := &table{bench: b, name: name, ref: "main.cases." + name, writer: icebergtest.LocalFiles()}
	tb.create()
	return tb
}

func (tb *table) create() {
	tb.t.Helper()
	tb.ask("POST", tb.boot.CatalogURI+"/v1/main/namespaces/cases/tables", fmt.Sprintf(`{"name":%q,"schema":%s}`, tb.name, schema), http.StatusOK)
}

func (tb *table) url() string {
	return tb.boot.CatalogURI + "/v1/main/namespaces/cases/tables/" + tb.name
}

func (tb *table) load() icebergtest.Table {
	tb.t.Helper()
	var loaded struct{ Metadata json.RawMessage }
	require.NoError(tb.t, json.Unmarshal(tb.ask("GET", tb.url(), "", http.StatusOK), &loaded))
	t, err := icebergtest.Parse(loaded.Metadata)
	require.NoError(tb.t, err)
	return t
}

// newFiles makes places for data files that hold something.
func (tb *table) newFiles(n int) []string {
	tb.t.Helper()
	location, files := tb.load().Location, make([]string, n)
	for i := range files {
		files[i] = fmt.Sprintf("%s/data/%s.parquet", location, uuid.NewString())
	}
	return files
}

// commit sends a commit that must be taken, and gives its snapshot.
func (tb *table) commit(c commit) string {
	tb.t.Helper()
	snapshot, status, answer := tb.try(c)
	require.Equal(tb.t, http.StatusOK, status, "%s", answer)
	return snapshot
}

// try sends a commit.
func (tb *table) try(c commit, header ...string) (snapshot string, status int, answer string) {
	tb.t.Helper()
	t := tb.load()
	body := tb.request(t, &c)
	status, raw, err := tb.send(tb.t.Context(), "POST", tb.url(), string(body.Body()), header...)
	require.NoError(tb.t, err)
	return strconv.FormatInt(body.SnapshotID, 10), status, string(raw)
}

// request writes a commit's files and makes what is sent.
func (tb *table) request(t icebergtest.Table, c *commit) icebergtest.Commit {
	tb.t.Helper()
	if c.files == nil {
		c.files = tb.newFiles(1)
	}
	if c.rows == 0 {
		c.rows = 3
	}
	if c.operation == "" {
		c.operation = "append"
	}
	for _, f := range c.files {
		tb.put(f)
	}
	made := icebergtest.Commit{SnapshotID: rand.Int64N(1<<62) + 1, DataFiles: c.files, Rows: int64(len(c.files)) * c.rows}
	kept, err := tb.writer.Manifests(t.HeadList)
	require.NoError(tb.t, err)
	if c.alone {
		kept = []iceberg.ManifestFile{tb.removal(t, made.SnapshotID, kept)}
	}
	added, err := tb.writer.Manifest(t, made.SnapshotID, c.files, c.rows)
	require.NoError(tb.t, err)
	made, err = tb.writer.Finish(t, made, c.operation, append([]iceberg.ManifestFile{added}, kept...))
	require.NoError(tb.t, err)
	tb.finish(&made, *c)
	return made
}

// removal writes a manifest that removes every file of others.
func (tb *table) removal(t icebergtest.Table, snapshotID int64, of []iceberg.ManifestFile) iceberg.ManifestFile {
	tb.t.Helper()
	var buf bytes.Buffer
	w, err := iceberg.NewManifestWriter(t.FormatVersion, &buf, *iceberg.UnpartitionedSpec, t.Schema, snapshotID)
	require.NoError(tb.t, err)
	for _, m := range of {
		raw, err := tb.writer.Get(m.FilePath())
		require.NoError(tb.t, err)
		entries, err := iceberg.ReadManifest(m, bytes.NewReader(raw), true)
		require.NoError(tb.t, err)
		for _, e := range entries {
			require.NoError(tb.t, w.Delete(e))
		}
	}
	location := fmt.Sprintf("%s/metadata/%s-m0.avro", t.Location, uuid.NewString())
	require.NoError(tb.t, w.Close())
	manifest, err := w.ToManifestFile(location, int64(buf.Len()))
	require.NoError(tb.t, err)
	require.NoError(tb.t, tb.writer.Put(location, buf.Bytes()))
	return manifest
}

// finish says in the request what the engine says.
func (tb *table) finish(made *icebergtest.Commit, c commit) {
	tb.t.Helper()
	update := decoded(tb.t, made.Updates[0])
	summary, _ := at(update, "snapshot", "summary").(map[string]any)
	for k, v := range c.summary {
		summary[k] = v
	}
	summary["added-files-size"] = strconv.Itoa(fileSize * len(c.files))
	raw, err := json.Marshal(update)
	require.NoError(tb.t, err)
	made.Updates[0] = raw
	var before []json.RawMessage
	for _, u := range c.updates {
		before = append(before, json.RawMessage(u))
	}
	made.Updates = append(before, made.Updates...)
	if c.uuid != "" {
		made.Requirements[0] = json.RawMessage(fmt.Sprintf(`{"type":"assert-table-uuid","uuid":%q}`, c.uuid))
	}
}

// put writes a data file, unless it is there.
func (tb *table) put(location string) {
	tb.t.Helper()
	path := icebergtest.LocalPath(location)
	if _, err := os.Stat(path); err == nil {
		return
	}
	require.NoError(tb.t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(tb.t, os.WriteFile(path, make([]byte, fileSize), 0o600))
}

// settled waits until every commit to the table is reconciled.
func (tb *table) settled() {
	tb.t.Helper()
	tb.eventually("the commits are reconciled", func() bool {
		state := tb.governed("GET", "/tables/"+tb.ref, "", http.StatusOK)
		return fmt.Sprint(state["pendingCommits"]) == "0" && state["recordedSnapshotId"] == state["currentSnapshotId"]
	})
}

func (tb *table) findings() []map[string]any {
	tb.t.Helper()
	return tb.items("/findings", "table", tb.ref, "open", "true")
}

// kinds gives the kinds of the open findings, one for each.
func (tb *table) kinds() []string {
	tb.t.Helper()
	kinds := []string{}
	for _, f := range tb.findings() {
		kind, _ := f["kind"].(string)
		kinds = append(kinds, kind)
	}
	return kinds
}

// onlyFinding waits for the one finding that there is to be, and gives it.
func (tb *table) onlyFinding(kind string) map[string]any {
	tb.t.Helper()
	tb.settled()
	tb.eventually("finds "+kind, func() bool { return len(tb.findings()) > 0 })
	require.Equal(tb.t, []string{kind}, tb.kinds())
	found := tb.findings()[0]
	require.Equal(tb.t, tb.ref, found["ref"])
	require.NotEmpty(tb.t, at(found, "evidence", "remedy"), "says what to do: %v", found["evidence"])
	return found
}

// healthy sees that nothing is found once everything is reconciled.
func (tb *table) healthy() {
	tb.t.Helper()
	tb.settled()
	require.Empty(tb.t, tb.findings())
}

// mentions sees that an engineer can act on the evidence: it has each of the texts.
func (tb *table) mentions(found map[string]any, texts ...string) {
	tb.t.Helper()
	evidence, err := json.Marshal(found["evidence"])
	require.NoError(tb.t, err)
	for _, text := range texts {
		require.Contains(tb.t, string(evidence), text)
	}
}

func (tb *table) writers() []map[string]any {
	tb.t.Helper()
	return tb.items("/writers", "table", tb.ref)
}
