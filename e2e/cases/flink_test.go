package cases

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkpoint is what a Flink sink says of a commit.
func checkpoint(job string, id int64) map[string]string {
	return map[string]string{
		"engine-name": "flink", "engine-version": "1.20.1", "flink.job-id": job, "flink.operator-id": "cbc357ccb763df2852fee8c4fc7d55f2",
		"flink.max-committed-checkpoint-id": strconv.FormatInt(id, 10),
	}
}

// flink commits checkpoints of a job, of so many rows each, and gives the snapshots.
func (tb *table) flink(job string, rows int64, ids ...int64) []string {
	tb.t.Helper()
	var snapshots []string
	for i, id := range ids {
		snapshots = append(snapshots, tb.commit(commit{summary: checkpoint(job, id), rows: rows + int64(i)}))
	}
	return snapshots
}

// S4: a job is restored under a new job id and commits the checkpoint again that the job before had committed.
func TestARestoredJobThatCommitsACheckpointAgainIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	first := tb.flink("job-a", 10, 21, 22, 23)
	tb.settled()
	require.Empty(t, tb.findings(), "until then all is well")
	again := tb.flink("job-b", 12, 23)[0]
	found := tb.onlyFinding("duplicate_checkpoint")
	require.Equal(t, "high", found["severity"])
	require.Equal(t, again, found["snapshotId"])
	require.Equal(t, "root", found["principal"])
	tb.mentions(found, first[2], again, "job-a", "job-b", "checkpoint/23")

	tb.flink("job-b", 30, 24)
	tb.settled()
	require.Equal(t, []string{"duplicate_checkpoint"}, tb.kinds(), "what the new job goes on with is new")
	require.Len(t, tb.items("/findings", "writer", found["writerId"].(string)), 1, "it is a finding of the writer too")
}

// S6: after a CommitStateUnknown the same job commits the same checkpoint twice.
func TestACheckpointThatAJobCommitsTwiceIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	first := tb.flink("job-a", 10, 1, 2)
	again := tb.flink("job-a", 11, 2)[0]
	found := tb.onlyFinding("duplicate_checkpoint")
	tb.mentions(found, first[1], again, "checkpoint/2", `11`)
}

// S1: a job that was restored from an old savepoint goes on below its own watermark.
func TestAJobThatGoesBackBehindItsWatermarkIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	tb.flink("job-a", 10, 20, 30, 40)
	back := tb.flink("job-a", 20, 35)[0]
	found := tb.onlyFinding("offset_regression")
	require.Equal(t, back, found["snapshotId"])
	tb.mentions(found, "40", "35")
}

// What Flink jobs do when all is well: restarts from the last checkpoint, new starts, twins, bounded inserts, empty rounds.
func TestHealthyFlinkJobsAreNoFinding(t *testing.T) {
	b := newBench(t)
	t.Run("restored from the last checkpoint", func(t *testing.T) {
		tb := newTable(b.in(t))
		tb.flink("job-a", 10, 21, 22)
		tb.flink("job-b", 20, 23, 24)
		tb.healthy()
	})
	t.Run("started afresh", func(t *testing.T) {
		tb := newTable(b.in(t))
		tb.flink("job-a", 10, 1, 2, 3)
		tb.flink("job-b", 20, 1, 2)
		tb.healthy()
	})
	t.Run("two jobs side by side", func(t *testing.T) {
		tb := newTable(b.in(t))
		tb.flink("job-a", 10, 11)
		tb.flink("job-b", 20, 12)
		tb.flink("job-a", 30, 12)
		tb.flink("job-b", 40, 13)
		tb.healthy()
	})
	t.Run("bounded inserts one after the other", func(t *testing.T) {
		tb := newTable(b.in(t))
		for _, job := range []string{"job-a", "job-b", "job-c"} {
			tb.flink(job, 10, 9223372036854775807)
		}
		tb.healthy()
		require.Equal(t, "finished", tb.writers()[0]["state"])
	})
}

// The inventory knows the job, how far it is and by what it came.
func TestAWriterIsKnownByItsJob(t *testing.T) {
	tb := newTable(newBench(t))
	snapshots := tb.flink("job-a", 10, 1, 2, 3)
	tb.settled()
	all := tb.writers()
	require.Len(t, all, 1)
	w := all[0]
	require.Equal(t, []any{"flink", "cbc357ccb763df2852fee8c4fc7d55f2", "job-a", "root", "active"}, []any{w["kind"], w["key"], w["job"], w["principal"], w["state"]})
	require.Equal(t, snapshots[2], w["lastSnapshotId"])
	require.Equal(t, "3", at(w, "commits").(interface{ String() string }).String())
	tb.mentions(map[string]any{"evidence": w["watermark"]}, "3")
	require.NotEmpty(t, at(w, "credential", "tokenId"))
	require.Equal(t, w["id"], tb.governed("GET", "/writers/"+w["id"].(string), "", http.StatusOK)["id"])
	for _, row := range tb.items("/commits", "table", tb.ref) {
		require.Equal(t, w["id"], row["writerId"])
		require.Equal(t, "job-a", row["job"])
		require.Contains(t, row["unit"], "checkpoint/")
	}
	out, code := tb.command("writers", "list", "--table", tb.ref)
	require.Zero(t, code, out)
	require.Contains(t, out, "flink")
}
