package dataplane

import (
	"context"
	"errors"
	"time"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/models"
)

// staging is the snapshots of one attempt: of the table, of its quarantine, or of both.
type staging []*tableio.Staged

// stage writes what the snapshots of a write need besides the data files, and completes its row.
func (s *Service) stage(ctx context.Context, platform policy.Caller, l *landing, write *models.GovernedWrite, into *staging) (models.Catalog, error) {
	var cat models.Catalog
	var updated *rowSet
	if write.Rows > 0 {
		table, err := s.tableAt(ctx, platform, write.TableUUID, write.TableID, l.fit)
		if err != nil {
			return cat, err
		}
		cat, write.TableName = table.Catalog, table.Ident.String()
		delta := tableio.Delta{
			Table: table.Ident, Base: table.Document, Adds: l.cargo.adds, Manifests: l.cargo.manifests, Summary: summaryOf(write),
		}
		if l.keys != nil {
			if delta.Removes, updated, err = s.replaced(ctx, table, l); err != nil {
				return cat, err
			}
			for _, r := range delta.Removes {
				write.Updated += int64(len(r.Positions))
			}
		}
		staged, err := s.IO.Stage(ctx, delta)
		if err != nil {
			return cat, err
		}
		*into = append(*into, staged)
		write.SnapshotID = staged.SnapshotID
	}
	if l.aside != nil {
		table, err := s.tableAt(ctx, platform, l.aside.uuid, l.aside.rowID, l.aside.fit)
		if err != nil {
			return cat, err
		}
		staged, err := s.IO.Stage(ctx, tableio.Delta{
			Table: table.Ident, Base: table.Document, Adds: l.aside.adds, Manifests: l.aside.manifests, Summary: summaryOf(write),
		})
		if err != nil {
			return cat, err
		}
		*into = append(*into, staged)
		cat, write.QuarantineTable, write.QuarantineSnapshotID = table.Catalog, table.Ident.String(), staged.SnapshotID
	}
	blocks, err := l.blocks(updated)
	write.Blocks = placed(blocks, write.ID, write.TableID)
	return cat, err
}

func summaryOf(w *models.GovernedWrite) map[string]string {
	return map[string]string{writeIDKey: w.ID, writeModeKey: string(w.Mode), engineKey: engineName}
}

// replaced finds the rows of the table that those of an upsert take the place of, and which of these do.
func (s *Service) replaced(ctx context.Context, table catalog.DataTable, l *landing) ([]tableio.Removal, *rowSet, error) {
	updated := &rowSet{}
	if _, filled := table.Document.CurrentSnapshotID(); !filled {
		return nil, updated, nil
	}
	found, err := s.Reader.Locate(ctx, tableread.Lookup{
		Document: table.Document, SchemaID: table.Document.CurrentSchemaID(), Key: l.keys.ids, Keys: l.cargo.keys, Seen: &l.seen,
	})
	if err != nil {
		return nil, nil, err
	}
	var removes []tableio.Removal
	for _, f := range found {
		removes = append(removes, tableio.Removal{File: f.File, Positions: f.Positions, Deleted: f.Deleted})
		for _, row := range f.Matches {
			updated.add(row)
		}
	}
	return removes, updated, nil
}

// commit moves the pointers of all tables of a write at once.
func (s *Service) commit(
	ctx context.Context, platform policy.Caller, cat models.Catalog, claim *idempotency.Claim, write *models.GovernedWrite, staged staging,
) error {
	inputs := make([]catalog.CommitInput, len(staged))
	for i, one := range staged {
		inputs[i] = one.Input
		inputs[i].Holder = write.ID
	}
	inputs[0].Write = write
	if claim != nil {
		ctx = idempotency.With(ctx, claim)
		idempotency.SetResult(ctx, resultOf(*write))
	}
	if len(inputs) == 1 {
		_, err := s.Catalog.CommitTable(ctx, platform, cat, inputs[0])
		return err
	}
	return s.Catalog.CommitTransaction(ctx, platform, cat, inputs)
}

// outcome looks whether a write landed that ended with an error: when that is in doubt, and when another attempt at the
// same write was faster. It gives nil where nothing is found, and the error that is to be answered then.
func (s *Service) outcome(ctx context.Context, id string, cause error) (*models.GovernedWrite, error) {
	doubtful := fault.Is(cause, fault.UnknownState) || fault.Is(cause, fault.Internal)
	if !doubtful && !fault.Is(cause, fault.AlreadyExists) && !fault.Is(cause, fault.Conflict) {
		return nil, cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.writes.lookFor)
	defer cancel()
	for {
		write, err := s.Store.GovernedWrite(ctx, id)
		absent := fault.Is(err, fault.NotFound)
		switch {
		case err == nil:
			return &write, nil
		case !fault.Is(cause, fault.UnknownState) && absent: // what the store says holds
			return nil, cause
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return nil, inDoubt(cause)
		}
	}
}

// inDoubt is the error of a write that may have landed.
func inDoubt(cause error) error {
	return fault.Wrap(cause, fault.UnknownState, "It is not known whether the write landed. Send it again under the same Idempotency-Key, or look at the table's writes.")
}

// errChanged marks conflicts that no further attempt can win.
var errChanged = errors.New("the rows no longer fit the table")

// lasting tells whether a conflict is one of those.
func lasting(err error) bool { return errors.Is(err, errChanged) }
