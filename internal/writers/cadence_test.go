package writers_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

func start() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }

// commits gives commits of one writer at times after start, newest first.
func commits(summary map[string]string, after ...time.Duration) []models.Commit {
	var out []models.Commit
	for i, d := range after {
		c := models.Commit{ID: int64(i + 1), TableID: "t", TableName: "db.t", SnapshotID: int64(100 + i), Ref: "main", CommittedAt: start().Add(d)}
		c.Summary.V, c.Writer.V = summary, models.Writer{Principal: "ada", Engine: "spark", TokenID: "tok"}
		id := writers.Identify(c.TableID, c.Ref, c.Writer.V, summary)
		c.WriterID, c.Job, c.Unit = id.ID, id.Job, id.Unit
		out = append(out, c)
	}
	slices.Reverse(out)
	return out
}

// each gives n times at a distance.
func each(n int, every time.Duration) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(i) * every
	}
	return out
}

func TestSummarize(t *testing.T) {
	w := writers.Summarize(commits(flink("j1", "op1", "12"), each(40, 10*time.Second)[:33]...))
	assert.Equal(t, models.FlinkWriter, w.Kind)
	assert.Equal(t, "op1", w.Key)
	assert.Equal(t, "j1", w.Job)
	assert.Equal(t, "ada", w.Principal)
	assert.Equal(t, "tok", w.TokenID)
	assert.Equal(t, "main", w.Ref)
	assert.Equal(t, map[string]int64{"checkpoint": 12}, w.Watermark.V)
	assert.Len(t, w.Intervals.V, models.MostIntervals)
	assert.EqualValues(t, 10_000, w.Median)
	assert.Zero(t, w.Spread)
	assert.Equal(t, models.WriterActive, w.State)
	assert.EqualValues(t, 132, *w.LastCommit)
	assert.Equal(t, start().Add(320*time.Second), *w.LastCommitAt)

	connect := map[string]string{
		"kafka.connect.commit-id": "c", "kafka.connect.offsets.control.g": `{"0":7,"1":9}`, "kafka.connect.valid-through-ts": "2026-03-01T00:00:05+01:00",
	}
	w = writers.Summarize(commits(connect, 0))
	assert.Equal(t, map[string]int64{"0": 7, "1": 9}, w.Watermark.V)
	assert.Equal(t, time.Date(2026, 2, 28, 23, 0, 5, 0, time.UTC), *w.ValidTo)
	assert.Empty(t, w.Intervals.V)
	assert.Zero(t, w.Median)
}

// A bounded job says when it is done, and keeps the checkpoint that it had before.
func TestSummarizeFinished(t *testing.T) {
	end := commits(flink("j1", "op1", "9223372036854775807"), 20*time.Second)
	w := writers.Summarize(append(end, commits(flink("j1", "op1", "4"), 10*time.Second)...))
	assert.Equal(t, models.WriterFinished, w.State)
	assert.Equal(t, map[string]int64{"checkpoint": 4}, w.Watermark.V)
	_, owes := writers.Due(w, writers.Limits{Factor: 5})
	assert.False(t, owes)
	w = writers.Summarize(append(commits(flink("j2", "op1", "1"), 30*time.Second), end...))
	assert.Equal(t, models.WriterActive, w.State, "its next run makes it active again")
}

func TestCadenceIsRobust(t *testing.T) {
	at := each(20, time.Minute)
	for i := 10; i < 20; i++ {
		at[i] += 6 * time.Hour // an outage
	}
	at[15] += 20 * time.Second // and a late one
	w := writers.Summarize(commits(flink("j", "op", "1"), at...))
	assert.EqualValues(t, 60_000, w.Median)
	assert.Zero(t, w.Spread)
	w = writers.Summarize(commits(flink("j", "op", "1"), 0, time.Minute, 30*time.Second))
	assert.Equal(t, []int64{60_000, 0}, w.Intervals.V, "a clock that went back")
}

func TestDue(t *testing.T) {
	limits := writers.Limits{Factor: 5, Floor: time.Minute}
	batch := map[string]string{"operation": "append"}
	daily := each(7, 24*time.Hour)
	twice := []time.Duration{}
	for _, d := range daily {
		twice = append(twice, d, d+2*time.Second) // a delete and an append
	}
	irregular := []time.Duration{0, time.Hour, 30 * time.Hour, 31 * time.Hour, 80 * time.Hour, 81 * time.Hour, 130 * time.Hour}
	spread := []time.Duration{0, 60 * time.Second, 120 * time.Second, 140 * time.Second, 240 * time.Second, 300 * time.Second, 400 * time.Second}
	for _, c := range []struct {
		name string
		w    models.TableWriter
		want time.Duration // after the last commit; 0: it owes none
	}{
		{"a stream of which little is known", writers.Summarize(commits(flink("j", "o", "1"), each(5, time.Minute)...)), 0},
		{"a stream", writers.Summarize(commits(flink("j", "o", "1"), each(6, time.Minute)...)), 5 * time.Minute},
		{"a fast stream", writers.Summarize(commits(flink("j", "o", "1"), each(6, time.Second)...)), time.Minute},
		{"an unsteady stream", writers.Summarize(commits(flink("j", "o", "1"), spread...)), 5 * time.Minute},
		{"a batch job each hour for a while", writers.Summarize(commits(batch, each(10, time.Hour)...)), 0},
		{"a batch job each day", writers.Summarize(commits(batch, daily...)), 120 * time.Hour},
		{"one that commits twice each day", writers.Summarize(commits(batch, twice...)), 120 * time.Hour},
		{"somebody now and then", writers.Summarize(commits(batch, irregular...)), 0},
		{"one commit", writers.Summarize(commits(batch, 0)), 0},
		{"retired", func() models.TableWriter {
			w := writers.Summarize(commits(flink("j", "o", "1"), each(6, time.Minute)...))
			w.State = models.WriterRetired
			return w
		}(), 0},
		{"declared", func() models.TableWriter {
			w := writers.Summarize(commits(batch, irregular...))
			w.Every = time.Hour.Milliseconds()
			return w
		}(), 66 * time.Minute},
		{"declared, and fast", func() models.TableWriter {
			w := writers.Summarize(commits(flink("j", "o", "1"), each(6, time.Second)...))
			w.Every = 2000
			return w
		}(), 3 * time.Second},
		{"expected, without a limit any more", models.TableWriter{Kind: models.ExpectedWriter, State: models.WriterActive, CreatedAt: start()}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, owes := writers.Due(c.w, limits)
			require.Equal(t, c.want > 0, owes)
			if owes {
				assert.Equal(t, c.w.LastCommitAt.Add(c.want), at)
			}
		})
	}
	never := models.TableWriter{Kind: models.ExpectedWriter, State: models.WriterActive, CreatedAt: start(), Every: 600_000}
	at, owes := writers.Due(never, limits)
	assert.True(t, owes, "declared and never seen")
	assert.Equal(t, start().Add(11*time.Minute), at)
}
