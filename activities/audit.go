package activities

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-data/sluice/models"
)

// auditEvent starts the event of a commit, with who made the commit and where.
func (a *Activities) auditEvent(c models.Commit, catalog string, now time.Time) models.AuditEvent {
	w := c.Writer.V
	return models.AuditEvent{
		EventID: a.ports.NewID(), At: now, Allowed: true,
		Principal: w.Principal, TokenID: w.TokenID, RequestID: w.RequestID, Address: w.Address,
		Catalog: catalog, Namespace: namespaceOf(c.TableName), Table: c.TableName,
		TableUUID: c.TableUUID, SnapshotID: &c.SnapshotID,
	}
}

// namespaceOf cuts the table's own name off a dotted name.
func namespaceOf(table string) string {
	namespace, _, _ := cutLast(table, ".")
	return namespace
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// reconciledDetails is what an auditor reads. Snapshot ids are strings: they exceed what JSON readers keep exactly.
func reconciledDetails(c models.Commit, in RecordCommitInput, found []models.Finding) map[string]any {
	d := commitDetails(c, in.WorkflowID)
	d["rows"], d["files"], d["bytes"] = orNull(in.Counts.Rows), orNull(in.Counts.Files), orNull(in.Counts.Bytes)
	d["rowCountBefore"], d["rowCountAfter"] = orNull(in.Counts.RowCountBefore), orNull(in.Counts.RowCountAfter)
	d["removedRows"], d["removedFiles"], d["removedBytes"] = orNull(c.RemovedRows), orNull(c.RemovedFiles), orNull(c.RemovedBytes)
	d["deleteFiles"], d["partitions"] = orNull(c.DeleteFiles), append([]models.PartitionChange{}, c.Partitions.V...)
	d["exact"] = in.Counts.Exact
	if in.Counts.Why != "" {
		d["why"] = in.Counts.Why
	}
	d["restamped"] = append([]string{}, in.Restamped...)
	if in.RestampError != "" {
		d["restampError"] = in.RestampError
	}
	if in.Files.Left > 0 {
		d["filesNotRecorded"] = in.Files.Left
	}
	if in.FilesError != "" {
		d["filesError"] = in.FilesError
	}
	d["findings"] = toldOf(in, found)
	return d
}

// toldOf names the findings of a commit: those that came as sentences, and the others by their subjects.
func toldOf(in RecordCommitInput, found []models.Finding) []map[string]any {
	out := make([]map[string]any, 0, len(found))
	said := map[models.FindingKind]bool{}
	for _, f := range slices.Concat(in.Counts.Findings, in.Files.Findings) {
		said[f.Kind] = true
		out = append(out, map[string]any{"kind": string(f.Kind), "evidence": f.Evidence})
	}
	for _, f := range found {
		if !said[f.Kind] {
			out = append(out, map[string]any{"kind": string(f.Kind), "subject": f.Subject})
		}
	}
	return out
}

// commitDetails is what the events about one commit share.
func commitDetails(c models.Commit, workflowID string) map[string]any {
	w := c.Writer.V
	writer := map[string]any{"principal": w.Principal, "tokenId": w.TokenID, "engine": w.Engine, "client": w.Client}
	if c.WriterID != "" {
		writer["id"], writer["job"], writer["unit"] = c.WriterID, c.Job, c.Unit
	}
	return map[string]any{
		"snapshot":   strconv.FormatInt(c.SnapshotID, 10),
		"operation":  c.Operation,
		"ref":        c.Ref,
		"workflowId": workflowID,
		"writer":     writer,
	}
}

func orNull(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}
