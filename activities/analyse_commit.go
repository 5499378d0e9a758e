package activities

import (
	"context"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// analysis is what a commit says about its writer and its table, beside its numbers. It is a function of the ledger, which
// is written in the order of commits, so that the order of reconciliation does not matter and a second run gives the same.
type analysis struct {
	findings []models.Finding
	resolved []models.FindingSubject
	writers  []models.TableWriter
}

// analyse looks at a commit. Its errors are those of reading the ledger and metadata, which may pass.
func (a *Activities) analyse(ctx context.Context, c models.Commit, in RecordCommitInput) (analysis, error) {
	out := analysis{findings: commitFindings(c, in.Catalog, in.Counts.Findings)}
	if c.WriterID != "" {
		if err := a.analyseWriter(ctx, c, &out); err != nil {
			return out, err
		}
	}
	if in.Files.SchemaBehind {
		found, ok, err := a.schemaRegression(ctx, c)
		if err != nil {
			return out, err
		}
		if ok {
			out.findings = append(out.findings, found)
		}
	}
	a.analyseDeletes(c, in, &out)
	for i := range out.findings {
		ofCommit(&out.findings[i], c, in.Catalog)
	}
	return out, nil
}

// analyseWriter holds the commit against what its writer committed before, and brings the writer's row up to date.
func (a *Activities) analyseWriter(ctx context.Context, c models.Commit, out *analysis) error {
	found, err := a.againstHistory(ctx, c)
	if err != nil {
		return err
	}
	out.findings = append(out.findings, found...)
	wrote, ok, err := a.summaryOf(ctx, c)
	if err != nil {
		return err
	}
	if ok {
		out.wrote(wrote, a.late(wrote))
	}
	expected, ok, err := a.ports.Writers.ExpectedWriter(ctx, c.TableID, c.Writer.V.Principal)
	if err != nil || !ok {
		return err
	}
	after := expectedAfter(expected, c)
	out.wrote(after, a.late(after))
	return nil
}

// late tells whether a writer owes a commit all the same, as where one of long ago is reconciled.
func (a *Activities) late(w models.TableWriter) bool {
	at, owes := writers.Due(w, a.ports.Thresholds.Stall)
	return owes && a.ports.Now().After(at)
}

// summaryOf says of a commit's writer what its newest commits tell, of which the commit is one.
func (a *Activities) summaryOf(ctx context.Context, c models.Commit) (models.TableWriter, bool, error) {
	if known, ok := a.recent.writers.get(c.WriterID); ok && c.ID > 0 && known.newest >= c.ID {
		return known.writer, true, nil
	}
	latest, err := a.ports.Ledger.LatestOf(ctx, c.WriterID, writers.Depth)
	if err != nil || len(latest) == 0 {
		return models.TableWriter{}, false, err
	}
	w := writers.Summarize(latest)
	a.recent.writers.put(c.WriterID, summarized{newest: latest[0].ID, writer: w})
	return w, true, nil
}

// againstHistory gives what is wrong with a commit by what its writer committed before. Which of that it builds on is asked
// only where it matters.
func (a *Activities) againstHistory(ctx context.Context, c models.Commit) ([]models.Finding, error) {
	if c.Unit == "" && writers.Identify(c.TableID, c.Ref, c.Writer.V, c.Summary.V).Kind == models.BatchWriter {
		return nil, nil // it has no stream to go back in
	}
	history, err := a.ports.Ledger.History(ctx, c)
	if err != nil {
		return nil, err
	}
	found := findings.OfCommit(c, history)
	if len(found) == 0 {
		return nil, nil
	}
	at, err := a.locate(ctx, Target{CatalogID: c.CatalogID, TableID: c.TableID, TableUUID: c.TableUUID, TableName: c.TableName, SnapshotID: c.SnapshotID})
	if err != nil || at.gone != NotGone {
		return found, err
	}
	if history.Ancestors, err = a.ancestors(ctx, at, findings.Concerned(history)); err != nil {
		return nil, err
	}
	return findings.OfCommit(c, history), nil
}

// ancestors tells which of some snapshots a snapshot that was found builds on.
func (a *Activities) ancestors(ctx context.Context, at found, ids []int64) (map[int64]bool, error) {
	return findings.Ancestors(at.doc, at.snapshot.ID, ids, func(expired []int64) (map[int64]bool, error) {
		return a.ports.Checks.OnLedger(ctx, at.row.ID, expired)
	})
}

// wrote notes that a writer committed: it is late no more, unless that was too long ago.
func (a *analysis) wrote(w models.TableWriter, late bool) {
	a.writers = append(a.writers, w)
	if late {
		return
	}
	a.resolved = append(a.resolved, models.FindingSubject{
		TableID: w.TableID, Kind: models.FindingStalledWriter, SubjectKey: stalledKey(w), Note: "The writer committed again.",
	})
}

// stalledKey is the subject of the finding that a writer is late.
func stalledKey(w models.TableWriter) string {
	return findings.Stalled(models.NamedWriter{TableWriter: w}, findings.StallEvidence{}).SubjectKey
}

// expectedAfter is a declared writer after a commit of its principal, by whatever engine.
func expectedAfter(w models.TableWriter, c models.Commit) models.TableWriter {
	if w.LastCommitAt != nil && !c.CommittedAt.After(*w.LastCommitAt) {
		return w
	}
	at, snapshot := c.CommittedAt, c.SnapshotID
	w.LastCommit, w.LastCommitAt = &snapshot, &at
	if w.FirstCommitAt == nil {
		w.FirstCommitAt = &at
	}
	w.Commits++
	w.Engine, w.Client, w.TokenID, w.Job, w.Ref = c.Writer.V.Engine, c.Writer.V.Client, c.Writer.V.TokenID, c.Job, c.Ref
	w.TableUUID, w.Table = c.TableUUID, c.TableName
	return w
}

// analyseDeletes says whether readers of main pay for too many equality deletes. Only a commit that removes files can
// make them fewer.
func (a *Activities) analyseDeletes(c models.Commit, in RecordCommitInput, out *analysis) {
	live, limit := in.Counts.LiveEqualityDeletes, a.ports.Thresholds.EqualityDeletes
	if !in.OnMain || live == nil || limit <= 0 {
		return
	}
	if f, ok := findings.OfDeletes(c, *live, limit); ok {
		out.findings = append(out.findings, f)
	} else if c.Operation != "append" {
		out.resolved = append(out.resolved, models.FindingSubject{
			TableID: c.TableID, Kind: models.FindingDeletePileup, Note: "The equality deletes were compacted.",
		})
	}
}

// ofCommit fills in what a finding about a commit has of it.
func ofCommit(f *models.Finding, c models.Commit, catalog string) {
	f.CatalogID, f.Catalog, f.TableID, f.TableUUID, f.Table = c.CatalogID, catalog, c.TableID, c.TableUUID, c.TableName
	if f.SnapshotID == nil {
		snapshot := c.SnapshotID
		f.SnapshotID = &snapshot
	}
	if f.Principal == "" {
		f.Principal = c.Writer.V.Principal
	}
	if f.WriterID == "" {
		f.WriterID = c.WriterID
	}
	if f.Severity == "" {
		f.Severity = f.Kind.Severity()
	}
}
