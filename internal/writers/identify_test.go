package writers_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

func flink(job, operator, checkpoint string) map[string]string {
	return map[string]string{
		"operation": "append", "flink.job-id": job, "flink.operator-id": operator, "flink.max-committed-checkpoint-id": checkpoint,
	}
}

func TestIdentify(t *testing.T) {
	ada := models.Writer{Principal: "ada", Engine: "spark"}
	for _, c := range []struct {
		name    string
		summary map[string]string
		want    models.WriterIdentity
	}{
		{"flink", flink("j1", "op1", "12"), models.WriterIdentity{Kind: models.FlinkWriter, Key: "op1", Job: "j1", Unit: "checkpoint/12"}},
		{"flink, the end of a bounded job", flink("j1", "op1", "9223372036854775807"), models.WriterIdentity{Kind: models.FlinkWriter, Key: "op1", Job: "j1"}},
		{"flink before operator ids", map[string]string{"flink.job-id": "j1", "flink.max-committed-checkpoint-id": "3"},
			models.WriterIdentity{Kind: models.FlinkWriter, Job: "j1", Unit: "checkpoint/3"}},
		{"flink, no number", flink("j1", "op1", "-1"), models.WriterIdentity{Kind: models.FlinkWriter, Key: "op1", Job: "j1"}},
		{"connect", map[string]string{"kafka.connect.commit-id": "c1", "kafka.connect.task-id": "sink-0", "kafka.connect.offsets.control-iceberg.connect-sink": `{"0":7}`},
			models.WriterIdentity{Kind: models.ConnectWriter, Key: "connect-sink/control-iceberg", Job: "sink-0", Unit: "commit/c1"}},
		{"connect without task ids", map[string]string{"kafka.connect.commit-id": "c1", "kafka.connect.offsets.control.g": `{"0":7}`},
			models.WriterIdentity{Kind: models.ConnectWriter, Key: "g/control", Unit: "commit/c1"}},
		{"connect, dots in the names", map[string]string{"kafka.connect.commit-id": "c1", "kafka.connect.offsets.a.control.connect-x": `{}`},
			models.WriterIdentity{Kind: models.ConnectWriter, Key: "a.control.connect-x", Unit: "commit/c1"}},
		{"spark streaming", map[string]string{"spark.app.id": "app-1", "spark.sql.streaming.queryId": "q1", "spark.sql.streaming.epochId": "0"},
			models.WriterIdentity{Kind: models.StreamingWriter, Key: "q1", Job: "app-1", Unit: "epoch/0"}},
		{"spark batch", map[string]string{"operation": "append", "spark.app.id": "app-1"}, models.WriterIdentity{Kind: models.BatchWriter, Key: "spark", Job: "app-1"}},
		{"nothing but rows", map[string]string{"operation": "append", "added-records": "3"}, models.WriterIdentity{Kind: models.BatchWriter, Key: "spark"}},
		{"compaction by a job", func() map[string]string { s := flink("j1", "op1", "12"); s["operation"] = "replace"; return s }(),
			models.WriterIdentity{Kind: models.FlinkWriter, Key: "op1", Job: "j1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := writers.Identify("t", "main", ada, c.summary)
			require.NotEmpty(t, got.ID)
			c.want.ID = got.ID
			assert.Equal(t, c.want, got)
		})
	}
}

// Who is who: what makes another writer, and what does not.
func TestIdentityTellsWritersApart(t *testing.T) {
	ada, bob := models.Writer{Principal: "ada", Engine: "flink"}, models.Writer{Principal: "bob", Engine: "flink"}
	id := func(table, ref string, w models.Writer, summary map[string]string) string {
		return writers.Identify(table, ref, w, summary).ID
	}
	one := id("t", "main", ada, flink("j1", "op1", "1"))
	assert.Equal(t, one, id("t", "main", ada, flink("j2", "op1", "7")), "a restart is the same writer")
	for name, other := range map[string]string{
		"another table":     id("u", "main", ada, flink("j1", "op1", "1")),
		"another branch":    id("t", "staging", ada, flink("j1", "op1", "1")),
		"a staged snapshot": id("t", "", ada, flink("j1", "op1", "1")),
		"another principal": id("t", "main", bob, flink("j1", "op1", "1")),
		"another operator":  id("t", "main", ada, flink("j1", "op2", "1")),
		"a batch by it":     id("t", "main", ada, nil),
		"declared":          writers.ExpectedID("t", "ada"),
	} {
		assert.NotEqual(t, one, other, name)
	}
	assert.Zero(t, writers.Identify("t", "main", models.Writer{Principal: "sluice"}, flink("j1", "op1", "1")), "Sluice's own commits have no writer")
}

