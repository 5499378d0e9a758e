package dataplane

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

func (s *Service) splitStore(w models.SplitWrite) splitStore {
	return splitStore{s: s, folder: w.Folder, writeID: w.WriteID}
}

func (p splitPlan) caller() policy.Caller {
	return policy.Caller{Principal: p.Write.Principal, PrincipalID: p.PrincipalID, TokenID: p.Write.TokenID, Origin: p.Origin}
}

// WriteChunk makes data files of the rows of a chunk, from 0 on, and gives how many rows it has. Which files they are is
// noted beside the chunk: of several attempts one counts.
func (s *Service) WriteChunk(ctx context.Context, w models.SplitWrite, chunk int) (int64, error) {
	files := s.splitStore(w)
	var ref tableio.ManifestRef
	err := files.getJSON(ctx, manifestFile(chunk), &ref)
	if err == nil || !fault.Is(err, fault.NotFound) {
		return ref.Rows, err
	}
	var plan splitPlan
	if err := files.getJSON(ctx, planFile, &plan); err != nil {
		return 0, err
	}
	memory, err := s.writes.reserve(ctx, false)
	if err != nil {
		return 0, err
	}
	defer memory.release()
	written, err := s.chunkFiles(ctx, files, plan, chunk, memory)
	if err != nil {
		return 0, err
	}
	if ref, err = written.Manifest(ctx); err == nil {
		err = files.putJSON(ctx, manifestFile(chunk), ref)
	}
	if err == nil {
		return ref.Rows, nil
	}
	if !fault.Is(err, fault.AlreadyExists) {
		return 0, err // what it left is garbage: the note may be there all the same
	}
	var noted tableio.ManifestRef
	if err := files.getJSON(ctx, manifestFile(chunk), &noted); err != nil {
		return 0, err
	}
	if noted.Path != ref.Path { // another attempt was faster
		s.IO.Remove(ctx, ref)
	}
	return noted.Rows, nil
}

// chunkFiles writes the rows of a chunk into data files.
func (s *Service) chunkFiles(ctx context.Context, files splitStore, plan splitPlan, chunk int, memory *reservation) (*tableio.Written, error) {
	table, err := s.tableAt(ctx, platformFor(plan.caller(), plan.Write.CatalogID), plan.Write.TableUUID, plan.Write.TableID, plan.Fit)
	if err != nil {
		return nil, err
	}
	data, err := files.get(ctx, chunkFile(chunk))
	if err != nil {
		return nil, err
	}
	out, err := s.IO.NewFileWriter(ctx, table.Document, tableio.FileOptions{
		Name: fmt.Sprintf("%s-%05d-%s", plan.Write.ID, chunk, uuid.NewString()[:8]), MemoryBytes: memory.files(),
	})
	if err != nil {
		return nil, err
	}
	defer out.Abort() // does nothing once it is closed
	reader, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	for reader.Next() {
		if err := out.Write(reader.RecordBatch()); err != nil {
			return nil, err
		}
	}
	if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return out.Close()
}

// CommitChunks lands a split write whose chunks are all in data files. fault.AlreadyExists: its Idempotency-Key was settled
// by another request meanwhile, and nothing landed.
func (s *Service) CommitChunks(ctx context.Context, w models.SplitWrite) error {
	if _, err := s.Store.GovernedWrite(ctx, w.WriteID); !fault.Is(err, fault.NotFound) {
		return err // it landed, or the store does not say
	}
	l, err := s.splitLanding(ctx, w)
	if err != nil {
		return err
	}
	_, err = s.land(ctx, l)
	if idempotency.IsUsed(err) {
		return fault.Wrap(err, fault.AlreadyExists, "The Idempotency-Key of this write was used by another that landed: send other rows under a new key.")
	}
	return err
}

