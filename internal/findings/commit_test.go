package findings_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

func TestFlink(t *testing.T) {
	for _, c := range []struct {
		name, commits string
		want          []string
	}{
		{"one job", "a1 a2 a3 a13", nil},
		{"restarted from its latest checkpoint", "a1 a2 a3 b4 b5 c6", nil},
		{"restarted from a checkpoint that brought nothing", "a1 a12 b22 b23", nil},
		{"started afresh with the same operator", "a1 a2 a3 b1 b2 b3 b13", nil},
		{"started afresh, first commit at the tenth empty checkpoint", "a10 a11 a20 b10 b11 b20", nil},
		{"two jobs side by side", "a1 b1 a2 b2 a3 b3 a12 b12 b13 a13", nil},
		{"one of two that go side by side restarts", "a1 b2 a11 b11 a12 b12 a13 a14 a15 c13 c14", nil},
		{"bounded jobs one after the other", "a! b! c!", nil},
		{"a stream with a bounded source", "a1 a2 a! b1 b2 b!", nil},
		{"a job on two branches", "a1 dev:a1 a2 dev:a2 a3", nil},
		{"the same checkpoint of one job again (S6)", "a1 a2 a3 a3 a4", []string{"duplicate_checkpoint@3"}},
		{"a failed commit that had come through, later (S6)", "a1 a2 a3 a4 a2", []string{"duplicate_checkpoint@4"}},
		{"a new job commits the last checkpoint again (S4)", "a20 a21 b21 b22", []string{"duplicate_checkpoint@2"}},
		{"from an old savepoint (S1)", "a18 a19 a20 a21 b19 b20 b21 b22", []string{"duplicate_checkpoint@4", "duplicate_checkpoint@5", "duplicate_checkpoint@6"}},
		{"from an old savepoint, other checkpoints brought data", "a18 a20 a22 b19 b21 b23", []string{"offset_regression@3"}},
		{"an early checkpoint with the very content", "a1 a2=50 b2=50", []string{"duplicate_checkpoint@2"}},
		{"started afresh, every checkpoint of the very content", "a1=9 a2=9 a3=9 b1=9 b2=9 b3=9", nil},
		{"started afresh, later checkpoints of the very content", "a1=8 a2=9 a3=9 b1=7 b2=9 b3=9", nil},
		{"restored early, every checkpoint again", "a1=8 a2=9 a3=9 b2=9 b3=9", []string{"duplicate_checkpoint@3", "duplicate_checkpoint@4"}},
		{"an early checkpoint without rows", "a1 a2=0 b2=0", nil},
		{"one job goes back (S1)", "a20 a21 a15 a16", []string{"offset_regression@2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.ElementsMatch(t, c.want, play(c.commits).found())
		})
	}
}

func TestDuplicateEvidence(t *testing.T) {
	l := play("a20=5 a21=7 b21=7")
	found := findings.OfCommit(l.rows[2], l.history(l.rows[2]))
	require.Len(t, found, 1)
	f := found[0]
	assert.Equal(t, models.High, f.Severity)
	assert.Equal(t, "snapshot 1002", f.Subject)
	assert.EqualValues(t, 1002, *f.SnapshotID)
	assert.Equal(t, "ada", f.Principal)
	assert.Equal(t, l.rows[2].WriterID, f.WriterID)
	e := f.Evidence.V
	assert.Contains(t, e["remedy"], "latest checkpoint")
	delete(e, "remedy")
	assert.Equal(t, map[string]any{
		"writer": "flink writer op of ada", "snapshot": "1002", "earlierSnapshot": "1001", "unit": "checkpoint/21", "earlierUnit": "checkpoint/21",
		"job": "b", "earlierJob": "a", "rows": int64(7), "earlierRows": int64(7), "files": int64(1), "earlierFiles": int64(1),
		"bytes": int64(70), "earlierBytes": int64(70), "at": "2026-03-01T00:03:00Z", "earlierAt": "2026-03-01T00:02:00Z",
	}, e)
}

