package writers

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Own is the principal of Sluice's own commits, which have no writer.
const Own = "sluice"

// mainRef is the branch that readers get, and that no writer is told apart by.
const mainRef = "main"

// What engines write into the summaries of their snapshots.
const (
	flinkJob        = "flink.job-id"
	flinkOperator   = "flink.operator-id"
	flinkCheckpoint = "flink.max-committed-checkpoint-id"
	connectCommit   = "kafka.connect.commit-id"
	connectTask     = "kafka.connect.task-id"
	connectOffsets  = "kafka.connect.offsets."
	connectValidTo  = "kafka.connect.valid-through-ts"
	sparkQuery      = "spark.sql.streaming.queryId"
	sparkEpoch      = "spark.sql.streaming.epochId"
	sparkApp        = "spark.app.id"
)

// LastCheckpoint is the number that Flink gives to what a bounded job commits when it ends.
const LastCheckpoint = int64(math.MaxInt64)

// Identify says who made a commit to a table's branch, and which piece of that one's stream it carries. It is the zero
// value where there is no writer: for Sluice's own commits.
func Identify(tableID, ref string, w models.Writer, summary map[string]string) models.WriterIdentity {
	if w.Principal == Own {
		return models.WriterIdentity{}
	}
	id, key := identity(w, summary)
	id.ID, id.Key = writerID(tableID, id.Kind, w.Principal, key, ref), Shorten(key)
	id.Job, id.Unit = Shorten(id.Job), Shorten(id.Unit)
	if summary["operation"] == "replace" {
		id.Unit = "" // compaction and the like: it brings no data, whatever properties it inherited
	}
	return id
}

// ExpectedID is the id of the writer that somebody declared: whatever a principal writes to a table.
func ExpectedID(tableID, principal string) string {
	return models.SubjectKey(tableID, string(models.ExpectedWriter), principal)
}

// identity gives everything but the id, and the key as the commit has it.
func identity(w models.Writer, summary map[string]string) (models.WriterIdentity, string) {
	switch kindOf(summary) {
	case models.FlinkWriter:
		id := models.WriterIdentity{Kind: models.FlinkWriter, Job: summary[flinkJob]}
		if n, ok := number(summary[flinkCheckpoint]); ok && n != LastCheckpoint {
			id.Unit = "checkpoint/" + strconv.FormatInt(n, 10)
		}
		return id, summary[flinkOperator]
	case models.ConnectWriter:
		id := models.WriterIdentity{Kind: models.ConnectWriter, Job: summary[connectTask]}
		if commit := summary[connectCommit]; commit != "" {
			id.Unit = "commit/" + commit
		}
		return id, connectKey(summary)
	case models.StreamingWriter:
		id := models.WriterIdentity{Kind: models.StreamingWriter, Job: summary[sparkApp]}
		if n, ok := number(summary[sparkEpoch]); ok {
			id.Unit = "epoch/" + strconv.FormatInt(n, 10)
		}
		return id, summary[sparkQuery]
	}
	return models.WriterIdentity{Kind: models.BatchWriter, Job: summary[sparkApp]}, w.Engine
}

func kindOf(summary map[string]string) models.WriterKind {
	switch {
	case summary[flinkJob] != "" && summary[flinkCheckpoint] != "":
		return models.FlinkWriter
	case summary[connectCommit] != "" || connectSuffix(summary) != "":
		return models.ConnectWriter
	case summary[sparkQuery] != "" && summary[sparkEpoch] != "":
		return models.StreamingWriter
	}
	return models.BatchWriter
}

// connectSuffix gives what follows kafka.connect.offsets. in the name of a property: "<control topic>.<group>". There is one
// such property; of several the first in order of names counts.
func connectSuffix(summary map[string]string) string {
	first := ""
	for name := range summary {
		if suffix, ok := strings.CutPrefix(name, connectOffsets); ok && suffix != "" && (first == "" || suffix < first) {
			first = suffix
		}
	}
	return first
}

// connectKey is "<group>/<control topic>". Where topic or group have dots too, it cannot be told where one ends, and the key
// is both as they are.
func connectKey(summary map[string]string) string {
	suffix := connectSuffix(summary)
	topic, group, ok := strings.Cut(suffix, ".")
	if !ok || topic == "" || group == "" || strings.Contains(group, ".") {
		return suffix
	}
	return group + "/" + topic
}

func writerID(tableID string, kind models.WriterKind, principal, key, ref string) string {
	parts := []string{tableID, string(kind), principal, key}
	if ref != mainRef {
		parts = append(parts, ref)
	}
	return models.SubjectKey(parts...)
}

// Checkpoint gives the number of a Flink checkpoint, false of anything else. LastCheckpoint is one.
func Checkpoint(summary map[string]string) (int64, bool) {
	if kindOf(summary) != models.FlinkWriter {
		return 0, false
	}
	return number(summary[flinkCheckpoint])
}

// Epoch gives the number of a Spark micro-batch, false of anything else.
func Epoch(summary map[string]string) (int64, bool) {
	if kindOf(summary) != models.StreamingWriter {
		return 0, false
	}
	return number(summary[sparkEpoch])
}

// Offsets gives how far a connector had read its control topic, by partition; nil of anything else.
func Offsets(summary map[string]string) map[string]int64 {
	suffix := connectSuffix(summary)
	if suffix == "" {
		return nil
	}
	var offsets map[string]int64
	if json.Unmarshal([]byte(summary[connectOffsets+suffix]), &offsets) != nil {
		return nil
	}
	for partition := range offsets {
		if _, ok := number(partition); !ok || len(offsets) > mostPartitions {
			return nil // not what a connector writes
		}
	}
	return offsets
}

// mostPartitions is how many partitions of a control topic are believed: each writer that is looked at has them all.
const mostPartitions = 1000

// validTo gives the time up to which a connector says that all its records are in the table.
func validTo(summary map[string]string) *time.Time {
	at, err := time.Parse(time.RFC3339Nano, summary[connectValidTo])
	if err != nil {
		return nil
	}
	// A zone may take the time out of the years that a time can be written in: not what a connector writes.
	if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
		return nil
	}
	return &at
}

// number reads a number as engines write it: no sign, nothing around it.
func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && text[0] != '+'
}