// A client's text is kept short and printable, and different texts stay different.
func TestTextsAreBounded(t *testing.T) {
	ada := models.Writer{Principal: "ada"}
	long := strings.Repeat("é", 400)
	a := writers.Identify("t", "main", ada, flink(long, long, "1"))
	b := writers.Identify("t", "main", ada, flink(long+"x", long+"x", "1"))
	assert.LessOrEqual(t, len(a.Key), 200)
	assert.True(t, utf8.ValidString(a.Key))
	assert.NotEqual(t, a.Key, b.Key)
	assert.NotEqual(t, a.Job, b.Job)
	assert.NotEqual(t, writers.Identify("t", "main", ada, flink("a\x00b", "o", "1")).Job, writers.Identify("t", "main", ada, flink("ab", "o", "1")).Job)
}

// A time that JSON cannot write would take the whole list of writers with it.
func TestTimesThatNobodyCanWriteAreNotBelieved(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-03-01T00:00:00+02:00": true, "9999-12-31T23:59:59-23:59": false, "0000-01-01T00:00:00+23:59": false, "soon": false,
	} {
		c := models.Commit{WriterID: "w"}
		c.Summary.V = map[string]string{"kafka.connect.commit-id": "c", "kafka.connect.valid-through-ts": text}
		w := writers.Summarize([]models.Commit{c})
		assert.Equal(t, want, w.ValidTo != nil, text)
		_, err := json.Marshal(w)
		assert.NoError(t, err, text)
	}
}

func TestNoConnectorHasThousandsOfPartitions(t *testing.T) {
	for n, want := range map[int]int{1000: 1000, 1001: 0} {
		offsets := map[string]int64{}
		for i := range n {
			offsets[strconv.Itoa(i)] = 1
		}
		text, err := json.Marshal(offsets)
		require.NoError(t, err)
		assert.Len(t, writers.Offsets(map[string]string{"kafka.connect.offsets.t.g": string(text)}), want)
	}
}

func FuzzIdentify(f *testing.F) {
	f.Add("flink.job-id", "j", "flink.max-committed-checkpoint-id", "99999999999999999999", "main", "ada")
	f.Add("kafka.connect.commit-id", "c", "kafka.connect.offsets.a.b.c", `{"0":-1,"x":1e9}`, "b", "")
	f.Add("kafka.connect.offsets.", "", "spark.sql.streaming.queryId", "\xff\x00", "", "sluice")
	f.Add("spark.sql.streaming.queryId", strings.Repeat("\u2028", 300), "spark.sql.streaming.epochId", "+1", "main", "p")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2, ref, principal string) {
		summary := map[string]string{k1: v1, k2: v2, "flink.operator-id": v1}
		w := models.Writer{Principal: principal, Engine: v2}
		id := writers.Identify("t", ref, w, summary)
		if id != writers.Identify("t", ref, w, summary) {
			t.Fatal("two answers")
		}
		for _, text := range []string{id.ID, id.Key, id.Job, id.Unit} {
			if len(text) > 200 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Fatalf("%q", text)
			}
		}
		writers.Offsets(summary)
		at := models.Commit{WriterID: id.ID, Job: id.Job, Unit: id.Unit, Ref: ref}
		at.Summary.V, at.Writer.V = summary, w
		writers.Summarize([]models.Commit{at, at})
	})
}
