package activities

import (
	"context"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// mostRefusals is how many refused requests the finding about a stalled writer names.
const mostRefusals = 5

// lateness finds a writer that owes a commit. Its row is as of its last reconciled commit; the ledger has those that
// still wait for that, after which nobody is late.
func (p *writerPage) lateness(ctx context.Context, w models.NamedWriter) error {
	const kind = models.FindingStalledWriter
	due, late := p.due(w.TableWriter)
	if late {
		waits, err := p.catchUp(ctx, &w.TableWriter)
		if err != nil || waits {
			return err
		}
		due, late = p.due(w.TableWriter)
	}
	if !late {
		return p.conclude(ctx, w, kind, models.Finding{}, false, "The writer owes no commit.")
	}
	f := findings.Stalled(w, findings.StallEvidence{Now: p.now, Due: due})
	if p.fresh(w, kind, f.SubjectKey) {
		return nil
	}
	table, err := p.table(ctx, w)
	if err != nil {
		return err
	}
	if table != nil {
		evidence, err := p.evidence(ctx, w, *table, due)
		if err != nil {
			return err
		}
		f = findings.Stalled(w, evidence)
	}
	return p.conclude(ctx, w, kind, f, true, "")
}

func (p *writerPage) due(w models.TableWriter) (at time.Time, late bool) {
	at, owes := writers.Due(w, p.acts.ports.Thresholds.Stall)
	return at, owes && p.now.After(at)
}

// catchUp brings a writer up to the ledger. waits tells that it cannot be judged yet: what a principal wrote is known by any
// name only once the table's commits are reconciled.
func (p *writerPage) catchUp(ctx context.Context, w *models.TableWriter) (waits bool, err error) {
	if w.Kind == models.ExpectedWriter {
		t, err := p.table(ctx, models.NamedWriter{TableWriter: *w})
		if err != nil || t == nil || t.CurrentSnapshotID == nil {
			return false, err
		}
		return t.RecordedSnapshotID == nil || *t.RecordedSnapshotID != *t.CurrentSnapshotID, nil
	}
	latest, err := p.acts.ports.Ledger.LatestOf(ctx, w.ID, writers.Depth)
	if err != nil || len(latest) == 0 {
		return false, err
	}
	now := writers.Summarize(latest)
	if w.LastCommitAt == nil || now.LastCommitAt.After(*w.LastCommitAt) {
		now.ID, now.Every, now.CreatedAt = w.ID, w.Every, w.CreatedAt
		*w = now
	}
	return false, nil
}

// fresh tells whether a finding is open whose evidence needs no gathering yet.
func (p *writerPage) fresh(w models.NamedWriter, kind models.FindingKind, subject string) bool {
	return slices.ContainsFunc(p.open[aspect{w.ID, kind}], func(f models.Finding) bool {
		return f.SubjectKey == subject && p.now.Sub(f.LastSeenAt) < refreshAfter
	})
}

// evidence gathers what is known about why a writer is late. A store that cannot be listed is no reason not to say so.
func (p *writerPage) evidence(ctx context.Context, w models.NamedWriter, t models.Table, due time.Time) (findings.StallEvidence, error) {
	out := findings.StallEvidence{Now: p.now, Due: due, Policy: t.WritePolicy}
	since := w.CreatedAt
	if w.LastCommitAt != nil {
		since = *w.LastCommitAt
	}
	var err error
	if out.Refusals, err = p.acts.ports.Writers.Refusals(ctx, w.TableUUID, w.Principal, since, mostRefusals); err != nil {
		return out, err
	}
	if out.Arrivals, err = p.acts.ports.Arrivals.Arrivals(ctx, t, since); err != nil {
		if ctx.Err() != nil {
			return out, err
		}
		activity.GetLogger(ctx).Warn("it cannot be told whether a late writer's files arrive", "table", w.Table, "error", err)
		out.Arrivals = findings.Arrivals{}
	}
	return out, nil
}
