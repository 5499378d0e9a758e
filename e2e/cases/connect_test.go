package cases

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// round is what the Kafka Connect sink says of a commit: which task coordinated it, and how far the control topic was read.
func round(task, commitID string, offset int64) map[string]string {
	return map[string]string{
		"engine-name": "kafka-connect", "kafka.connect.task-id": task, "kafka.connect.commit-id": commitID,
		"kafka.connect.offsets.control-iceberg.cg-control-sink": fmt.Sprintf(`{"0":%d}`, offset),
		"kafka.connect.valid-through-ts":                        time.Now().UTC().Add(-time.Minute).Format(time.RFC3339),
	}
}

func (tb *table) connect(task string, offset int64) string {
	tb.t.Helper()
	return tb.commit(commit{summary: round(task, uuid.NewString(), offset)})
}

// R1: after a restart the connector commits a data file again that an earlier commit had brought.
func TestAFileThatIsCommittedTwiceIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	file := tb.newFiles(1)
	first := tb.commit(commit{summary: round("sink-0", uuid.NewString(), 5), files: file, rows: 111})
	tb.connect("sink-0", 9)
	tb.healthy()
	again := tb.commit(commit{summary: round("sink-0", uuid.NewString(), 12), files: file, rows: 111})
	found := tb.onlyFinding("duplicate_file")
	require.Equal(t, "high", found["severity"])
	require.Equal(t, again, found["snapshotId"])
	require.Equal(t, file[0], found["subject"])
	tb.mentions(found, first, again, "111")
}

// A file that had been overwritten is committed again, and its rows are back.
func TestAFileThatComesBackIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	file := tb.newFiles(1)
	first := tb.commit(commit{files: file})
	over := tb.commit(commit{operation: "overwrite", alone: true})
	tb.healthy()
	tb.commit(commit{files: file})
	found := tb.onlyFinding("duplicate_file")
	tb.mentions(found, first, over, `"removedBetween":1`)
}

// R10: at each of ten rebalances the new coordinator commits a file again.
func TestEveryFileThatARebalanceDoublesIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	const rebalances = 10
	doubled := map[string]string{} // file to the snapshot that had it first
	for i := range rebalances {
		file := tb.newFiles(1)
		doubled[file[0]] = tb.commit(commit{summary: round(fmt.Sprint("sink-", i), uuid.NewString(), int64(10*i+1)), files: file})
		tb.commit(commit{summary: round(fmt.Sprint("sink-", i+1), uuid.NewString(), int64(10*i+2)), files: file})
	}
	tb.settled()
	tb.eventually("each is found", func() bool {
		return len(tb.items("/findings", "table", tb.ref, "kind", "duplicate_file")) == rebalances
	})
	for _, found := range tb.items("/findings", "table", tb.ref, "kind", "duplicate_file") {
		tb.mentions(found, doubled[found["subject"].(string)])
	}
}

// The same round of a connector is committed twice.
func TestARoundThatIsCommittedTwiceIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	id := uuid.NewString()
	first := tb.commit(commit{summary: round("sink-0", id, 5)})
	again := tb.commit(commit{summary: round("sink-1", id, 5)})
	found := tb.onlyFinding("duplicate_checkpoint")
	tb.mentions(found, first, again, id)
}

// A connector whose control topic was made anew goes back behind what it had committed.
func TestAConnectorThatGoesBackIsFound(t *testing.T) {
	tb := newTable(newBench(t))
	tb.connect("sink-0", 50)
	tb.connect("sink-0", 60)
	back := tb.connect("sink-0", 3)
	found := tb.onlyFinding("offset_regression")
	require.Equal(t, back, found["snapshotId"])
	tb.mentions(found, "60", "3")
}

// R4: two coordinators are alive and commit in turn.
func TestTwoCoordinatorsAreFound(t *testing.T) {
	tb := newTable(newBench(t))
	for i, task := range []string{"sink-0", "sink-1", "sink-0", "sink-1"} {
		tb.connect(task, int64(10*i+10))
	}
	found := tb.onlyFinding("dual_coordinator")
	require.Equal(t, "medium", found["severity"])
	tb.mentions(found, "sink-0", "sink-1")
}

// What connectors do when all is well: a handover, new partitions, a version that names no task.
func TestHealthyConnectorsAreNoFinding(t *testing.T) {
	b := newBench(t)
	t.Run("a handover", func(t *testing.T) {
		tb := newTable(b.in(t))
		for i, task := range []string{"sink-0", "sink-0", "sink-1", "sink-1"} {
			tb.connect(task, int64(10*i+10))
		}
		tb.healthy()
	})
	t.Run("more partitions", func(t *testing.T) {
		tb := newTable(b.in(t))
		tb.connect("sink-0", 10)
		more := round("sink-0", uuid.NewString(), 20)
		more["kafka.connect.offsets.control-iceberg.cg-control-sink"] = `{"0":20,"1":1}`
		tb.commit(commit{summary: more})
		tb.healthy()
	})
	t.Run("no task", func(t *testing.T) {
		tb := newTable(b.in(t))
		for i := range 4 {
			old := round("", uuid.NewString(), int64(i+1))
			delete(old, "kafka.connect.task-id")
			tb.commit(commit{summary: old})
		}
		tb.healthy()
	})
}

// Streams of Spark: an epoch that is committed twice is found, a query that goes on after a restart is not.
func TestSparkEpochs(t *testing.T) {
	b := newBench(t)
	epoch := func(app string, n int) map[string]string {
		return map[string]string{"engine-name": "spark", "spark.app.id": app, "spark.sql.streaming.queryId": "6f1c7d0e", "spark.sql.streaming.epochId": fmt.Sprint(n)}
	}
	t.Run("twice", func(t *testing.T) {
		tb := newTable(b.in(t))
		tb.commit(commit{summary: epoch("app-1", 4)})
		first := tb.commit(commit{summary: epoch("app-1", 5)})
		again := tb.commit(commit{summary: epoch("app-2", 5)})
		tb.mentions(tb.onlyFinding("duplicate_checkpoint"), first, again, "epoch/5")
	})
	t.Run("restarted", func(t *testing.T) {
		tb := newTable(b.in(t))
		for n, app := range []string{"app-1", "app-1", "app-2", "app-2"} {
			tb.commit(commit{summary: epoch(app, n)})
		}
		tb.healthy()
	})
	t.Run("batches", func(t *testing.T) {
		tb := newTable(b.in(t))
		for range 3 {
			tb.commit(commit{summary: map[string]string{"engine-name": "spark", "spark.app.id": "app-1"}})
		}
		tb.healthy()
	})
}
