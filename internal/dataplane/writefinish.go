package dataplane

import (
	"context"
	"encoding/hex"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// finish lands what was received.
func (w *writing) finish(ctx context.Context) (WriteResult, error) {
	load, err := w.sink.finish(ctx)
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
	l := w.landing(load)
	var write models.GovernedWrite
	if load.split != nil {
		write, err = w.s.landSplit(ctx, w, l)
	} else {
		write, err = w.s.land(ctx, l)
	}
	w.settled = err == nil || fault.Is(err, fault.UnknownState)
	return resultOf(write), err
}

// landing is the write without what only its commit decides.
func (w *writing) landing(load cargo) *landing {
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
	var packed []models.RowAuditBlock // the same for each attempt, unless rows are replaced
	l.blocks = func(updated *rowSet) ([]models.RowAuditBlock, error) {
		if packed == nil || w.keys != nil {
			packed = w.log.blocks(loggedRows{lost: load.lost, updated: updated}, tags)
		}
		return packed, nil
	}
	return l
}
