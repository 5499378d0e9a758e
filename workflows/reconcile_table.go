package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// tableRun reconciles one snapshot of a table with its unrecorded ancestors, a page at a time. ReconcileCommit and
// ReconcileBatch share it.
//
// Two of them may run on one table at once: a snapshot that both recount is recorded once, the numbers come from immutable
// files, and the recorded head only moves forward, so that their order does not matter.
type tableRun struct {
	target     activities.Target
	known      int64   // ancestor up to which an earlier page has recorded, 0 for none
	batch      []int64 // snapshots of the table that are waited for together; empty outside a batch
	pageSize   int     // 0 for the default
	workflowID string
	progress   *Progress
}

// quicklyRecorded is how many files of a commit are recorded within the time of a local activity.
const quicklyRecorded = 100

// page is what one page did.
type page struct {
	recorded, abandoned int
	finished            []int64 // snapshots that need nothing more
	more                bool
	last                int64 // newest snapshot of the page
}

// run does one page: detect, recount, restamp, record, oldest snapshot first.
func (r *tableRun) run(ctx workflow.Context) (page, error) {
	r.stage(stageDetecting)
	work, err := step(ctx, quick(), references().DetectCommits,
		activities.DetectCommitsInput{Target: r.target, Known: r.known, Batch: r.batch, Limit: r.pageSize})
	if err != nil {
		return page{}, err
	}
	p := page{more: work.More, finished: []int64{r.target.SnapshotID}}
	if work.More {
		p.finished = nil // the target itself is on a later page
	}
	if work.Gone != activities.NotGone {
		r.progress.Done++
		return p, r.abandon(ctx, &p, r.target, work.Catalog, work.Gone)
	}
	r.expect(work.Snapshots)
	if len(work.Snapshots) == 0 {
		if _, err := r.restamp(ctx, r.target); err != nil { // somebody asked, although all commits are recorded
			workflow.GetLogger(ctx).Warn("the table could not be stamped", "table", r.target.TableName, "error", err)
		}
		return p, ctx.Err()
	}
	for i, snapshot := range work.Snapshots {
		newest := i == len(work.Snapshots)-1 && !work.More
		if err := r.reconcile(ctx, &p, work.Catalog, snapshot, newest); err != nil {
			return p, err
		}
		p.finished, p.last = append(p.finished, snapshot.ID), snapshot.ID
		r.progress.Done++
	}
	return p, nil
}

// expect adds what nobody asked for, the unseen ancestors, to the progress; and counts a target that was done before.
func (r *tableRun) expect(snapshots []activities.DetectedSnapshot) {
	if len(snapshots) == 0 {
		r.progress.Done++
	}
	for _, s := range snapshots {
		if s.ID != r.target.SnapshotID && !slices.Contains(r.batch, s.ID) {
			r.progress.Total++
		}
	}
}

// reconcile does one snapshot. The table is stamped once, with its newest.
func (r *tableRun) reconcile(ctx workflow.Context, p *page, catalog string, s activities.DetectedSnapshot, newest bool) error {
	target := r.target.At(s.ID)
	counts, err := r.recount(ctx, target, s.Large)
	switch {
	case err != nil:
		return err
	case counts.Done:
		return nil
	case counts.Gone != activities.NotGone:
		return r.abandon(ctx, p, target, catalog, counts.Gone)
	}
	in := activities.RecordCommitInput{
		Target: target, Catalog: catalog, OnMain: s.OnMain, Counts: counts, WorkflowID: r.workflowID,
	}
	if err := r.recordFiles(ctx, &in); err != nil {
		return err
	}
	if newest {
		if in.Restamped, err = r.restamp(ctx, target); err != nil {
			if isCanceled(ctx) {
				return err
			}
			in.RestampError = messageOf(err)
		}
	}
	r.stage(stageRecording)
	out, err := step(ctx, quick(), references().RecordCommit, in)
	if out.Recorded {
		p.recorded++
		r.progress.Recorded++
	}
	return err
}

func (r *tableRun) recount(ctx workflow.Context, target activities.Target, large bool) (activities.RecountSnapshotResult, error) {
	r.stage(stageRecounting)
	in := activities.RecountSnapshotInput{Target: target}
	if large {
		return ordinary(ctx, scan(), references().RecountSnapshot, in)
	}
	return step(ctx, counting(), references().RecountSnapshot, in)
}

// recordFiles notes the files of a snapshot that changed any. Like a recount it waits for a store that is down; where it can
// never succeed, the commit is audited with the reason. What the recount counted decides whether it is run, so that
// runs of before it was a step decide as they did.
func (r *tableRun) recordFiles(ctx workflow.Context, in *activities.RecordCommitInput) (err error) {
	if in.Counts.ChangedFiles == 0 {
		return nil
	}
	r.stage(stageFiling)
	files := activities.RecordFilesInput{Target: in.Target, Catalog: in.Catalog, OnMain: in.OnMain}
	if in.Counts.ChangedFiles > quicklyRecorded {
		in.Files, err = ordinary(ctx, scan(), references().RecordFiles, files)
	} else {
		in.Files, err = step(ctx, counting(), references().RecordFiles, files)
	}
	if err != nil && isFinal(err) && !isCanceled(ctx) {
		in.FilesError = messageOf(err)
		return nil
	}
	return err
}

// restamp may fail without failing the reconciliation: the commit is audited with the reason, and a later one, or the
// sweep, stamps again.
func (r *tableRun) restamp(ctx workflow.Context, target activities.Target) ([]string, error) {
	r.stage(stageRestamping)
	out, err := step(ctx, brief(), references().RestampTable, activities.RestampTableInput{Target: target})
	return out.Restamped, err
}

func (r *tableRun) abandon(ctx workflow.Context, p *page, t activities.Target, catalog string, gone activities.Gone) error {
	r.stage(stageRecording)
	out, err := step(ctx, quick(), references().AbandonCommit,
		activities.AbandonCommitInput{Target: t, Catalog: catalog, Gone: gone, WorkflowID: r.workflowID})
	if out.Recorded {
		p.abandoned++
		r.progress.Abandoned++
	}
	return err
}

func (r *tableRun) stage(stage string) {
	r.progress.Stage, r.progress.Table = stage, r.target.TableName
}

func isCanceled(ctx workflow.Context) bool { return ctx.Err() != nil }
