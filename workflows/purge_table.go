package workflows

import (
	"context"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/models"
)

// PurgeTableInput names the record of the drop.
type PurgeTableInput struct {
	Target activities.PurgeTarget `json:"target"`
}

// PurgeTableResult counts what was deleted. Refused is the state of a record that may not be purged: the table came back,
// or was purged before.
type PurgeTableResult struct {
	Files   int64            `json:"files"`
	Bytes   int64            `json:"bytes"`
	Refused models.DropState `json:"refused,omitempty"`
}

// PurgeTable deletes the files of a dropped table whose grace period is over. It is destructive, so that nothing starts it
// but the sweep over the records of drops, and it begins with a claim on the record that an undrop can still win.
func PurgeTable(ctx workflow.Context, in PurgeTableInput) (PurgeTableResult, error) {
	p := &purgeTable{in: in}
	if err := p.setup(ctx); err != nil {
		return PurgeTableResult{}, err
	}
	return p.run(ctx)
}

type purgeTable struct {
	in       PurgeTableInput
	out      PurgeTableResult
	progress Progress
}

func (p *purgeTable) setup(ctx workflow.Context) error {
	p.progress = Progress{Stage: stageClaiming, Table: p.in.Target.TableName, Total: 1}
	return p.progress.answer(ctx)
}

func (p *purgeTable) run(ctx workflow.Context) (PurgeTableResult, error) {
	claim, err := ordinary(ctx, scan(), references().ClaimPurge, activities.ClaimPurgeInput{Target: p.in.Target})
	if err != nil {
		return p.out, err
	}
	if !claim.Claimed {
		p.out.Refused, p.progress.Stage = claim.State, stageDone
		return p.out, nil
	}
	p.progress.Stage = stagePurging
	data, err := p.delete(ctx, references().PurgeDataFiles)
	if err != nil {
		return p.out, err
	}
	if _, err = p.delete(ctx, references().PurgeMetadataFiles); err != nil {
		return p.out, err
	}
	if !data.Skipped {
		if _, err = p.delete(ctx, references().PurgeLeftovers); err != nil {
			return p.out, err
		}
	}
	p.progress.Stage = stageRecording
	_, err = ordinary(ctx, patient(), references().FinishPurge, activities.FinishPurgeInput{
		Target: p.in.Target, Files: p.out.Files, Bytes: p.out.Bytes, WorkflowID: workflow.GetInfo(ctx).WorkflowExecution.ID,
	})
	p.progress.Stage, p.progress.Done = stageDone, 1
	return p.out, err
}

// delete runs one part and adds up what it deleted.
func (p *purgeTable) delete(ctx workflow.Context, part func(context.Context, activities.PurgeFilesInput) (activities.PurgeFilesResult, error)) (activities.PurgeFilesResult, error) {
	done, err := ordinary(ctx, destructive(), part, activities.PurgeFilesInput{Target: p.in.Target})
	p.out.Files += done.Files
	p.out.Bytes += done.Bytes
	return done, err
}
