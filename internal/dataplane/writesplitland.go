package dataplane

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// chunksHere is how many chunks this process works on at once when no workflow does.
const chunksHere = 2

// landSplit has workers land a write whose rows are in chunks, and waits for it. Where none can be asked, it is done here,
// by the same steps.
func (s *Service) landSplit(ctx context.Context, w *writing, l *landing) (models.GovernedWrite, error) {
	refs, err := s.planSplit(ctx, w, l)
	if err != nil {
		s.IO.Remove(ctx, refs...)
		return models.GovernedWrite{}, err
	}
	w.handOver()
	target := models.SplitWrite{
		WriteID: w.id, CatalogID: l.write.CatalogID, TableID: l.write.TableID, TableUUID: l.write.TableUUID, TableName: l.write.TableName,
		Folder: l.cargo.split.files.folder, Chunks: l.cargo.split.chunks,
	}
	if err = s.Split.StartWrite(ctx, target); err == nil {
		err = s.Split.AwaitWrite(ctx, w.id)
	} else {
		s.Log.WarnContext(ctx, "a split write is landed here, because no workflow can be started", "write", w.id, "error", err)
		err = s.landHere(ctx, target)
	}
	if err == nil {
		return s.Store.GovernedWrite(context.WithoutCancel(ctx), w.id)
	}
	return s.splitOutcome(ctx, w, err)
}

// splitOutcome is what to answer where the landing of a split write failed, or was not awaited.
func (s *Service) splitOutcome(ctx context.Context, w *writing, cause error) (models.GovernedWrite, error) {
	if w.claim != nil && fault.Is(cause, fault.AlreadyExists) { // another request settled the key
		return models.GovernedWrite{}, idempotency.Used()
	}
	if write, err := s.Store.GovernedWrite(context.WithoutCancel(ctx), w.id); err == nil {
		return write, nil
	}
	if ctx.Err() != nil || fault.Is(cause, fault.UnknownState) || errors.Is(cause, context.Canceled) {
		return models.GovernedWrite{}, fault.Wrap(cause, fault.UnknownState,
			"The rows were received, and are still being landed. Send the write again under the same Idempotency-Key later, or look at the table's writes.")
	}
	return models.GovernedWrite{}, cause
}

// planSplit stores what is to be done with the chunks, and gives the manifests that it made.
func (s *Service) planSplit(ctx context.Context, w *writing, l *landing) (refs []tableio.ManifestRef, err error) {
	split := l.cargo.split
	plan := splitPlan{Write: l.write, PrincipalID: w.caller.PrincipalID, Origin: w.caller.Origin, Fit: l.fit}
	if plan.Front, err = l.cargo.adds[0].Manifest(ctx); err != nil {
		return nil, err
	}
	refs = append(refs, plan.Front)
	if l.aside != nil {
		plan.Aside = &splitAside{UUID: l.aside.uuid, RowID: l.aside.rowID, Fit: l.aside.fit}
		if plan.Aside.Manifest, err = l.aside.adds[0].Manifest(ctx); err != nil {
			return refs, err
		}
		refs = append(refs, plan.Aside.Manifest)
	}
	if w.claim != nil {
		plan.Key, plan.Route, plan.Request = w.claim.Key, w.claim.Route, w.claim.RequestHash
	}
	blocks, err := l.blocks(nil)
	if err != nil {
		return refs, err
	}
	if plan.Audit, err = split.putAudit(ctx, placed(blocks, l.write.ID, l.write.TableID)); err != nil {
		return refs, err
	}
	split.made = append(split.made, planFile)
	return refs, split.files.putJSON(ctx, planFile, plan)
}

// handOver leaves what was written to those who land it, and gives back the memory that they may need.
func (w *writing) handOver() {
	w.settled = true
	w.log = rowLog{}
	w.sink.release()
	w.memory.release()
}

// landHere lands a split write without a workflow.
func (s *Service) landHere(ctx context.Context, w models.SplitWrite) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(chunksHere)
	for chunk := range w.Chunks {
		group.Go(func() error {
			_, err := s.WriteChunk(within, w, chunk)
			return err
		})
	}
	err := group.Wait()
	if err == nil {
		err = s.CommitChunks(ctx, w)
	}
	if fault.Is(err, fault.UnknownState) {
		return err
	}
	cleaning := context.WithoutCancel(ctx)
	if left := s.CleanChunks(cleaning, w); left != nil {
		s.Log.WarnContext(cleaning, "files of a write stay behind", "folder", w.Folder, "write", w.WriteID, "error", left)
	}
	return err
}
