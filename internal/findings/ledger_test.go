package findings_test

import (
	"strconv"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// ledger is commits in the order in which they were made.
type ledger struct {
	rows []models.Commit
	now  time.Time
}

func newLedger() *ledger {
	return &ledger{now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
}

// add commits a snapshot a minute after the one before.
func (l *ledger) add(ref string, summary map[string]string) *models.Commit {
	l.now = l.now.Add(time.Minute)
	c := models.Commit{
		ID: int64(len(l.rows) + 1), TableID: "t", TableName: "db.t", SnapshotID: int64(1000 + len(l.rows)), Ref: ref, Operation: summary["operation"],
		Kind: models.ExternalCommit, CommittedAt: l.now,
	}
	if c.Operation == "" {
		c.Operation = "append"
	}
	c.Summary.V, c.Writer.V = summary, models.Writer{Principal: "ada"}
	id := writers.Identify(c.TableID, c.Ref, c.Writer.V, summary)
	c.WriterID, c.Job, c.Unit = id.ID, id.Job, id.Unit
	l.rows = append(l.rows, c)
	return &l.rows[len(l.rows)-1]
}

// history is what a store gives of a commit's writer.
func (l *ledger) history(c models.Commit) findings.History {
	var h findings.History
	for i, r := range l.rows {
		if r.WriterID != c.WriterID {
			continue
		}
		if r.ID < c.ID {
			h.Before = append([]models.Commit{r}, h.Before...)
		}
		if r.ID != c.ID && r.Unit != "" && r.Unit == c.Unit {
			h.SameUnit = append(h.SameUnit, r)
		}
		if h.FirstOfJob == nil && r.Job == c.Job && r.ID != c.ID && r.ID < c.ID {
			h.FirstOfJob = &l.rows[i]
		}
	}
	h.Before = h.Before[:min(len(h.Before), findings.HistoryDepth)]
	return h
}

// found gives the findings of each commit as "<kind>@<number of the commit>".
func (l *ledger) found() []string {
	out := []string{}
	for i, c := range l.rows {
		for _, f := range findings.OfCommit(c, l.history(c)) {
			out = append(out, string(f.Kind)+"@"+strconv.Itoa(i))
		}
	}
	return out
}

// play commits what a line says: words such as a12 are checkpoint 12 of Flink job a, with rows of its own; a12=9 with 9 rows;
// a12! of a bounded job's end. Words before a colon are branches: dev:a12.
func play(script string) *ledger {
	l := newLedger()
	for n, word := range strings.Fields(script) {
		ref := "main"
		if branch, rest, ok := strings.Cut(word, ":"); ok {
			ref, word = branch, rest
		}
		rows := strconv.Itoa(100 + n)
		if at, count, ok := strings.Cut(word, "="); ok {
			word, rows = at, count
		}
		checkpoint := word[1:]
		if checkpoint == "!" {
			checkpoint = "9223372036854775807"
		}
		l.add(ref, map[string]string{
			"operation": "append", "flink.job-id": word[:1], "flink.operator-id": "op", "flink.max-committed-checkpoint-id": checkpoint,
			"added-records": rows, "added-files-size": rows + "0", "added-data-files": "1",
		})
	}
	return l
}
