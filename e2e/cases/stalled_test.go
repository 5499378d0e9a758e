package cases

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
)

// learning is how many commits it takes until a cadence is known.
const learning = 6

// R5, R6, R9, S3, S5: a writer that has a rhythm goes on writing files and commits no more.
func TestAWriterThatStopsCommittingIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	for i := range learning {
		tb.connect("sink-0", int64(i+1))
		time.Sleep(100 * time.Millisecond)
	}
	tb.settled()
	strays := tb.newFiles(3)
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1100 * time.Millisecond))) // stores know times to the second
	for _, f := range strays {
		tb.put(f)
	}
	found := tb.onlyFinding("stalled_writer")
	require.Equal(t, "high", found["severity"])
	w := tb.writers()[0]
	require.Equal(t, "late", w["state"])
	require.Equal(t, w["id"], found["writerId"])
	require.NotEmpty(t, w["validThrough"], "how far behind its table is")
	require.NotEmpty(t, at(w, "cadence", "learned", "median"))
	tb.mentions(found, "late", `"files":3`)
	require.Len(t, tb.items("/writers", "table", tb.ref, "state", "late"), 1)
	require.Empty(t, tb.items("/writers", "table", tb.ref, "state", "active"))

	tb.connect("sink-0", 100)
	tb.eventually("its next commit resolves it", func() bool {
		resolved := tb.items("/findings", "table", tb.ref, "kind", "stalled_writer", "open", "false")
		return len(resolved) > 0 && resolved[0]["id"] == found["id"]
	})
}

// C2, S5: what the writer was refused since its last commit is told, because it is the likely reason.
func TestARefusalIsNamedAsAReasonForTheStall(t *testing.T) {
	tb := newTable(newBench(t))
	for i := range learning {
		tb.flink("job-a", 5, int64(i+1))
	}
	tb.governed("PUT", "/tables/"+tb.ref+"/write-policy", `{"policy":"governed_only"}`, http.StatusOK)
	_, status, _ := tb.try(commit{summary: checkpoint("job-a", 50)})
	require.Equal(t, http.StatusForbidden, status)
	found := tb.onlyFinding("stalled_writer")
	tb.mentions(found, "table.commit_denied", "governed_only")
}

// A writer that was declared and never came is not one that is late, and one that is retired is waited for no more.
func TestADeclaredWriterThatNeverCameIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	declared := tb.governed("POST", "/writers", fmt.Sprintf(`{"table":%q,"principal":"root","every":"1s"}`, tb.ref), http.StatusCreated)
	require.Equal(t, []any{"expected", "never", "1s"}, []any{declared["kind"], declared["state"], at(declared, "cadence", "every")})
	tb.eventually("it is missed", func() bool { return len(tb.findings()) > 0 })
	found := tb.findings()[0]
	require.Equal(t, "stalled_writer", found["kind"])
	tb.mentions(found, "never")

	id := declared["id"].(string)
	out, code := tb.command("writers", "set", id, "--every", "1h")
	require.Zero(t, code, out)
	tb.eventually("an hour is not over", func() bool { return len(tb.findings()) == 0 })
	tb.governed("PUT", "/writers/"+id, `{"every":"1s"}`, http.StatusOK)
	tb.eventually("a second is", func() bool { return len(tb.findings()) > 0 })
	out, code = tb.command("writers", "retire", id, "--note", "moved away")
	require.Zero(t, code, out)
	require.Empty(t, tb.findings(), "a retired writer owes nothing")
	require.Equal(t, "retired", tb.governed("GET", "/writers/"+id, "", http.StatusOK)["state"])
}

