package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// OwnershipStore knows which files belong to the platform: those of the snapshots that its upserts made.
type OwnershipStore interface {
	// HasOwned tells whether the platform ever upserted into a table.
	HasOwned(ctx context.Context, tableID string) (bool, error)
	// OwnedSnapshots gives those of a table's snapshots that upserts of the platform made, in no order.
	OwnedSnapshots(ctx context.Context, tableID string, ids []int64) ([]int64, error)
}

// ownedFunc gives those of the snapshots whose files belong to the platform.
type ownedFunc func(ctx context.Context, ids []int64) ([]int64, error)

// ownershipOf gives what tells the platform's files in a table, nil when it does not matter: the platform may rewrite its own,
// a policy that is not open_full lets nobody else remove any, and most tables have none.
func (s *Service) ownershipOf(ctx context.Context, p *plan, kind models.CommitKind) (ownedFunc, error) {
	if kind != models.ExternalCommit || p.row.WritePolicy != models.OpenFull {
		return nil, nil
	}
	has, err := s.store.HasOwned(ctx, p.row.ID)
	if err != nil || !has {
		return nil, err
	}
	return func(ctx context.Context, ids []int64) ([]int64, error) {
		return s.store.OwnedSnapshots(ctx, p.row.ID, ids)
	}, nil
}

// ownershipFor says what a snapshot is held against: its parent, or what a branch had that is moved to it from elsewhere, as
// when a table is replaced.
func (s *Service) ownershipFor(p *plan, id int64, c metadata.Changes, owned ownedFunc) *Ownership {
	if owned == nil || p.base == nil {
		return nil
	}
	before, ok := replacedHead(p, id, c)
	if snap, there := p.next.Snapshot(id); !ok && there && snap.ParentID != nil {
		if before, ok = p.next.Snapshot(*snap.ParentID); !ok {
			before, ok = p.base.Snapshot(*snap.ParentID)
		}
	}
	if !ok {
		return nil
	}
	return &Ownership{Document: p.next, Before: before, AnyLocation: s.anyLocation, Owned: owned}
}

// replacedHead gives the head of a branch that the commit moves to a snapshot which does not come from it.
func replacedHead(p *plan, id int64, c metadata.Changes) (metadata.Snapshot, bool) {
	refs := p.base.Refs()
	for _, move := range c.RefChanges {
		if move.After == nil || move.After.SnapshotID != id {
			continue
		}
		if old, ok := refs[move.Name]; ok && old.Type == "branch" && !descends(p, old.SnapshotID, id) {
			return p.base.Snapshot(old.SnapshotID)
		}
	}
	return metadata.Snapshot{}, false
}

// noteOwnership opens a finding about an engine that wants to remove rows which the platform keeps: it would go on for ever.
// The answer does not depend on it.
func (s *Service) noteOwnership(ctx context.Context, caller policy.Caller, p *plan, attempt policy.Attempt) {
	for _, facts := range attempt.Change.Snapshots {
		if facts.OwnershipHurts == "" {
			continue
		}
		w := models.Writer{
			Principal: caller.Principal, TokenID: caller.TokenID, Client: caller.Origin.Client, RequestID: caller.Origin.RequestID, Address: caller.Origin.Address,
		}
		var summary map[string]string
		if snap, ok := p.next.Snapshot(facts.ID); ok {
			summary = snap.Summary
		}
		w.Engine = engineOf(summary, w.Client)
		f := findings.OfOwnership(p.row, facts.ID, facts.OwnershipHurts, w, summary)
		f.Catalog, f.Table = p.at.cat.Name, p.at.name(p.row.Name)
		f.FirstSeenAt, f.LastSeenAt = s.now(), s.now()
		if err := s.store.NoteFinding(ctx, f); err != nil {
			s.log.WarnContext(ctx, "a finding about rows of the platform could not be kept", "table", p.at.ref(p.row.Name), "error", err)
		}
		return
	}
}
