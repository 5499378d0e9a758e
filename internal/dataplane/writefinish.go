package dataplane

import (
	"context"
	"encoding/hex"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// finish lands what was received.
func (w *writing) finish(ctx context.Context) (WriteResult, error) {
	packed := w.packAhead()
	load, err := w.sink.finish(ctx)
	if packed != nil {
		<-packed.done // nothing outlives the memory that was set aside for it
	}
	if err != nil {
		return WriteResult{}, err
	}
	if w.aside != nil {
		if err := w.aside.finish(); err != nil {
			return WriteResult{}, err
		}
	}
	if w.claim != nil {
		w.claim.RequestHash = requestHash(w.in, w.digest)
	}
	if w.log.rows == 0 && w.aside == nil {
		return WriteResult{}, nil
	}
	l := w.landing(load, packed)
	var write models.GovernedWrite
	if load.split != nil {
		write, err = w.s.landSplit(ctx, w, l)
	} else {
		write, err = w.s.land(ctx, l)
	}
	w.settled = err == nil || fault.Is(err, fault.UnknownState)
	return resultOf(write), err
}

// packing is the audit of rows that is being packed. blocks are there when done is closed.
type packing struct {
	done   chan struct{}
	blocks []models.RowAuditBlock
}

// packAhead begins to pack the audit of an append, which goes on beside the storing of its last rows. nil for an upsert,
// whose audit says which rows were there.
func (w *writing) packAhead() *packing {
	if w.keys != nil {
		return nil
	}
	p, tags := &packing{done: make(chan struct{})}, w.rules.TagNames()
	go func() {
		defer close(p.done)
		p.blocks = w.log.blocks(loggedRows{}, tags)
	}()
	return p
}

// landing is the write without what only its commit decides. packed is the audit of an append.
func (w *writing) landing(load cargo, packed *packing) *landing {
	l := &landing{caller: w.caller, fit: fitOf(w.table), cargo: load, keys: w.keys, claim: w.claim}
	l.write = models.GovernedWrite{
		ID: w.id, CatalogID: w.table.Catalog.ID, TableID: w.table.Row.ID, TableUUID: w.table.Row.UUID, TableName: w.table.Ident.String(),
		Principal: w.caller.Principal, TokenID: w.caller.TokenID, RequestID: w.caller.Origin.RequestID,
		Mode: w.in.Mode, Label: w.in.Label, Digest: hex.EncodeToString(w.digest.Sum(nil)), Bytes: w.in.received.bytes,
		Superseded: load.lost.len(),
	}
	l.write.IdentityColumns.V = w.identity
	tags := w.rules.TagNames()
	w.log.tally(&l.write, load.lost, tags)
	if w.aside != nil {
		l.aside, l.write.Quarantined = w.aside.cargo(), w.aside.rows
	}
	l.blocks = func(updated *rowSet) ([]models.RowAuditBlock, error) {
		if packed != nil {
			return packed.blocks, nil
		}
		return w.log.blocks(loggedRows{lost: load.lost, updated: updated}, tags), nil
	}
	return l
}