// splitLanding puts a write together again.
func (s *Service) splitLanding(ctx context.Context, w models.SplitWrite) (*landing, error) {
	files := s.splitStore(w)
	var plan splitPlan
	if err := files.getJSON(ctx, planFile, &plan); err != nil {
		return nil, err
	}
	l := &landing{write: plan.Write, caller: plan.caller(), fit: plan.Fit}
	l.open = func(ctx context.Context) error { return files.stillOpen(ctx) }
	l.cargo.manifests = []tableio.ManifestRef{plan.Front}
	rows := plan.Front.Rows
	for chunk := range w.Chunks {
		var ref tableio.ManifestRef
		if err := files.getJSON(ctx, manifestFile(chunk), &ref); err != nil {
			return nil, err
		}
		l.cargo.manifests, rows = append(l.cargo.manifests, ref), rows+ref.Rows
	}
	if rows != plan.Write.Rows {
		return nil, fault.New(fault.Invalid, "The chunks of write %s have %d rows instead of %d: it cannot land. Send the rows again.", w.WriteID, rows, plan.Write.Rows)
	}
	if a := plan.Aside; a != nil {
		l.aside = &asideCargo{uuid: a.UUID, rowID: a.RowID, fit: a.Fit, manifests: []tableio.ManifestRef{a.Manifest}}
	}
	if plan.Key != "" && s.Keys != nil {
		l.claim = &idempotency.Claim{PrincipalID: plan.PrincipalID, Key: plan.Key, Route: plan.Route, RequestHash: plan.Request}
		s.Keys.Adopt(l.claim)
	}
	blocks, err := files.audit(ctx, plan.Audit)
	l.blocks = func(*rowSet) ([]models.RowAuditBlock, error) { return blocks, nil }
	return l, err
}

// stillOpen refuses to go on with a write that was closed. The mark goes last when all is cleaned up, and the plan before it.
func (d splitStore) stillOpen(ctx context.Context) error {
	_, plan := d.s.Files.ReadFile(ctx, d.location(planFile))
	_, closed := d.s.Files.ReadFile(ctx, d.location(closedFile))
	switch {
	case plan == nil && fault.Is(closed, fault.NotFound):
		return nil
	case closed == nil || fault.Is(plan, fault.NotFound):
		return fault.Wrap(errChanged, fault.Conflict, "The write %s was given up: nothing landed. Send the rows again.", d.writeID)
	}
	return cmp.Or(plan, closed)
}

// audit reads the audit of rows.
func (d splitStore) audit(ctx context.Context, n int) ([]models.RowAuditBlock, error) {
	var all []models.RowAuditBlock
	for i := range n {
		data, err := d.get(ctx, auditFile(i))
		if err != nil {
			return nil, err
		}
		var part []models.RowAuditBlock
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&part); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

// CleanChunks removes the chunks of a write that is over, and what they became too if it did not land. First it closes the
// write, so that an attempt to commit it that is left over somewhere gives up.
func (s *Service) CleanChunks(ctx context.Context, w models.SplitWrite) error {
	files := s.splitStore(w)
	var plan splitPlan
	if err := files.getJSON(ctx, planFile, &plan); err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	}
	var names []string
	var refs []tableio.ManifestRef
	for chunk := range w.Chunks {
		var ref tableio.ManifestRef
		if err := files.getJSON(ctx, manifestFile(chunk), &ref); err == nil {
			refs = append(refs, ref)
		} else if !fault.Is(err, fault.NotFound) {
			return err
		}
		names = append(names, chunkFile(chunk), manifestFile(chunk))
	}
	for i := range plan.Audit {
		names = append(names, auditFile(i))
	}
	if err := files.put(ctx, closedFile, nil); err != nil && !fault.Is(err, fault.AlreadyExists) {
		return err
	}
	_, err := s.Store.GovernedWrite(ctx, w.WriteID)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	case err != nil:
		refs = append(refs, plan.Front)
		if plan.Aside != nil {
			refs = append(refs, plan.Aside.Manifest)
		}
		s.IO.Remove(ctx, refs...)
	}
	return files.remove(ctx, append(names, planFile, closedFile)...)
}
