package findings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// aboutTable starts a finding about a table as a whole.
func aboutTable(kind models.FindingKind, t models.Table) models.Finding {
	return models.Finding{
		Kind: kind, Severity: kind.Severity(), CatalogID: t.CatalogID, TableID: t.ID, TableUUID: t.UUID,
		Subject: "table", SubjectKey: models.SubjectKey(string(kind)),
	}
}

// aboutCommit starts a finding about a commit.
func aboutCommit(kind models.FindingKind, c models.Commit) models.Finding {
	snapshot := c.SnapshotID
	return models.Finding{
		Kind: kind, Severity: kind.Severity(), CatalogID: c.CatalogID, TableID: c.TableID, TableUUID: c.TableUUID, Table: c.TableName,
		SnapshotID: &snapshot, Principal: c.Writer.V.Principal, WriterID: c.WriterID,
		Subject: "snapshot " + idText(snapshot), SubjectKey: models.SubjectKey(string(kind), idText(snapshot)),
	}
}

// aboutWriter starts a finding about a writer.
func aboutWriter(kind models.FindingKind, w models.NamedWriter) models.Finding {
	return models.Finding{
		Kind: kind, Severity: kind.Severity(), CatalogID: w.CatalogID, Catalog: w.CatalogName, TableID: w.TableID, TableUUID: w.TableUUID,
		Table: w.Table, SnapshotID: w.LastCommit, Principal: w.Principal, WriterID: w.ID,
		Subject: subjectOf(w.Kind, w.Key, w.Principal), SubjectKey: models.SubjectKey(string(kind), w.ID),
	}
}

// subjectOf names a writer to people.
func subjectOf(kind models.WriterKind, key, principal string) string {
	if kind == models.ExpectedWriter {
		return "writer " + principal
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s writer %s of %s", kind, key, principal)), " ")
}

// aboutRefused starts a finding about a writer whose commit to main was refused. summary is that of its snapshot.
func aboutRefused(kind models.FindingKind, t models.Table, w models.Writer, summary map[string]string) models.Finding {
	id := writers.Identify(t.ID, "main", w, summary)
	f := aboutTable(kind, t)
	f.Principal = w.Principal
	f.Subject = subjectOf(id.Kind, id.Key, w.Principal)
	f.Evidence.V = map[string]any{
		"writer": f.Subject, "principal": w.Principal, "engine": w.Engine, "client": w.Client, "address": w.Address, "tokenId": w.TokenID,
	}
	for name, text := range map[string]string{"job": id.Job, "unit": id.Unit} {
		if text != "" {
			f.Evidence.V[name] = text
		}
	}
	return f
}

// writerOf names the writer of a commit to people.
func writerOf(c models.Commit) string {
	id := writers.Identify(c.TableID, c.Ref, c.Writer.V, c.Summary.V)
	return subjectOf(id.Kind, id.Key, c.Writer.V.Principal)
}

// pair is the evidence that two commits give: both snapshots, who made them when, and what they say they brought. Numbers
// are the writers' own, so that the evidence is the same whichever was counted first.
func pair(c, earlier models.Commit) map[string]any {
	out := map[string]any{
		"writer": writerOf(c), "earlierSnapshot": idText(earlier.SnapshotID), "snapshot": idText(c.SnapshotID),
		"earlierAt": timeText(earlier.CommittedAt), "at": timeText(c.CommittedAt),
	}
	claim(out, "rows", c, "earlierRows", earlier, "added-records")
	claim(out, "files", c, "earlierFiles", earlier, "added-data-files")
	claim(out, "bytes", c, "earlierBytes", earlier, "added-files-size")
	for name, text := range map[string]string{"unit": c.Unit, "earlierUnit": earlier.Unit, "job": c.Job, "earlierJob": earlier.Job} {
		if text != "" {
			out[name] = text
		}
	}
	if offsets := writers.Offsets(c.Summary.V); offsets != nil {
		out["offsets"] = offsets
	}
	if offsets := writers.Offsets(earlier.Summary.V); offsets != nil {
		out["earlierOffsets"] = offsets
	}
	return out
}

// claim adds what the summaries of both commits say of something that is counted.
func claim(out map[string]any, name string, c models.Commit, earlierName string, earlier models.Commit, property string) {
	if n, err := strconv.ParseInt(c.Summary.V[property], 10, 64); err == nil {
		out[name] = n
	}
	if n, err := strconv.ParseInt(earlier.Summary.V[property], 10, 64); err == nil {
		out[earlierName] = n
	}
}

// idText writes a snapshot id: JSON numbers lose digits of it.
func idText(id int64) string { return strconv.FormatInt(id, 10) }

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// seconds writes a span that was measured in milliseconds.
func seconds(milliseconds int64) float64 { return float64(milliseconds) / 1000 }