// What was rolled back is to be written again.
func TestRolledBack(t *testing.T) {
	l := play("a20 a21 a22 b21 b22")
	for _, c := range l.rows[3:] {
		h := l.history(c)
		h.Ancestors = map[int64]bool{1000: true, 1003: true}
		assert.Empty(t, findings.OfCommit(c, h))
		_, twin := findings.Twin(c, h)
		assert.False(t, twin)
	}
	assert.ElementsMatch(t, []int64{1000, 1001, 1002}, findings.Concerned(l.history(l.rows[3]))[:3])
	h := l.history(l.rows[3])
	h.Ancestors = map[int64]bool{1000: true, 1001: true, 1002: true}
	assert.Len(t, findings.OfCommit(l.rows[3], h), 1, "it was not rolled back")
}

// A commit that is about to be made is held against all that is in the ledger.
func TestTwinOfWhatIsNotInTheLedger(t *testing.T) {
	l := play("a20 a21 b21")
	c := l.rows[2]
	c.ID, l.rows = 0, l.rows[:2]
	h := findings.History{Before: []models.Commit{l.rows[1], l.rows[0]}, SameUnit: l.rows[1:]}
	twin, ok := findings.Twin(c, h)
	assert.True(t, ok)
	assert.EqualValues(t, 1001, twin.SnapshotID)
}

func TestCompactionIsNoDuplicate(t *testing.T) {
	l := play("a1 a2")
	s := map[string]string{"operation": "replace", "flink.job-id": "a", "flink.operator-id": "op", "flink.max-committed-checkpoint-id": "2"}
	l.add("main", s)
	assert.Empty(t, l.found())
}

// connect commits what a line says: words such as A7@10,20 are commit 7 by task A with the offsets 10 and 20 of its control
// topic's partitions.
func connect(script string) *ledger {
	l := newLedger()
	for _, word := range strings.Fields(script) {
		head, tail, _ := strings.Cut(word, "@")
		offsets := []string{}
		for partition, offset := range strings.Split(tail, ",") {
			offsets = append(offsets, fmt.Sprintf("%q:%s", strconv.Itoa(partition), offset))
		}
		s := map[string]string{
			"operation": "append", "kafka.connect.commit-id": head[1:], "kafka.connect.offsets.control.group": "{" + strings.Join(offsets, ",") + "}",
		}
		if task := head[:1]; task != "-" {
			s["kafka.connect.task-id"] = task
		}
		l.add("main", s)
	}
	return l
}

func TestConnect(t *testing.T) {
	for _, c := range []struct {
		name, commits string
		want          []string
	}{
		{"one coordinator", "A1@1 A2@2 A3@5", nil},
		{"a rebalance", "A1@1 A2@2 B3@3 B4@4", nil},
		{"rebalances to one task after the other", "A1@1 B2@2 C3@3 D4@4", nil},
		{"idle partitions, and a new one", "A1@1,5 A2@2,5 A3@2,6,1", nil},
		{"before task ids", "-1@1 -2@2 -3@3", nil},
		{"the same commit again", "A1@1 A2@2 A2@2 A3@3", []string{"duplicate_checkpoint@2"}},
		{"the same commit by another task", "A1@1 A2@2 B2@2", []string{"duplicate_checkpoint@2"}},
		{"offsets went back", "A1@1,9 A2@2,9 A3@3,4 A4@4,5", []string{"offset_regression@2"}},
		{"two coordinators (R4)", "A1@1 B2@2 A3@3", []string{"dual_coordinator@2"}},
		{"two coordinators that go on", "A1@1 B2@2 A3@3 B4@4", []string{"dual_coordinator@2", "dual_coordinator@3"}},
		{"a zombie, with older offsets", "A1@5 B2@9 A3@6", []string{"dual_coordinator@2", "offset_regression@2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.ElementsMatch(t, c.want, connect(c.commits).found())
		})
	}
}

// A connector makes one snapshot for each partition spec of a round's files, all in one request.
func TestOneRoundInSeveralSnapshotsIsHealthy(t *testing.T) {
	l := newLedger()
	for range 2 {
		l.add("main", map[string]string{"kafka.connect.commit-id": "c-1"}).MetadataLocation = "00001.metadata.json"
	}
	assert.Empty(t, l.found())
	l.add("main", map[string]string{"kafka.connect.commit-id": "c-1"}).MetadataLocation = "00002.metadata.json"
	assert.Equal(t, []string{"duplicate_checkpoint@2"}, l.found())
}

