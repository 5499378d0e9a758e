package cases

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// R2: where a table refuses duplicates, neither a file that it has nor a checkpoint that it has gets in.
func TestATableThatRefusesDuplicatesGetsNone(t *testing.T) {
	tb := newTable(newBench(t))
	out, code := tb.command("policy", "duplicate-commits", tb.ref)
	require.Zero(t, code, out)
	require.Contains(t, out, "audit")
	out, code = tb.command("policy", "duplicate-commits", tb.ref, "reject")
	require.Zero(t, code, out)
	file := tb.newFiles(1)
	first := tb.commit(commit{summary: checkpoint("job-a", 11), files: file})
	second := tb.commit(commit{summary: checkpoint("job-a", 12), rows: 7})

	_, status, answer := tb.try(commit{summary: checkpoint("job-b", 12), rows: 8})
	require.Equal(t, http.StatusConflict, status, answer)
	require.Contains(t, answer, "CommitFailedException")
	for _, word := range []string{"cases." + tb.name, "checkpoint/12", second} {
		require.Contains(t, answer, word)
	}
	_, status, answer = tb.try(commit{files: file})
	require.Equal(t, http.StatusConflict, status, answer)
	require.Contains(t, answer, first)

	tb.commit(commit{summary: checkpoint("job-b", 13)})
	tb.healthy()
	denied := tb.items("/audit", "table", tb.ref, "type", "table.commit_denied")
	require.Len(t, denied, 2, "each refusal is in the audit")
	require.Equal(t, "3", fmt.Sprint(len(tb.items("/commits", "table", tb.ref))))
}

// J1: a table was dropped and made anew while a writer ran, which goes on committing to the one that it knew.
func TestAWriterOfATableThatWasReplacedIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	tb.flink("job-a", 5, 1)
	old := tb.load()
	tb.ask("DELETE", tb.url(), "", http.StatusNoContent)
	tb.create()
	_, status, answer := tb.try(commit{summary: checkpoint("job-a", 2), uuid: old.UUID})
	require.Equal(t, http.StatusConflict, status, answer)
	require.Contains(t, answer, "CommitFailedException")
	tb.eventually("it is found", func() bool { return len(tb.findings()) > 0 })
	require.Equal(t, []string{"stale_table_identity"}, tb.kinds())
	found := tb.findings()[0]
	require.Equal(t, "root", found["principal"])
	tb.mentions(found, old.UUID, tb.load().UUID)

	// J2: nor do its files get into the new table by another commit.
	tb.governed("PUT", "/tables/"+tb.ref+"/write-policy", `{"policy":"open_append"}`, http.StatusOK)
	_, status, answer = tb.try(commit{files: []string{old.Location + "/data/" + uuid.NewString() + ".parquet"}})
	require.Equal(t, http.StatusForbidden, status, answer)
	tb.commit(commit{})
	tb.settled()
	require.Equal(t, []string{"stale_table_identity"}, tb.kinds())
}

const (
	addColumn = `{"action":"add-schema","schema":{"type":"struct","schema-id":1,"fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"email","required":false,"type":"string"},{"id":3,"name":"city","required":false,"type":"string"}]},"last-column-id":3}`
	useNew    = `{"action":"set-current-schema","schema-id":-1}`
	useOld    = `{"action":"set-current-schema","schema-id":0}`
)

// Q3: a writer that started from old metadata brings the old schema back with its append.
func TestAnOlderSchemaThatComesBackIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	tb.commit(commit{})
	tb.commit(commit{updates: []string{addColumn, useNew}})
	tb.commit(commit{})
	tb.healthy()
	back := tb.commit(commit{updates: []string{useOld}})
	found := tb.onlyFinding("schema_regression")
	require.Equal(t, back, found["snapshotId"])
	tb.mentions(found, "city")
}

// T1: an upsert stream leaves equality deletes that nobody compacts. The rows are counted all the same.
func TestEqualityDeletesThatPileUpAreFound(t *testing.T) {
	tb := newTable(newBench(t))
	tb.ids("append", content{iceberg.EntryContentData, []int64{1, 2, 3, 4, 5, 6}})
	for id := range int64(3) {
		tb.ids("overwrite", content{iceberg.EntryContentEqDeletes, []int64{id + 1}}, content{iceberg.EntryContentData, []int64{id + 1}})
	}
	tb.healthy()
	tb.ids("delete", content{iceberg.EntryContentEqDeletes, []int64{4}}, content{iceberg.EntryContentEqDeletes, []int64{5}})
	found := tb.onlyFinding("equality_delete_pileup")
	tb.mentions(found, "5")
	require.Equal(t, "4", fmt.Sprint(tb.governed("GET", "/tables/"+tb.ref, "", http.StatusOK)["rowCount"]))
}