// Batch jobs without a rhythm owe nothing, and a writer that commits is not late.
func TestWritersWithoutARhythmAreNotWaitedFor(t *testing.T) {
	b := newBench(t)
	t.Run("batch", func(t *testing.T) {
		tb := newTable(b.in(t))
		for range learning {
			tb.commit(commit{summary: map[string]string{"engine-name": "spark", "spark.app.id": uuid.NewString()}})
		}
		tb.settled()
		time.Sleep(5 * time.Second) // longer than a stream would be given
		tb.healthy()
		require.Nil(t, tb.writers()[0]["dueAt"])
	})
	t.Run("steady", func(t *testing.T) {
		tb := newTable(b.in(t))
		for i := range 2 * learning {
			tb.connect("sink-0", int64(i+1))
			time.Sleep(300 * time.Millisecond)
		}
		tb.healthy()
	})
}

// S7: how long a writer has been silent is on the page of metrics.
func TestSilenceIsMeasured(t *testing.T) {
	tb := newTable(newBench(t))
	tb.flink("job-a", 5, 1)
	tb.settled()
	tb.eventually("the metric is there", func() bool {
		page := string(tb.ask("GET", strings.TrimSuffix(tb.boot.GovernanceURI, "/api/governance/v1")+"/metrics", "", http.StatusOK))
		for line := range strings.SplitSeq(page, "\n") {
			if strings.HasPrefix(line, "sluice_writer_seconds_since_last_commit{") && strings.Contains(line, tb.name) {
				return strings.Contains(line, `kind="flink"`)
			}
		}
		return false
	})
}

// C1: a token of a working writer that ends soon is found, and not one of a writer that has another by now.
func TestATokenThatEndsSoonIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	mint := func(expires string) string {
		return tb.governed("POST", "/tokens", fmt.Sprintf(`{"canWrite":true,"expiresIn":%q}`, expires), http.StatusCreated)["token"].(string)
	}
	short := mint("10m")
	_, status, answer := tb.try(commit{summary: checkpoint("job-a", 1)}, "Authorization", "Bearer "+short)
	require.Equal(t, http.StatusOK, status, answer)
	found := tb.onlyFinding("token_expiring")
	require.Equal(t, "medium", found["severity"])
	require.NotContains(t, fmt.Sprint(found), short, "no finding has a token in it")
	_, status, answer = tb.try(commit{summary: checkpoint("job-a", 2)}, "Authorization", "Bearer "+mint("24h"))
	require.Equal(t, http.StatusOK, status, answer)
	tb.eventually("another token resolves it", func() bool { return len(tb.findings()) == 0 })
}

// A6: a clean-up has removed the manifest list of a snapshot that is still in the table.
func TestAManifestListThatIsGoneIsFoundAndTheLastGoodSnapshotNamed(t *testing.T) {
	tb := newTable(newBench(t))
	tb.flink("job-a", 5, 1, 2)
	good := tb.flink("job-a", 8, 3)[0]
	tb.healthy()
	out, code := tb.command("tables", "check", tb.ref)
	require.Zero(t, code, out)

	bad := tb.flink("job-a", 9, 4)[0]
	tb.settled()
	table := tb.load()
	list := table.ManifestList(*table.Head)
	kept, err := os.ReadFile(icebergtest.LocalPath(list))
	require.NoError(t, err)
	require.NoError(t, os.Remove(icebergtest.LocalPath(list)))
	tb.eventually("it is found", func() bool { return len(tb.findings()) > 0 })
	found := tb.findings()[0]
	require.Equal(t, []any{"missing_file", "high", list}, []any{found["kind"], found["severity"], found["subject"]})
	tb.mentions(found, bad, good)
	require.Equal(t, good, at(found, "evidence", "lastGoodSnapshot"))

	check := tb.governed("GET", "/tables/"+tb.ref+"/check", "", http.StatusOK)
	require.Equal(t, []any{false, good}, []any{check["ok"], check["lastGoodSnapshotId"]})
	out, code = tb.command("tables", "check", tb.ref)
	require.Equal(t, 1, code, out)
	require.Contains(t, out, good)

	require.NoError(t, os.WriteFile(icebergtest.LocalPath(list), kept, 0o600))
	tb.eventually("it resolves when the file is back", func() bool { return len(tb.findings()) == 0 })
}