func TestRebalanceAndBackLaterIsNone(t *testing.T) {
	l := connect("A1@1 B2@2")
	l.now = l.now.Add(2 * time.Hour)
	s := l.rows[0].Summary.V
	l.add("main", map[string]string{
		"operation": "append", "kafka.connect.commit-id": "3", "kafka.connect.task-id": s["kafka.connect.task-id"], "kafka.connect.offsets.control.group": `{"0":3}`,
	})
	assert.Empty(t, l.found())
}

func TestCoordinatorEvidence(t *testing.T) {
	l := connect("A1@1 B2@2 A3@3")
	f := findings.OfCommit(l.rows[2], l.history(l.rows[2]))[0]
	assert.Equal(t, "kafka-connect writer group/control of ada", f.Subject)
	assert.Equal(t, []string{"A", "B"}, f.Evidence.V["tasks"])
	assert.Len(t, f.Evidence.V["commits"], 3)
	again := connect("A1@1 B2@2 A3@3 B4@4")
	assert.Equal(t, f.SubjectKey, findings.OfCommit(again.rows[3], again.history(again.rows[3]))[0].SubjectKey, "one finding for each connector")
}

func TestRegressionEvidence(t *testing.T) {
	l := connect("A1@1,9 A2@3,4")
	f := findings.OfCommit(l.rows[1], l.history(l.rows[1]))[0]
	assert.Equal(t, []string{"1"}, f.Evidence.V["partitions"])
	assert.Equal(t, map[string]int64{"0": 3, "1": 4}, f.Evidence.V["offsets"])
	assert.Equal(t, map[string]int64{"0": 1, "1": 9}, f.Evidence.V["earlierOffsets"])
}

func TestSparkStreaming(t *testing.T) {
	epochs := func(script string) *ledger {
		l := newLedger()
		for _, word := range strings.Fields(script) {
			l.add("main", map[string]string{
				"operation": "append", "spark.app.id": word[:1], "spark.sql.streaming.queryId": "q", "spark.sql.streaming.epochId": word[1:],
			})
		}
		return l
	}
	for _, c := range []struct {
		name, commits string
		want          []string
	}{
		{"a query", "a0 a1 a2", nil},
		{"restarted", "a0 a1 b2 c3", nil},
		{"epochs without data", "a0 a5 b9", nil},
		{"an epoch twice", "a0 a1 b1 b2", []string{"duplicate_checkpoint@2"}},
		{"back to an older epoch", "a0 a5 b3 b4", []string{"offset_regression@2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.ElementsMatch(t, c.want, epochs(c.commits).found())
		})
	}
}

// Batches, cherry-picks and what engines write of themselves are no streams.
func TestBatchesAreHealthy(t *testing.T) {
	l := newLedger()
	for _, s := range []map[string]string{
		{"operation": "append", "spark.app.id": "app-1", "added-records": "5"},
		{"operation": "append", "spark.app.id": "app-1", "added-records": "5"},
		{"operation": "append", "added-records": "5"},
		{"operation": "append", "source-snapshot-id": "7", "published-wap-id": "w"},
		{"operation": "overwrite"},
		{"operation": "delete"},
		{},
	} {
		l.add("main", s)
		l.add("main", s)
	}
	assert.Empty(t, l.found())
}

// What is found of a commit depends on what was committed before it alone, and so not on when or in what order commits are
// looked at.
func TestOrderDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	many := 0
	for range 300 {
		var script []string
		for range 3 + r.IntN(25) {
			switch r.IntN(3) {
			case 0:
				script = append(script, fmt.Sprintf("%c%d", 'a'+r.IntN(3), 1+r.IntN(20)))
			case 1:
				script = append(script, fmt.Sprintf("%c%d=%d", 'a'+r.IntN(3), 8+r.IntN(6), 10*r.IntN(2)))
			default:
				script = append(script, fmt.Sprintf("%c!", 'a'+r.IntN(3)))
			}
		}
		whole := play(strings.Join(script, " "))
		for i, c := range whole.rows {
			prefix := &ledger{rows: whole.rows[:i+1]}
			now, then := findings.OfCommit(c, whole.history(c)), findings.OfCommit(c, prefix.history(c))
			require.Equal(t, then, now, "commit %d of %v", i, script)
			many += len(now)
		}
	}
	assert.Greater(t, many, 300, "the scripts have something to find")
}