// O3: metadata that engines cannot bear.
func TestMetadataThatIsTooLargeIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	tb.commit(commit{})
	tb.healthy()
	tb.commit(commit{updates: []string{fmt.Sprintf(`{"action":"set-properties","updates":{"filler":%q}}`, strings.Repeat("x", 80<<10))}})
	tb.eventually("it is found", func() bool { return len(tb.findings()) > 0 })
	require.Equal(t, []string{"large_metadata"}, tb.kinds())
	tb.commit(commit{updates: []string{`{"action":"remove-properties","removals":["filler"]}`}})
	tb.eventually("and resolves", func() bool { return len(tb.findings()) == 0 })
}

// Snapshots that come too fast, and files that are too small.
func TestRatesAreFound(t *testing.T) {
	tb := newTable(newBench(t))
	tb.commit(commit{files: tb.newFiles(90)})
	tb.healthy()
	tb.commit(commit{files: tb.newFiles(20)})
	tb.eventually("small files are found", func() bool { return len(tb.findings()) > 0 })
	require.Equal(t, []string{"small_files"}, tb.kinds())
	for range 30 {
		tb.commit(commit{summary: map[string]string{"engine-name": "spark"}})
	}
	tb.eventually("and the rate", func() bool { return len(tb.findings()) == 2 })
	require.ElementsMatch(t, []string{"small_files", "snapshot_rate"}, tb.kinds())
}

// A classified table gets a column that nobody classified, and loses one that somebody did.
func TestColumnsThatGovernanceDoesNotKnowAreFound(t *testing.T) {
	tb := newTable(newBench(t))
	tb.governed("PUT", "/tables/"+tb.ref+"/classification", `{"level":"confidential","columns":{"id":{"sensitivity":"internal"},"email":{"sensitivity":"restricted","tag":"email"}}}`, http.StatusOK)
	tb.commit(commit{})
	tb.healthy()
	tb.commit(commit{updates: []string{addColumn, useNew}})
	tb.eventually("the new column is found", func() bool { return len(tb.findings()) > 0 })
	require.Equal(t, []string{"unclassified_column"}, tb.kinds())
	tb.mentions(tb.findings()[0], "city")
	tb.governed("PUT", "/tables/"+tb.ref+"/classification", `{"columns":{"id":{"sensitivity":"internal"},"email":{"sensitivity":"restricted","tag":"email"},"city":{"sensitivity":"public"}}}`, http.StatusOK)
	tb.eventually("and resolves once it is classified", func() bool { return len(tb.findings()) == 0 })
}

// A commit that is rolled back takes its findings with it.
func TestARollbackResolvesWhatACommitBrought(t *testing.T) {
	tb := newTable(newBench(t))
	first := tb.flink("job-a", 5, 1, 2)
	tb.flink("job-a", 6, 2)
	tb.onlyFinding("duplicate_checkpoint")
	back := fmt.Sprintf(`{"requirements":[],"updates":[{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":%s}]}`, first[1])
	tb.ask("POST", tb.url(), back, http.StatusOK)
	tb.eventually("the finding is resolved", func() bool { return len(tb.findings()) == 0 })
}

// U3: what is not committed leaves no event, and what is leaves one.
func TestEachCommitIsOneEvent(t *testing.T) {
	tb := newTable(newBench(t))
	stale := commit{}
	refused := tb.request(tb.load(), &stale)
	tb.commit(commit{})
	tb.ask("POST", tb.url(), string(refused.Body()), http.StatusConflict)
	tb.commit(commit{})
	tb.settled()
	require.Len(t, tb.items("/audit", "table", tb.ref, "type", "table.external_commit_reconciled"), 2)
	require.Len(t, tb.items("/commits", "table", tb.ref), 2)
	require.Len(t, tb.items("/audit", "table", tb.ref, "type", "request.failed"), 1, "the conflict is told too")
}

// U4: the chain holds what was told, beside a server that goes on telling.
func TestTheChainOfTheAuditVerifies(t *testing.T) {
	tb := newTable(newBench(t))
	tb.commit(commit{})
	tb.settled()
	tb.eventually("the chain verifies", func() bool {
		_, code := tb.command("audit", "verify")
		return code == 0
	})
}
